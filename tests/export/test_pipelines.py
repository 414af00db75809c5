"""Pipelines of scikit-learn's standard parts: every one that fits can be saved and loaded, without executing code."""

import sys
import types
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.interpolate import BSpline
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import VotingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectFromModel, SelectKBest, chi2, mutual_info_classif
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    OrdinalEncoder,
    SplineTransformer,
    StandardScaler,
)
from sklearn.utils.discovery import all_estimators

import spmld
from spmld import LabelPrior, MaskedLogistic, PerLabelClassifier, SelfPacedEnsemble
from spmld.estimators import ThresholdClassifier
from spmld.export import ModelFileError
from spmld.export.contents import check_arrays
from spmld.metrics import scorer
from spmld.model_selection import MultilabelStratifiedKFold

N = 90
RNG = np.random.default_rng(0)
X = np.abs(RNG.normal(size=(N, 4)))
COMPLETE = (X[:, :2] > 0.6).astype(int)
Y = np.where(RNG.random(COMPLETE.shape) < 0.2, np.nan, COMPLETE)
TEXTS = ["slow rain at night", "fast sun and dance", "slow night", "dance in the rain"] * 23
TEXTS = TEXTS[:N]
FRAME = pd.DataFrame(X, columns=["tempo", "energy", "key", "loudness"])
FRAME = FRAME.mask(RNG.random(FRAME.shape) < 0.1)
FRAME["genre"] = pd.Series(["rock", "pop", None] * 30)
FRAME["decade"] = pd.Categorical(["80s", "90s"] * 45)
FRAME["review"] = TEXTS
NUMBERS = ["tempo", "energy", "key", "loudness"]
DICTS = [{"tempo": x, "genre": "pop"} for x in X[:, 0]]
FOLDS = MultilabelStratifiedKFold(2, random_state=0)

TABLE = ColumnTransformer(
    [
        ("numbers", make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler()), NUMBERS),
        ("categories", OneHotEncoder(handle_unknown="ignore"), ["genre", "decade"]),
        ("text", TfidfVectorizer(ngram_range=(1, 2), stop_words="english"), "review"),
    ]
)
BY_TYPE = ColumnTransformer(
    [
        ("numbers", SimpleImputer(), make_column_selector(dtype_include=np.number)),
        ("categories", OrdinalEncoder(), make_column_selector(dtype_include=[object, "category"])),
    ]
)
LINEAR = MaskedLogistic()
ENSEMBLE = SelfPacedEnsemble(Cs=(1.0,), alphas=(1.0,), n_trees=(10,), n_landmarks=20, random_state=0)
PIPELINES = {
    "text": (make_pipeline(TfidfVectorizer(), ENSEMBLE), TEXTS),
    "table": (make_pipeline(TABLE, ENSEMBLE), FRAME),
    "by type": (make_pipeline(BY_TYPE, LINEAR), FRAME[["tempo", "decade"]]),
    "remainder": (
        make_pipeline(ColumnTransformer([("c", OrdinalEncoder(), ["decade"])], remainder=SimpleImputer()), LINEAR),
        FRAME[["tempo", "decade"]],
    ),
    "union": (make_pipeline(FeatureUnion([("a", SimpleImputer()), ("b", MissingIndicator())]), LINEAR), FRAME[NUMBERS]),
    "selection": (make_pipeline(SelectFromModel(Ridge()), LINEAR), X, COMPLETE),
    "functions of numpy": (make_pipeline(FunctionTransformer(np.log1p), LINEAR), X),
    "names": (
        Pipeline([("scale", StandardScaler()), ("model", LINEAR)]).set_output(transform="pandas"),
        FRAME[["energy"]].fillna(0),
    ),
    "thresholds": (ThresholdClassifier(make_pipeline(TfidfVectorizer(), LINEAR), cv=2, random_state=0), TEXTS),
    "search": (GridSearchCV(LINEAR, {"C": [1.0, 2.0]}, cv=FOLDS, scoring=scorer("macro_auc")), X),
    "default search": (
        GridSearchCV(make_pipeline(StandardScaler(), LINEAR), {"maskedlogistic__C": [1.0]}, cv=FOLDS),
        X,
    ),
    "naive Bayes": (PerLabelClassifier(MultinomialNB()), X),
    "calibrated": (PerLabelClassifier(CalibratedClassifierCV(LogisticRegression(), cv=2)), X),
    "voting": (
        PerLabelClassifier(VotingClassifier([("a", LogisticRegression()), ("b", MultinomialNB())], voting="soft")),
        X,
    ),
    "perceptron": (PerLabelClassifier(MLPClassifier((3,), max_iter=5, random_state=0)), X),
}


def round_trip(model, path):
    """Save and load a model; no warning about untrusted types is accepted."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spmld.save(model, path)
        return spmld.load(path)


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_loaded_pipeline_predicts_as_the_saved_one(name, tmp_path):
    model, samples, *labels = PIPELINES[name]
    model.fit(samples, *labels or [Y])
    loaded = round_trip(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(loaded.predict(samples), model.predict(samples))
    np.testing.assert_array_equal(loaded.predict_proba(samples), model.predict_proba(samples))


@pytest.mark.parametrize("statistic", [chi2, mutual_info_classif])
def test_the_selection_of_features_is_saved(statistic, tmp_path):
    pipeline = make_pipeline(SelectKBest(statistic, k=1), MaskedLogistic()).fit(X, COMPLETE[:, 0])
    np.testing.assert_array_equal(round_trip(pipeline, tmp_path / "m.skops").predict(X), COMPLETE[:, 0])


# Their state is compiled and not validated when it is loaded, or skops does not support them.
NOT_TRUSTED = {
    *("Birch", "Isomap", "KNeighborsTransformer", "LocallyLinearEmbedding", "RadiusNeighborsTransformer"),
    "RandomTreesEmbedding",
}
NEED_ARGUMENTS = {
    *("ColumnTransformer", "FeatureUnion", "RFE", "RFECV", "SelectFromModel", "SequentialFeatureSelector"),
    *("SparseCoder", "StackingClassifier", "StackingRegressor", "VotingClassifier", "VotingRegressor"),
}
OWN_INPUT = {
    "CountVectorizer": TEXTS,
    "HashingVectorizer": TEXTS,
    "TfidfVectorizer": TEXTS,
    "DictVectorizer": DICTS,
    "FeatureHasher": [{"tempo": x} for x in X[:, 0]],
    "KernelCenterer": X @ X.T,
    "IsotonicRegression": X[:, 0],
    "PatchExtractor": None,
    "LabelBinarizer": None,
    "LabelEncoder": None,
    "MultiLabelBinarizer": None,
}
OPTIONS = {
    "GaussianRandomProjection": {"n_components": 2},
    "SparseRandomProjection": {"n_components": 2},
    "QuantileTransformer": {"n_quantiles": 10},
    "KBinsDiscretizer": {"quantile_method": "averaged_inverted_cdf"},
    "FeatureHasher": {"input_type": "dict", "n_features": 64},
    "HashingVectorizer": {"n_features": 64},
    "LatentDirichletAllocation": {"max_iter": 1},
    **{name: {"n_components": 1} for name in ("CCA", "PLSCanonical", "PLSSVD")},
}


def standard_transformers():
    return [
        (name, cls)
        for name, cls in all_estimators(type_filter="transformer")
        if name not in NEED_ARGUMENTS | NOT_TRUSTED and OWN_INPUT.get(name, X) is not None
    ]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "cls"), standard_transformers(), ids=lambda value: value if type(value) is str else ""
)
def test_every_transformer_of_scikit_learn_can_be_saved(name, cls, tmp_path):
    transformer = cls(**OPTIONS.get(name, {}))
    samples = OWN_INPUT.get(name, X)
    fitted = transformer.fit(samples, COMPLETE[:, 0])
    if not hasattr(fitted, "transform"):
        pytest.skip("it has fit_transform only")
    expected = fitted.transform(samples)
    pipeline = Pipeline([("transform", fitted), ("labels", LabelPrior().fit(np.zeros((N, 1)), Y))])
    loaded = round_trip(pipeline, tmp_path / "model.skops")["transform"].transform(samples)
    dense = [part.toarray() if hasattr(part, "toarray") else part for part in (expected, loaded)]
    np.testing.assert_array_equal(*dense)


def test_functions_are_never_trusted_and_named(tmp_path, monkeypatch):
    module = types.ModuleType("own_functions")
    exec("def double(X):\n    return 2 * X", vars(module))
    monkeypatch.setitem(sys.modules, "own_functions", module)
    path = tmp_path / "model.skops"
    pipeline = make_pipeline(FunctionTransformer(module.double), MaskedLogistic()).fit(X, Y)
    with pytest.warns(UserWarning, match=r"trusted=\['own_functions.double'\]"):
        spmld.save(pipeline, path)
    with pytest.raises(ModelFileError, match=r"untrusted types or functions: own_functions\.double"):
        spmld.load(path)
    loaded = spmld.load(path, trusted=["own_functions.double"])
    np.testing.assert_array_equal(loaded.predict(X), pipeline.predict(X))


@pytest.mark.parametrize("function", [lambda X: X, "tokenizer"])
def test_functions_without_a_name_cannot_be_saved(function, tmp_path):
    step, samples = (FunctionTransformer(function), X)
    if function == "tokenizer":
        step, samples = TfidfVectorizer(tokenizer=str.split, token_pattern=None), TEXTS
    pipeline = make_pipeline(step, MaskedLogistic()).fit(samples, Y)
    with pytest.raises(ModelFileError, match="Functions are stored by name"):
        spmld.save(pipeline, tmp_path / "model.skops")
    assert not list(tmp_path.iterdir())


def test_an_invalid_spline_raises():
    transformer = SplineTransformer().fit(X)
    check_arrays(transformer)
    spline = transformer.bsplines_[0]
    broken = BSpline(spline.t, spline.c, spline.k)
    setattr(broken, "_t" if hasattr(broken, "_t") else "t", spline.t[:3])  # t is a plain attribute in SciPy 1.13
    for part in (broken, vars(broken).get("_delegate_to", broken)):  # the part of a spline from SciPy 1.18 on
        transformer.bsplines_[0] = part
        with pytest.raises(ValueError, match="knots"):
            check_arrays(transformer)

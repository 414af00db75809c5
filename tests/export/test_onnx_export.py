"""ONNX graphs of models, of all decisions and of whole pipelines: the scores, probabilities and labels of the model."""

import json

import numpy as np
import onnxruntime
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import spmld
from spmld import LabelPrior, MaskedLogistic, PerLabelClassifier, SelfPacedClassifier, SelfPacedEnsemble
from spmld._response import predict_all
from spmld.ensemble import View
from spmld.estimators import FeatureScaler, MaskedBoosting, ThresholdClassifier
from spmld.tables import TableEncoder
from tests.export.cases import LINEAR, X, Y, fitted

SPARSE = np.maximum(X - 0.7, 0)  # mostly zeros
COMPLETE = np.nan_to_num(Y)
DECISIONS = ["f1", "micro_f1", "macro_f1", "sample_f1", 0.3, 2, {1: 0.7, 2: "precision>=0.5"}]


def ensemble(**options):
    settings = {"n_landmarks": 30, "Cs": (3.0,), "alphas": (1.0,), "n_trees": (20,)}
    return SelfPacedEnsemble(**settings, random_state=0, **options)


def session(model, path, **options):
    spmld.export_onnx(model, path, **options)
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


def run(model, path, inputs):
    """Return the outputs of the graph of a model by name; the inputs are a matrix, texts or a table."""
    graph = session(model, path)
    if isinstance(inputs, pd.DataFrame):
        names = json.loads(graph.get_modelmeta().custom_metadata_map["feature_names"])
        kinds = {"tensor(string)": object, "tensor(float)": np.float32}
        pairs = zip(graph.get_inputs(), names, strict=True)
        feed = {entry.name: inputs[[name]].to_numpy(dtype=kinds[entry.type]) for entry, name in pairs}
    elif isinstance(inputs, list):
        feed = {"X": np.array(inputs, dtype=object)[:, None]}
    else:
        feed = {"X": inputs.astype(np.float32)}
    return dict(zip(["scores", "probabilities", "labels"], graph.run(None, feed), strict=True))


def assert_same(computed, model, inputs, tolerance=1e-5):
    """Assert that the outputs of a graph are those of the model, and the decisions except at the threshold."""
    expected = predict_all(model, inputs)
    if hasattr(model, "decision_function"):
        usual = np.abs(expected.scores) < 6  # others are log-odds of rounded probabilities
        np.testing.assert_allclose(computed["scores"][usual], expected.scores[usual], rtol=0, atol=20 * tolerance)
    if expected.probabilities is not None:
        np.testing.assert_allclose(computed["probabilities"], expected.probabilities, rtol=0, atol=tolerance)
    np.testing.assert_array_equal(computed["labels"], expected.positive)
    assert 0 < computed["labels"].mean() < 1


@pytest.mark.parametrize("name", LINEAR)
def test_linear_models(name, tmp_path):
    if name in ("LabelPrior", "decision_0.3"):  # constant
        computed = run(fitted(name), tmp_path / "model.onnx", X)
        np.testing.assert_allclose(computed["probabilities"], fitted(name).predict_proba(X), atol=1e-6)
        np.testing.assert_array_equal(computed["labels"], fitted(name).predict(X))
    else:
        assert_same(run(fitted(name), tmp_path / "model.onnx", X), fitted(name), X)


@pytest.mark.parametrize(
    ("samples", "options"),
    [
        (X, {"views": ("ridge", "linear", "kernel", "boosting", "latent"), "dependency_weight": 1.0}),
        (X, {"dependency_weight": 0.0}),
        (sp.csr_array(SPARSE), {}),
        (sp.csr_array(X), {}),
    ],
)
def test_ensembles(samples, options, tmp_path):
    model = ensemble(**options).fit(samples, Y)
    dense = np.vstack([samples.toarray() if sp.issparse(samples) else samples, np.zeros((1, X.shape[1]))])
    computed = run(model, tmp_path / "model.onnx", dense)
    assert_same(computed, model, sp.csr_array(dense) if sp.issparse(samples) else dense)


@pytest.mark.parametrize(
    "model",
    [
        MaskedBoosting(n_estimators=20, random_state=0),
        PerLabelClassifier(RandomForestClassifier(20, random_state=0)),
        PerLabelClassifier(HistGradientBoostingClassifier(max_iter=10)),
        PerLabelClassifier(make_pipeline(StandardScaler(), BernoulliNB())),
        SelfPacedClassifier(PerLabelClassifier(HistGradientBoostingClassifier(max_iter=5)), max_iter=2),
        ThresholdClassifier(PerLabelClassifier(RandomForestClassifier(10, random_state=0)), cv=2, random_state=0),
        ThresholdClassifier(ThresholdClassifier(MaskedLogistic(), cv=2, random_state=0), cv=2, random_state=0),
        ThresholdClassifier(FrozenEstimator(MaskedLogistic().fit(X, Y)), cv=2, random_state=0),
        MultiOutputClassifier(HistGradientBoostingClassifier(max_iter=10)),
        OneVsRestClassifier(LogisticRegression()),
    ],
    ids=str,
)
def test_trees_and_classifiers_of_scikit_learn(model, tmp_path):
    labels = Y if type(model).__module__.startswith("spmld") else COMPLETE
    samples = X.astype(np.float32).astype(float)  # decisions of trees depend on the last digit
    model.fit(samples, labels)
    assert_same(run(model, tmp_path / "model.onnx", samples), model, samples)


def test_missing_values_of_features_and_labels_without_positives(tmp_path):
    samples, labels = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X), Y.copy()
    samples = samples.astype(np.float32).astype(float)
    labels[:, 2] = np.where(np.isnan(labels[:, 2]), np.nan, 0)
    model = MultiOutputClassifier(HistGradientBoostingClassifier(max_iter=10)).fit(samples, COMPLETE)
    assert_same(run(model, tmp_path / "model.onnx", samples), model, samples)
    model = PerLabelClassifier(RandomForestClassifier(10, random_state=0)).fit(X, labels)
    computed = run(model, tmp_path / "model.onnx", X)
    np.testing.assert_allclose(computed["probabilities"][:, 2], model.predict_proba(X)[:, 2], rtol=1e-5)


@pytest.mark.parametrize(
    "model",
    [MaskedLogistic(), PerLabelClassifier(), ThresholdClassifier(MaskedLogistic(), cv=2, random_state=0), ensemble()],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore:lbfgs failed to converge")
def test_features_far_from_zero_keep_their_precision(model, tmp_path):
    samples = (X + 1e4).astype(np.float32)  # the graph and the model get the same numbers
    model.fit(samples.astype(float), Y)
    computed = run(model, tmp_path / "model.onnx", samples)
    np.testing.assert_allclose(computed["probabilities"], model.predict_proba(samples.astype(float)), rtol=0, atol=5e-6)


@pytest.mark.parametrize("decision", DECISIONS, ids=str)
def test_all_decisions(decision, tmp_path):
    model = ThresholdClassifier(MaskedLogistic(), decision=decision, cv=2, random_state=0).fit(X, Y)
    assert_same(run(model, tmp_path / "model.onnx", X), model, X)


def test_equal_probabilities_are_decided_by_the_index(tmp_path):
    model = ThresholdClassifier(LabelPrior(), decision=2, cv=2, random_state=0).fit(X, np.tile(Y[:, :1], 4))
    computed = run(model, tmp_path / "model.onnx", X)
    np.testing.assert_array_equal(computed["labels"], np.tile([1, 1, 0, 0], (len(X), 1)))
    np.testing.assert_array_equal(model.predict(X), computed["labels"])


def test_names_one_label_and_any_number_of_samples(tmp_path):
    model = MaskedLogistic().fit(pd.DataFrame(X).add_prefix("f"), pd.DataFrame(Y).add_prefix("tag "))
    graph = session(model, tmp_path / "model.onnx")
    metadata = {name: json.loads(text) for name, text in graph.get_modelmeta().custom_metadata_map.items()}
    assert metadata["label_names"] == [f"tag {i}" for i in range(5)]
    assert metadata["feature_names"][7] == "f7"
    for n in (1, 7):
        assert graph.run(["labels"], {"X": X[:n].astype(np.float32)})[0].shape == (n, 5)
    model = MaskedLogistic().fit(X, Y[:, 0] == 1)
    computed = run(model, tmp_path / "model.onnx", X)
    np.testing.assert_allclose(computed["probabilities"][:, 0], model.predict_proba(X)[:, 1], atol=1e-6)
    np.testing.assert_array_equal(computed["labels"][:, 0], model.predict(X))
    with pytest.raises(ValueError, match="label_names must have 1 names"):
        spmld.export_onnx(model, tmp_path / "model.onnx", label_names=["calm", "sad"])
    with pytest.raises(ValueError, match="feature_names must have 8 names"):
        spmld.export_onnx(model, tmp_path / "model.onnx", feature_names=["a"])


@pytest.mark.parametrize(
    ("model", "labels", "classes"),
    [
        (MaskedLogistic(), 2 * COMPLETE - 1, [-1, 1]),
        (make_pipeline(StandardScaler(), MaskedLogistic()), 2 * COMPLETE - 1, [-1, 1]),
        (MultiOutputClassifier(LogisticRegression()), np.where(COMPLETE, "sad", "calm"), ["calm", "sad"]),
    ],
)
def test_labels_of_other_classes_are_0_and_1_with_a_warning(model, labels, classes, tmp_path):
    model.fit(X, labels)
    shown = ", ".join(map(str, classes))
    with pytest.warns(UserWarning, match=f"labels are 0 and 1 in .*, but {shown} in the predictions of the model"):
        computed = run(model, tmp_path / "model.onnx", X)
    np.testing.assert_array_equal(computed["labels"] == 1, model.predict(X) == classes[1])


WORDS = {
    "english": ["slow", "night", "don't", "re-start", "x2", "one_two", "a", "I", "3.14", "e-mail", "OK", "THE"],
    "others": [
        "Überraschung",
        "straße",
        "été",
        "ÇA",
        "naïve",
        "ЁЛКА",
        "ёлка",
        "日本語",
        "テキスト",
        "हिन्दी",
        "x²",
        "½",
    ],
}
ODD_TEXTS = ["", "a", "!!!", "slow\nnight\tslow", "😀slow😀", "e\u0301te\u0301 SLOW", "unknown words only", "ΣΟΦΙΑ"]


@pytest.fixture(scope="module")
def texts():
    """Return texts of words of many languages, in lower and upper case, and tags that depend on them."""
    rng = np.random.default_rng(0)
    words = [*WORDS["english"], *WORDS["others"]]
    drawn = [[words[i] for i in rng.choice(len(words), rng.integers(2, 9))] for _ in range(200)]
    tags = np.array([["slow" in row, "été" in row or "ЁЛКА" in row, "日本語" in row] for row in drawn]).astype(float)
    cased = [" ".join(w.upper() if rng.random() < 0.3 and w.upper().lower() == w else w for w in row) for row in drawn]
    return cased, np.where(rng.random(tags.shape) < 0.3, np.nan, tags)


@pytest.mark.parametrize(
    "steps",
    [
        (TfidfVectorizer(sublinear_tf=True), ensemble()),
        (TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True), MaskedLogistic()),
        (TfidfVectorizer(ngram_range=(1, 2), min_df=2, max_features=60), MaskedLogistic()),
        (TfidfVectorizer(lowercase=False, token_pattern=r"(?u)\b\w+\b", norm=None, use_idf=False), MaskedLogistic()),
        (CountVectorizer(binary=True, stop_words=["night"]), PerLabelClassifier(RandomForestClassifier(10))),
    ],
    ids=lambda steps: str(steps[0])[:40],
)
def test_text_pipelines(steps, texts, tmp_path):
    model = make_pipeline(*steps).fit(*texts)
    samples = [*texts[0], *ODD_TEXTS]
    assert_same(run(model, tmp_path / "model.onnx", samples), model, samples)
    assert_same(run(model, tmp_path / "model.onnx", texts[0][:5]), model, texts[0][:5])


def test_two_letters_have_another_lower_case_than_in_python(tmp_path):
    model = make_pipeline(CountVectorizer(), MaskedLogistic()).fit(["σοφος", "istanbul"] * 5, [[0, 1], [1, 0]] * 5)
    for text, other in {"ΣΟΦΟΣ": "σοφοσ", "İstanbul": "i" + "stanbul"}.items():
        computed = run(model, tmp_path / "model.onnx", [text])["probabilities"]
        assert np.abs(computed - model.predict_proba([text])).max() > 0.01
        np.testing.assert_allclose(computed, model.predict_proba([other]), atol=1e-6)


@pytest.fixture(scope="module")
def table():
    """Return a table with all kinds of columns, and tags that depend on them."""
    rng = np.random.default_rng(0)
    n = 240
    words = np.array([*WORDS["english"], *WORDS["others"]])
    frame = pd.DataFrame(
        {
            "a review": [" ".join(rng.choice(words, 5)) for _ in range(n)],
            "tempo": np.where(rng.random(n) < 0.2, np.nan, rng.normal(120, 20, n)),
            "length": [f"{value:.1f} s" for value in rng.uniform(60, 300, n)],
            "key": rng.choice(["minor", "major", "mixolydian"], n, p=[0.5, 0.3, 0.2]),
            "town": rng.choice([f"town {i}" for i in range(30)], n),
            "day": pd.Timestamp(2024, 1, 1) + pd.to_timedelta(rng.integers(0, 700, n), unit="D"),
        }
    )
    tags = np.column_stack(
        [frame.tempo.fillna(120) > 120, frame.key == "minor", frame["a review"].str.contains("slow")]
    )
    return frame, np.where(rng.random(tags.shape) < 0.3, np.nan, tags)


@pytest.mark.parametrize(
    "model", [ensemble(), ThresholdClassifier(MaskedLogistic(), cv=2, random_state=0)], ids=lambda m: type(m).__name__
)
def test_table_pipelines(model, table, tmp_path):
    encoder = TableEncoder(text=["a review"], category=["key", "town"], max_categories=12)
    model = make_pipeline(encoder, model).fit(table[0][:200], table[1][:200])
    samples = table[0].copy()
    samples.loc[230:, "town"] = "unknown town"
    samples.loc[220:, "key"] = "locrian"
    samples.loc[235:, "tempo"] = np.nan
    prepared, _ = model[0]._prepare(samples)
    assert "day_year_sin" in prepared
    assert_same(run(model, tmp_path / "model.onnx", prepared), model, samples)
    # The pipeline can be inside a search, and one column of each kind is enough.
    search = GridSearchCV(make_pipeline(TableEncoder(category=["town"]), MaskedLogistic()), {}, cv=2)
    search.fit(samples[["tempo", "town"]], np.nan_to_num(table[1]))
    prepared = search.best_estimator_[0]._prepare(samples)[0]
    assert_same(run(search, tmp_path / "model.onnx", prepared), search, samples[["tempo", "town"]])


def test_column_transformers(table, tmp_path):
    columns = [
        ("text", TfidfVectorizer(), "a review"),
        ("number", make_pipeline(SimpleImputer(), StandardScaler()), ["tempo"]),
        ("key", OneHotEncoder(drop="first"), ["key"]),
        ("town", OneHotEncoder(handle_unknown="ignore"), ["town"]),
    ]
    samples = table[0][["a review", "tempo", "key", "town"]]
    model = make_pipeline(ColumnTransformer(columns), PerLabelClassifier()).fit(samples, table[1])
    assert_same(run(model, tmp_path / "model.onnx", samples), model, samples)
    renamed = make_pipeline(TableEncoder(), LabelPrior()).fit(samples.rename(columns={"tempo": "scores"}), table[1])
    with pytest.raises(ValueError, match="columns must not have the names of outputs of the graph"):
        spmld.export_onnx(renamed, tmp_path / "model.onnx")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (DummyClassifier(), "got DummyClassifier. Accepted: SelfPacedEnsemble"),
        (PerLabelClassifier(SVC()), "got SVC, whose scores are not the log-odds"),
        (
            ensemble(views=["linear", View("svc", FeatureScaler(), PerLabelClassifier(SVC()))]),
            "the view 'svc' of the ensemble",
        ),
        (
            make_pipeline(FunctionTransformer(np.abs), MaskedLogistic()),
            "skl2onnx cannot convert a part .*FunctionTrans",
        ),
    ],
    ids=lambda value: str(value)[:30],
)
def test_the_error_names_the_part_that_cannot_be_exported(model, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        spmld.export_onnx(model.fit(X, Y), tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "options",
    [
        {"analyzer": "char"},
        {"token_pattern": "[a-z]+"},
        {"strip_accents": "unicode"},
        {"stop_words": ["slow"], "ngram_range": (1, 2)},
    ],
    ids=str,
)
def test_words_that_the_runtime_cannot_find_raise(options, texts, tmp_path):
    model = make_pipeline(TfidfVectorizer(**options), MaskedLogistic()).fit(*texts)
    with pytest.raises(ValueError, match=f"got TfidfVectorizer with .*{next(iter(options))}="):
        spmld.export_onnx(model, tmp_path / "model.onnx")

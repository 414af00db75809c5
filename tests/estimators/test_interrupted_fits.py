"""Fits that fail or are interrupted: a fitted model stays as it was, and an unfitted one stays unfitted."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from spmld import HierarchicalClassifier, MaskedLogistic, SelfPacedClassifier, save
from spmld.datasets import make_planted
from spmld.estimators import FeatureScaler, ThresholdClassifier
from spmld.estimators.transformers import LandmarkFeatures
from spmld.model_selection.samples import Samples
from spmld.tables import TableEncoder, TableError

from .cases import ESTIMATORS, make

DATA = make_planted(n_samples=90, n_features=5, n_labels=4, random_state=0)
MODELS = [
    *(make(cls) for cls in ESTIMATORS),
    MaskedLogistic(warm_start=True),
    SelfPacedClassifier(LogisticRegression()),
    HierarchicalClassifier(MaskedLogistic(), {0: [1]}),
    HierarchicalClassifier(ThresholdClassifier(MaskedLogistic(), random_state=0), {0: [1]}),
    ThresholdClassifier(MaskedLogistic(), random_state=0),
    ThresholdClassifier(HierarchicalClassifier(MaskedLogistic(), {0: [1]}), random_state=0),
    ThresholdClassifier(make_pipeline(StandardScaler(), MaskedLogistic()), random_state=0),
]


def interrupt(*_):
    raise KeyboardInterrupt


@pytest.fixture(params=MODELS, ids=lambda model: f"{type(model).__name__}-{len(str(model))}")
def interrupted(request, monkeypatch):
    """Return an unfitted model, and a function that fits it and is interrupted after the last iteration."""
    model = clone(request.param)

    def fit(X, Y):
        with monkeypatch.context() as patch:
            patch.setattr(Samples, "feature_means", property(interrupt))
            with pytest.raises(KeyboardInterrupt):
                model.fit(X, Y)

    return model, fit


def test_a_first_fit_that_is_interrupted_leaves_no_fitted_model(interrupted, tmp_path):
    model, fit = interrupted
    fit(DATA.X, DATA.Y)
    for method in (model.predict, model.predict_proba, model.decision_function, model.top_labels):
        with pytest.raises(NotFittedError):
            method(DATA.X)
    for method in (model.complete, model.score):
        with pytest.raises(NotFittedError):
            method(DATA.X, DATA.Y)
    for unfitted in (model, make_pipeline(FeatureScaler().fit(DATA.X), model)):
        with pytest.raises(NotFittedError):
            save(unfitted, tmp_path / "model.skops")
    assert list(tmp_path.iterdir()) == []


def test_a_refit_that_is_interrupted_leaves_the_old_model(interrupted):
    model, fit = interrupted
    model.fit(pd.DataFrame(DATA.X).add_prefix("x"), DATA.Y)
    frame = pd.DataFrame(DATA.X).add_prefix("x")
    state, scores = dict(vars(model)), model.decision_function(frame)
    fit(DATA.X[:60, :3], DATA.Y[:60, :2])
    assert list(vars(model)) == list(state)
    assert all(vars(model)[name] is value for name, value in state.items())
    np.testing.assert_array_equal(model.decision_function(frame), scores)


@pytest.mark.parametrize("model", [*MODELS, FeatureScaler(), TableEncoder()], ids=lambda model: type(model).__name__)
def test_a_refit_drops_the_attributes_of_the_former_fit(model):
    model = clone(model)
    X = pd.DataFrame(DATA.X).add_prefix("x")
    model.fit(X, DATA.Y).former_ = "a fit"
    assert hasattr(model.fit(X, DATA.Y), "former_") == getattr(model, "warm_start", False)


@pytest.mark.parametrize("transformer", [FeatureScaler(), LandmarkFeatures(5, random_state=0)])
def test_an_interrupted_fit_of_a_transformer_changes_nothing(transformer, monkeypatch):
    cls = type(transformer)
    original = cls._fit

    def fit(X):
        with monkeypatch.context() as patch:
            patch.setattr(cls, "_fit", lambda self, X: interrupt(original(self, X)))
            with pytest.raises(KeyboardInterrupt):
                transformer.fit(X)

    fit(DATA.X)
    with pytest.raises(NotFittedError):
        transformer.transform(DATA.X)
    expected = transformer.fit(DATA.X).transform(DATA.X)
    fit(DATA.X[:, :3])
    np.testing.assert_array_equal(transformer.transform(DATA.X), expected)


def test_a_table_that_cannot_be_encoded_changes_nothing():
    good = pd.DataFrame({"tempo": [60, 80, 70], "key": ["minor", "major", "minor"]})
    bad = pd.DataFrame({"tempo": ["slow", "fast", "60"], "volume": [1.0, 2.0, 3.0]})
    encoder = TableEncoder(number=["tempo"], strict=True)
    with pytest.raises(TableError):
        encoder.fit(bad)
    with pytest.raises(NotFittedError):
        encoder.transform(bad)
    expected = encoder.fit(good).transform(good)
    with pytest.raises(TableError):
        encoder.fit(bad)
    np.testing.assert_array_equal(encoder.transform(good), expected)

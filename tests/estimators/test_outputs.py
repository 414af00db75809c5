"""Predictions as data frames: the numbers of the arrays, the index of X, and the names of the labels."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import spmld
from spmld import HierarchicalClassifier, MaskedLogistic, SelfPacedClassifier, SelfPacedEnsemble
from spmld.estimators import ThresholdClassifier
from spmld.metrics import ranking_loss, scorer
from spmld.model_selection import MultilabelStratifiedKFold, cross_val_predict

pl = pytest.importorskip("polars")

METHODS = ("predict", "predict_proba", "decision_function")
ESTIMATORS = [
    MaskedLogistic(),
    SelfPacedEnsemble(random_state=0, views=["ridge"]),
    SelfPacedClassifier(MaskedLogistic()),
    ThresholdClassifier(MaskedLogistic(), cv=2, random_state=0),
]


@pytest.fixture(scope="module")
def frames():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 3)), columns=["a", "b", "c"], index=[f"s{i}" for i in range(120)])
    Y = pd.DataFrame((X + rng.normal(size=X.shape) > 0).to_numpy(), columns=["p", "q", "r"], index=X.index)
    return X, Y.astype(float).mask(rng.random(Y.shape) < 0.3)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_data_frames_have_the_values_of_the_arrays(estimator, frames):
    X, Y = frames
    arrays = clone(estimator).fit(X, Y)
    model = clone(estimator).set_output(predict="pandas").fit(X, Y)
    for name in METHODS:
        result = getattr(model, name)(X[::2])
        assert list(result.columns) == ["p", "q", "r"]
        assert list(result.index) == list(X.index[::2])
        np.testing.assert_array_equal(result.to_numpy(), getattr(arrays, name)(X[::2]))
        assert isinstance(getattr(model.set_output(), name)(X), pd.DataFrame)
    model.set_output(predict="default")
    assert isinstance(model.predict(X), np.ndarray)


def test_completion_has_the_index_of_X_and_the_names_of_the_labels(frames):
    X, Y = frames
    model = MaskedLogistic().set_output(predict="pandas").fit(X, Y)
    completion = model.complete(X, Y.to_numpy())
    for part in completion:
        assert list(part.index) == list(X.index)
        assert list(part.columns) == ["p", "q", "r"]
    pd.testing.assert_frame_equal(completion.confidences, model.complete(X, Y).confidences)


def test_arrays_have_a_default_index_and_one_label_is_a_series(frames):
    X, Y = frames
    model = MaskedLogistic().set_output(predict="pandas").fit(X.to_numpy(), Y.to_numpy())
    assert list(model.predict(X.to_numpy()[:4]).index) == [0, 1, 2, 3]
    assert list(model.predict(X.to_numpy()[:4]).columns) == [0, 1, 2]
    lists = MaskedLogistic().set_output(predict="pandas").fit(X.to_numpy().tolist(), Y)
    assert list(lists.predict(X.to_numpy().tolist()[:4]).index) == [0, 1, 2, 3]
    assert list(cross_val_predict(lists, X.to_numpy().tolist(), Y, cv=2).index) == list(range(120))
    y = np.where(X["a"] > 0, "yes", "no")
    one = MaskedLogistic().set_output(predict="pandas").fit(X, y)
    for name in ("predict", "decision_function"):
        assert isinstance(getattr(one, name)(X), pd.Series)
        assert list(getattr(one, name)(X).index) == list(X.index)
    assert list(one.predict_proba(X).columns) == ["no", "yes"]


def test_the_setting_survives_clone_pipelines_folds_and_files(frames, tmp_path):
    X, Y = frames
    model = MaskedLogistic().set_output(predict="pandas")
    assert isinstance(clone(model).fit(X, Y).predict(X), pd.DataFrame)
    pipeline = make_pipeline(StandardScaler(), model).set_output(transform="pandas").fit(X, Y)
    assert list(pipeline.predict(X).index) == list(X.index)
    for method in METHODS:
        predicted = cross_val_predict(model, X, Y, cv=3, method=method)
        expected = cross_val_predict(MaskedLogistic(), X, Y, cv=3, method=method)
        pd.testing.assert_frame_equal(predicted, pd.DataFrame(expected, index=X.index, columns=Y.columns))
    spmld.save(pipeline, tmp_path / "model.skops")
    pd.testing.assert_frame_equal(spmld.load(tmp_path / "model.skops").predict_proba(X), pipeline.predict_proba(X))


def test_metrics_accept_data_frames(frames):
    X, Y = frames
    frame, array = MaskedLogistic().set_output(predict="pandas"), MaskedLogistic()
    for name in ("ranking_loss", "micro_f1", "log_loss"):
        options = {"cv": MultilabelStratifiedKFold(2, random_state=0), "scoring": scorer(name)}
        np.testing.assert_allclose(cross_val_score(frame, X, Y, **options), cross_val_score(array, X, Y, **options))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_frames_of_polars_have_the_values_of_the_arrays(estimator, frames):
    X, Y = (pl.from_pandas(frame.reset_index(drop=True)) for frame in frames)
    arrays = clone(estimator).fit(X, Y)
    model = clone(estimator).set_output(predict="polars").fit(X, Y)
    results = {name: getattr(model, name)(X[::2]) for name in METHODS}
    results["completion"] = model.complete(X, frames[1].to_numpy()).labels
    expected = {name: getattr(arrays, name)(X[::2]) for name in METHODS}
    expected["completion"] = arrays.complete(X, frames[1].to_numpy()).labels
    for name, result in results.items():
        assert isinstance(result, pl.DataFrame)
        assert result.columns == ["p", "q", "r"]
        np.testing.assert_array_equal(result.to_numpy(), expected[name])


def test_frames_of_polars_of_arrays_vectors_folds_and_files(frames, tmp_path):
    X, Y = frames[0].to_numpy(), frames[1].to_numpy()
    model = MaskedLogistic().set_output(predict="polars")
    assert model.fit(X, Y).predict(X).columns == ["0", "1", "2"]
    for method in METHODS:
        predicted = cross_val_predict(model, X, Y, cv=3, method=method)
        np.testing.assert_array_equal(
            predicted.to_numpy(), cross_val_predict(MaskedLogistic(), X, Y, cv=3, method=method)
        )
    for y in (np.where(X[:, 0] > 0, "yes", "no"), np.where(X[:, 0] > 0, "yes", "no").astype(object), X[:, 0] > 0):
        one = clone(model).fit(X, y)
        assert isinstance(one.predict(X), pl.Series)
        np.testing.assert_array_equal(one.predict(X).to_numpy(), MaskedLogistic().fit(X, y).predict(X))
        assert one.predict_proba(X).columns == [str(value) for value in one.classes_]
        assert cross_val_predict(clone(model), X, y, cv=3).len() == len(X)
    pipeline = make_pipeline(StandardScaler(), model).set_output(transform="polars").fit(frames[0], frames[1])
    spmld.save(pipeline, tmp_path / "model.skops")
    assert spmld.load(tmp_path / "model.skops").predict_proba(frames[0]).equals(pipeline.predict_proba(frames[0]))
    assert ranking_loss(Y, model.fit(X, Y).predict_proba(X)) == ranking_loss(
        Y, MaskedLogistic().fit(X, Y).predict_proba(X)
    )


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_wrappers_accept_frames_of_their_base_estimator(output, frames):
    X, Y = frames
    frame, array = MaskedLogistic().set_output(predict=output), MaskedLogistic()
    for wrapper in (SelfPacedClassifier, HierarchicalClassifier, partial(ThresholdClassifier, random_state=0)):
        expected = wrapper(array).fit(X, Y).predict_proba(X)
        np.testing.assert_allclose(wrapper(frame).fit(X, Y).predict_proba(X), expected)


def test_an_unknown_output_is_named():
    with pytest.raises(ValueError, match='predict must be "default", "pandas", "polars" or None, got \'polar\''):
        MaskedLogistic().set_output(predict="polar")

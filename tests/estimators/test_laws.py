"""Laws of every public estimator: only observed entries count, and no order, container or precision changes the fit."""

import inspect
import warnings
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from spmld import (
    LEML,
    HierarchicalClassifier,
    MaskedBoosting,
    MaskedForest,
    MaskedLogistic,
    SelfPacedEnsemble,
    estimators,
)
from spmld._response import predict_all
from spmld._validation import parameter_constraints
from spmld.datasets import make_planted
from spmld.estimators import FeatureScaler, MultiLabelEstimator, ThresholdClassifier
from spmld.labels import hide_labels
from spmld.model_selection import make_folds

from .cases import make

FITTED = [cls for _, cls in inspect.getmembers(estimators, inspect.isclass) if hasattr(cls, "fit")]
CLASSES = [cls for cls in FITTED if hasattr(cls, "decision_function") and not inspect.isabstract(cls)]
DATA = make_planted(120, 8, 5, random_state=0)
Y = hide_labels(DATA.Y, observed_fraction=0.6, random_state=0)
OBSERVED = ~np.isnan(Y)
SAME = np.arange(len(Y))
every_estimator = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)


def probabilities(cls, X=DATA.X, Y=Y, order=None, **options):
    """Fit to samples, in some order; return the probabilities of all samples in the order of X."""
    model = make(cls)
    if cls is LEML:
        model.set_params(tol=1e-10, max_iter=1000)  # random initial factors belong to the positions of labels
    if cls in (SelfPacedEnsemble, ThresholdClassifier) and order is not None:  # folds move with the samples
        place = np.argsort(order)
        folds = [(place[train], place[test]) for train, test in make_folds(3, DATA.X, OBSERVED, random_state=0)]
        model.set_params(cv=folds)
    if cls is SelfPacedEnsemble and order is not None:
        model.set_params(views=("ridge", "linear"))  # landmarks are drawn by position, and centered if X is dense
    if cls is MaskedBoosting and order is not None:
        model.set_params(subsample=1.0)  # samples of a tree are drawn by position
    samples = slice(None) if order is None else order
    return model.fit(X[samples], Y[samples], **options).predict_proba(X)


def test_all_public_estimators_are_tested():
    parts = {FeatureScaler, MultiLabelEstimator}  # without labels or scores
    assert set(FITTED) - set(CLASSES) == parts
    assert len(CLASSES) >= 11


@every_estimator
def test_values_of_missing_entries_change_no_bit(cls):
    expected = probabilities(cls)
    for values in (DATA.Y, 1 - DATA.Y, np.inf):
        np.testing.assert_array_equal(probabilities(cls, Y=np.where(OBSERVED, Y, values), mask=OBSERVED), expected)


@every_estimator
def test_weight_zero_is_missing_and_weight_one_changes_nothing(cls):
    weights = np.where(OBSERVED, np.random.default_rng(0).uniform(0.5, 2, Y.shape), 0)
    expected = probabilities(cls, entry_weight=weights)
    np.testing.assert_array_equal(probabilities(cls, Y=np.where(OBSERVED, Y, 1), entry_weight=weights), expected)
    if cls is not MaskedForest:  # which draws samples by their weights
        equal = probabilities(cls, Y=DATA.Y, entry_weight=OBSERVED.astype(float))
        np.testing.assert_allclose(equal, probabilities(cls), atol=1e-8)  # weight one changes nothing


@every_estimator
def test_permuting_samples_permutes_the_scores(cls):
    if cls is MaskedForest:
        pytest.skip("the samples of each tree are drawn by their position")
    order = np.random.default_rng(0).permutation(len(Y))
    np.testing.assert_allclose(probabilities(cls, order=order), probabilities(cls, order=SAME), atol=1e-5)


@every_estimator
def test_permuting_labels_permutes_the_columns(cls):
    labels = np.random.default_rng(0).permutation(Y.shape[1])
    np.testing.assert_allclose(probabilities(cls, Y=Y[:, labels]), probabilities(cls)[:, labels], atol=1e-4)


@every_estimator
def test_float32_follows_float64(cls):
    np.testing.assert_allclose(probabilities(cls, X=DATA.X.astype(np.float32)), probabilities(cls), atol=1e-3)


@every_estimator
def test_dense_equals_sparse(cls):
    X = np.where(np.random.default_rng(0).random(DATA.X.shape) < 0.3, DATA.X, 0)
    X[:, 0] = DATA.X[:, 0]  # no two samples at the same distance
    dense, sparse = (probabilities(cls, X=features, order=SAME) for features in (X, sp.csr_array(X)))
    np.testing.assert_allclose(sparse, dense, atol=1e-6)


@every_estimator
def test_indices_of_64_bits_give_the_fit_of_32_bits(cls):
    X = sp.csr_array(np.maximum(DATA.X, 0))
    expected = probabilities(cls, X=X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    np.testing.assert_array_equal(probabilities(cls, X=X), expected)


@every_estimator
def test_torch_gives_the_fit_of_numpy(cls):
    """A model that was fitted in one library predicts in the other."""
    X, labels = torch.from_numpy(DATA.X), torch.from_numpy(Y)
    expected, model = make(cls).fit(DATA.X, Y), make(cls).fit(X, labels)
    for method in ("decision_function", "predict_proba", "predict"):
        values = getattr(model, method)(X)
        assert isinstance(values, torch.Tensor)
        np.testing.assert_allclose(values.numpy(), getattr(expected, method)(DATA.X), atol=1e-5)
        np.testing.assert_allclose(getattr(expected, method)(X).numpy(), values.numpy(), atol=1e-5)
        np.testing.assert_allclose(getattr(model, method)(DATA.X), values.numpy(), atol=1e-5)
    np.testing.assert_allclose(model.complete(X, labels).confidences, expected.complete(DATA.X, Y)[1], atol=1e-5)
    assert model.score(X, labels) == expected.score(DATA.X, Y)


@pytest.mark.parametrize("cls", FITTED, ids=lambda cls: cls.__name__)
def test_invalid_parameters_are_named(cls):
    if inspect.isabstract(cls):
        pytest.skip("it has no parameters of its own")
    for name in {**parameter_constraints(cls), **cls._parameter_constraints}:
        with pytest.raises(ValueError, match=f"The '{name}' parameter of {cls.__name__} must be .* Got <object"):
            cls(**{name: object()}).fit(DATA.X, Y)


def test_parameters_of_other_dataclasses_are_validated_by_their_types():
    @dataclass
    class Constant(MultiLabelEstimator):
        score: float = 1.0
        written: "float" = 1.0

        def _fit(self, samples):
            self.n_ = len(samples.X)

        def _scores(self, X):
            return np.full((len(X), self.n_labels_), self.score)

    assert Constant(score=2, written=object()).fit(DATA.X, Y).predict(DATA.X).all()
    with pytest.raises(ValueError, match=r"The 'score' parameter of Constant must be .* Got 'high'"):
        Constant(score="high").fit(DATA.X, Y)


@every_estimator
def test_the_same_seed_gives_the_same_fit(cls):
    model = make(cls).fit(DATA.X, Y)
    expected = model.decision_function(DATA.X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(make(cls).fit(DATA.X, Y).decision_function(DATA.X), expected)
        model.fit(DATA.X[:60], 1 - Y[:60])  # a fit leaves nothing behind
        np.testing.assert_array_equal(model.fit(DATA.X, Y).decision_function(DATA.X), expected)


def test_an_estimator_without_a_fit_is_named():
    class Empty(MultiLabelEstimator):
        def _scores(self, X):
            return X

    with pytest.raises(TypeError, match=r"Empty .*_fit"):
        Empty()


RATES = {"false_positive_rate": 0.2, "false_negative_rate": 0.1}
WITH_RATES = [MaskedLogistic(**RATES), MaskedBoosting(**RATES, n_estimators=5, random_state=0)]
WITHOUT_USE = [cls for cls in CLASSES if not make(cls).uses_trusted()]


@pytest.mark.parametrize("cls", WITHOUT_USE, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("trusted", [OBSERVED, SAME >= 0])
def test_verified_entries_that_an_estimator_would_ignore_raise_an_error(cls, trusted):
    with pytest.raises(ValueError, match=f"trusted is not used by {cls.__name__}, but by SelfPacedEnsemble") as error:
        make(cls).fit(DATA.X, Y, trusted=trusted)
    assert "MaskedLogistic and MaskedBoosting with false_positive_rate" in str(error.value)


@pytest.mark.parametrize("model", WITH_RATES, ids=lambda model: type(model).__name__)
def test_verified_entries_change_a_fit_with_noise_rates(model):
    plain = model.fit(DATA.X, Y).predict_proba(DATA.X)
    verified = HierarchicalClassifier(model).fit(DATA.X, Y, trusted=OBSERVED).predict_proba(DATA.X)
    assert np.abs(verified - plain).max() > 0.02


def test_the_estimators_that_ignore_verified_entries():
    others = {"SelfPacedEnsemble", "HierarchicalClassifier"}
    assert {cls.__name__ for cls in set(CLASSES) - set(WITHOUT_USE)} <= others
    assert not HierarchicalClassifier(MaskedLogistic()).uses_trusted()
    assert not MaskedForest(**RATES).uses_trusted()


@every_estimator
def test_all_predictions_at_once_are_those_of_the_methods(cls):
    model = make(cls).fit(DATA.X, Y)
    calls = []
    evaluate = model._scores
    model._scores = lambda X: calls.append(len(X)) or evaluate(X)
    predicted = predict_all(model, DATA.X)
    assert len(calls) <= 1
    del model._scores
    np.testing.assert_array_equal(predicted.scores, model.decision_function(DATA.X))
    np.testing.assert_array_equal(predicted.probabilities, model.predict_proba(DATA.X))
    np.testing.assert_array_equal(predicted.positive, model.predict(DATA.X))

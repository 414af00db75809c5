"""Invalid input raises an error that names the argument and the accepted values; unusual input is accepted."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import has_fit_parameter

from spmld import (
    GLOCAL,
    SPMLD,
    HierarchicalClassifier,
    LabelPrior,
    MaskedLogistic,
    MaskedRidge,
    SelfPacedClassifier,
    SelfPacedEnsemble,
)
from spmld.estimators import ThresholdClassifier
from spmld.labels import LabelWarning
from spmld.model_selection import cross_val_predict
from spmld.pacing import GeometricSchedule, GroupSparsePacing, QuantileSchedule

from .cases import ESTIMATORS, LATENT, make

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4))
Y = (X[:, :3] + 0.1 * RNG.normal(size=(30, 3)) > 0).astype(float)


def with_value(array, value, where=(0, 0)):
    changed = array.astype(object if isinstance(value, str) else float).copy()
    changed[where] = value
    return changed


@pytest.mark.parametrize("cls", ESTIMATORS)
@pytest.mark.parametrize(
    ("features", "labels", "mask", "message"),
    [
        (X, Y[:10], None, "X and Y must have the same number of samples.*30 and 10"),
        (X, Y[None, None], None, r"Y must have shape \(n_samples, n_labels\)"),
        (X, 3.0, None, "Y must have shape"),
        (X, [[1, 0], [1]] * 15, None, "Y must be rectangular"),
        (X, with_value(Y, np.inf), None, "Y contains infinity"),
        (X, with_value(Y, 0.5), None, "Y has values other than labels: 0.0, 0.5, 1.0. Accepted: 0/1"),
        (X, with_value(Y, "rabbit"), None, "Y mixes values of types float, str. Accepted: 0/1"),
        (X, np.where(Y > 0, "a", "b"), None, "Y has values other than labels: 'a', 'b'. Accepted"),
        (X, with_value(Y, -1), None, "ambiguous.*spmld.labels.decode_missing"),
        (X, np.full((30, 3), np.nan), None, "Y has no observed entry: all 90 are missing"),
        (X, Y, np.zeros((30, 3), dtype=bool), "Y has no observed entry"),
        (X, Y, np.ones((30, 2), dtype=bool), r"mask must have the shape of the labels, \(30, 3\), got \(30, 2\)"),
        (X, Y, np.full((30, 3), 0.5), "mask must be boolean"),
        (X, Y[:, :0], None, "no observed entry"),
        (X, None, None, "requires y to be passed"),
        (with_value(X, np.nan), Y, None, "Input X contains NaN"),
        (with_value(X, np.inf), Y, None, "Input X contains infinity"),
        (with_value(X, "word"), Y, None, "could not convert string to float"),
        (np.ma.masked_greater(X, 2), Y, None, r"X is a masked array with \d+ masked values; pass X.filled\(np.nan\)"),
        (X[:, :0], Y, None, "0 feature"),
        (X[0], Y, None, "Expected 2D array"),
        (X[:0], Y[:0], None, "0 sample"),
    ],
)
def test_invalid_data_raises(cls, features, labels, mask, message):
    with pytest.raises(ValueError, match=message):
        cls().fit(features, labels, mask)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (torch.tensor(X + 1j), "Complex data not supported: X is a torch tensor of torch.complex128; pass .* X.real"),
        (torch.tensor(X, device="meta"), "X is a torch tensor on the device 'meta', which has no values"),
        (
            torch.tensor(X).to_sparse(),
            "a torch tensor X must be dense, got layout torch.sparse_coo; use a SciPy",
        ),
    ],
)
def test_tensors_without_real_numbers_raise(features, message):
    model = MaskedRidge().fit(X, Y)
    for use in (model.predict, lambda features: model.fit(features, Y)):
        with pytest.raises(ValueError, match=message):
            use(features)


@pytest.mark.parametrize("convert", [lambda X: X > 0, lambda X: (9 * X).int(), lambda X: X.clone().requires_grad_()])
def test_tensors_of_other_types_are_numbers(convert):
    features = convert(torch.tensor(X))
    expected = MaskedRidge().fit(features.detach().numpy(), Y).predict_proba(features.detach().numpy())
    np.testing.assert_allclose(MaskedRidge().fit(features, Y).predict_proba(features), expected, rtol=1e-9)


def quantile(**params):
    return GroupSparsePacing(schedule=QuantileSchedule(**params))


def geometric(**params):
    return GroupSparsePacing(schedule=GeometricSchedule(**params))


@pytest.mark.parametrize(
    ("pacing", "message"),
    [
        ("fast", "'pacing' parameter of SPMLD must be an instance of .*PacingRule' or None. Got 'fast'"),
        (GroupSparsePacing, "'pacing' parameter of SPMLD must be an instance of .*PacingRule' or None. Got"),
        (GroupSparsePacing(schedule=3), "'schedule' parameter of GroupSparsePacing must be an object implementing"),
        (GroupSparsePacing(schedule=QuantileSchedule), "'schedule' parameter of GroupSparsePacing must be an object"),
        (quantile(start=0), r"'start' parameter of QuantileSchedule must be .*\(0, 1\]. Got 0 "),
        (quantile(start="a"), r"'start' parameter of QuantileSchedule must be .*\(0, 1\]. Got 'a'"),
        (quantile(stop=1.5), r"'stop' parameter of QuantileSchedule must be .*\(0, 1\]. Got 1.5"),
        (quantile(start=(0.5, 0.5), stop=(0.5, 0.6, 0.7)), "'start' and 'stop' .* the same number of values"),
        (quantile(n_iter=0), r"'n_iter' parameter of QuantileSchedule must be an int in the range \[1, inf\). Got 0"),
        (quantile(diversity=1), r"'diversity' parameter of QuantileSchedule must be .*\[0.0, 1.0\). Got 1"),
        (geometric(threshold=np.inf), r"'threshold' parameter of GeometricSchedule must be .*\(0.0, inf\). Got inf"),
        (geometric(growth=0.9), r"'growth' parameter of GeometricSchedule must be .*\[1.0, inf\). Got 0.9"),
        (geometric(diversity=-1), r"'diversity' parameter of GeometricSchedule must be .*\[0.0, inf\). Got -1"),
        (geometric(decay=0), r"'decay' parameter of GeometricSchedule must be .*\(0.0, 1.0\]. Got 0"),
    ],
)
def test_invalid_pacing_raises(pacing, message):
    with pytest.raises(ValueError, match=message):
        SPMLD(pacing=pacing).fit(X, Y)


@pytest.mark.parametrize("cls", LATENT)
@pytest.mark.parametrize("loss", ["squared", "logistic"])
class TestUnusualData:
    def fit(self, cls, loss, X, Y, **options):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", LabelWarning)
            return cls(loss=loss, random_state=0, **options).fit(X, Y)

    def test_constant_label_is_predicted_as_constant(self, cls, loss):
        labels = Y.copy()
        labels[:, 0], labels[:, 1] = 1, 0
        prediction = self.fit(cls, loss, X, labels).predict(X)
        assert (prediction[:, 0] == 1).all()
        assert (prediction[:, 1] == 0).all()

    def test_label_without_observed_positive_has_negative_scores(self, cls, loss):
        labels = Y.copy()
        labels[labels[:, 0] == 1, 0] = np.nan
        scores = self.fit(cls, loss, X, labels).decision_function(X)
        assert (scores[:, 0] < 0).all()

    def test_label_never_observed_has_probability_one_half(self, cls, loss):
        labels = Y.copy()
        labels[:, 0] = np.nan
        model = self.fit(cls, loss, X, labels, global_correlation=0, local_correlation=0)
        np.testing.assert_array_equal(model.predict_proba(X)[:, 0], 0.5)
        others = self.fit(cls, loss, X, Y[:, 1:], global_correlation=0, local_correlation=0)
        assert (model.predict(X)[:, 1:] == others.predict(X)).mean() > 0.9

    def test_sample_without_observed_labels_is_predicted(self, cls, loss):
        labels = Y.copy()
        labels[3] = np.nan
        model = self.fit(cls, loss, X, labels)
        assert (model.predict(X)[3] == Y[3]).mean() > 0.6

    def test_one_label_one_feature_one_sample(self, cls, loss):
        one = self.fit(cls, loss, X, Y[:, :1])
        assert one.predict(X).shape == (30, 1)
        assert (one.predict(X) == Y[:, :1]).mean() > 0.9
        thin = self.fit(cls, loss, X[:, :1], Y)
        assert (thin.predict(X[:, :1])[:, 0] == Y[:, 0]).mean() > 0.9
        single = self.fit(cls, loss, X[:1], Y[:1])
        np.testing.assert_array_equal(single.predict(X[:1]), Y[:1])

    def test_more_groups_than_samples_and_more_latent_labels_than_labels(self, cls, loss):
        model = self.fit(cls, loss, X[:5], Y[:5], n_groups=50, n_components=40)
        assert model.label_factors_.shape == (3, 3)
        assert len(model.group_sizes_) == 5
        assert model.group_sizes_.sum() == 5

    def test_features_that_are_all_zero_give_the_label_means(self, cls, loss):
        scores = self.fit(cls, loss, 0 * X, Y).decision_function(0 * X)
        np.testing.assert_allclose(scores, np.broadcast_to(scores[0], scores.shape))
        np.testing.assert_array_equal(np.argsort(scores[0]), np.argsort(Y.mean(axis=0)))

    def test_identical_samples(self, cls, loss):
        scores = self.fit(cls, loss, np.ones((30, 4)), Y).decision_function(np.ones((30, 4)))
        np.testing.assert_array_equal(np.argsort(scores[0]), np.argsort(Y.mean(axis=0)))

    def test_features_of_huge_and_tiny_scale(self, cls, loss):
        for size in (1e8, 1e-8):
            model = self.fit(cls, loss, size * X, Y)
            assert (model.predict(size * X) == Y).mean() > 0.9
        tiny = self.fit(cls, loss, 1e-8 * X, Y, standardize=False).decision_function(1e-8 * X)
        assert np.ptp(tiny, axis=0).max() < 1e-3  # the penalty leaves only the label means


@pytest.mark.parametrize("cls", LATENT)
def test_reaching_max_iter_warns(cls):
    with pytest.warns(ConvergenceWarning, match="increase max_iter or tol"):
        model = cls(max_iter=2, tol=1e-12, random_state=0).fit(X, Y)
    assert not model.converged_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fixed = cls(max_iter=2, tol=None, random_state=0).fit(X, Y)
    assert not fixed.converged_


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_after_a_fit_labels_must_match(cls):
    model = make(cls).fit(X, Y)
    for method in (model.score, model.complete):
        with pytest.raises(ValueError, match="Y must have 3 labels, as in fit, got 2"):
            method(X, Y[:, :2])
        with pytest.raises(ValueError, match="the same number of samples"):
            method(X, Y[:4])
    with pytest.raises(NotFittedError):
        cls().predict(X)


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_labels_in_another_order_raise(cls):
    frame = pd.DataFrame(Y, columns=["a", "b", "c"])
    model = make(cls).fit(X, frame)
    for method in (model.score, model.complete):
        method(X, frame)
        method(X, Y)  # without names the order is not checked
        with pytest.raises(ValueError, match="Y must have the same label names as in fit"):
            method(X, frame[["c", "b", "a"]])


@pytest.mark.parametrize("cls", LATENT)
def test_correlation_that_was_not_learned_raises(cls):
    with pytest.raises(NotFittedError):
        cls().label_correlation()
    model = cls(global_correlation=0, local_correlation=0, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="global_correlation or local_correlation must be positive during fit"):
        model.label_correlation()


def test_a_fit_that_fails_sets_no_attributes():
    model = GLOCAL()
    with pytest.raises(ValueError, match="infinity"):
        model.fit(X, with_value(Y, np.inf))
    assert not hasattr(model, "label_factors_")


@pytest.mark.parametrize("shape", [(5,), (5, 1), (5, 3), (30, 2)])
def test_entry_weights_of_another_shape_raise(shape):
    message = rf"entry_weight must have shape \(30, 3\) or \(30,\), got {re.escape(str(shape))}"
    with pytest.raises(ValueError, match=message):
        LabelPrior().fit(X, Y, entry_weight=np.ones(shape))


@pytest.mark.parametrize("cls", [*ESTIMATORS, HierarchicalClassifier])
def test_unknown_arguments_raise(cls):
    model, weights = make(cls), np.ones(len(X))
    assert not has_fit_parameter(model, "sample_weight")
    for fitted, name in ((model, "sample_weight"), (make_pipeline(model), f"{cls.__name__.lower()}__sample_weight")):
        with pytest.raises(TypeError, match=rf"{cls.__name__}\.fit\(\) .*'sample_weight'; pass entry_weight, which"):
            fitted.fit(X, Y, **{name: weights})
    with pytest.raises(TypeError, match=r"'entry_weights'; did you mean 'entry_weight'\?"):
        model.fit(X, Y, entry_weights=weights)


@pytest.mark.parametrize(
    "model",
    [
        *(make(cls) for cls in ESTIMATORS if cls is not SelfPacedEnsemble),
        SelfPacedClassifier(SelfPacedEnsemble()),
        HierarchicalClassifier(MaskedRidge()),
        HierarchicalClassifier(ThresholdClassifier(LogisticRegression())),
        ThresholdClassifier(MaskedRidge()),
        ThresholdClassifier(LogisticRegression()),
        ThresholdClassifier(HierarchicalClassifier(MaskedLogistic())),
    ],
    ids=repr,
)
def test_verified_entries_without_a_use_raise(model):
    name = type(model).__name__
    for fitted, option in ((model, "trusted"), (make_pipeline(model), f"{name.lower()}__trusted")):
        with pytest.raises(ValueError, match=f"trusted is not used by {name}, but by SelfPacedEnsemble"):
            fitted.fit(X, Y, **{option: Y > 0})
    with pytest.raises(ValueError, match="trusted is not used by"):
        cross_val_predict(model, X, Y, params={"trusted": Y > 0})


def test_masked_features_raise_everywhere_and_an_empty_mask_changes_nothing():
    from spmld.audit import find_label_issues
    from spmld.datasets import Dataset

    masked, unmasked = np.ma.masked_greater(X, 2), np.ma.array(X)
    model = LabelPrior().fit(unmasked, Y)
    for call in (
        lambda: model.predict(masked),
        lambda: Dataset(masked, Y),
        lambda: find_label_issues(None, masked, Y),
        lambda: cross_val_predict(LabelPrior(), masked, Y),
        lambda: ThresholdClassifier(LabelPrior()).fit(masked, Y),
    ):
        with pytest.raises(ValueError, match="X is a masked array with"):
            call()
    np.testing.assert_array_equal(Dataset(unmasked, Y).X, X)

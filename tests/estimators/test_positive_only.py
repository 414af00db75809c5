"""Labels with observed positives and no observed negative: class priors, weak negatives, warnings."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier

from spmld import LabelPrior, MaskedLogistic, PerLabelClassifier, SelfPacedEnsemble
from spmld.datasets import make_planted
from spmld.estimators import ThresholdClassifier, positive_unlabeled
from spmld.estimators.positive_only import _negative_weight
from spmld.labels import LabelWarning
from spmld.metrics import macro_auc, ranking_loss

from .cases import ESTIMATORS, LEARNERS, make

pytestmark = pytest.mark.filterwarnings("ignore::spmld.labels.LabelWarning")
TRAIN, TEST = slice(0, None, 2), slice(1, None, 2)


def keep_positives(Y, frequency, seed=0):
    """Return labels in which each positive is observed with the given probability, and no negative is."""
    return np.where((Y == 1) & (np.random.default_rng(seed).random(Y.shape) < frequency), 1, np.nan)


def keep_one_positive(Y, seed=0):
    """Return labels in which one positive of each sample is observed."""
    order = np.where(Y == 1, np.random.default_rng(seed).random(Y.shape), -1)
    first = order.argmax(axis=1)[:, None] == np.arange(Y.shape[1])
    return np.where(first & (Y == 1), 1, np.nan)


@pytest.fixture(scope="module")
def data():
    return make_planted(2400, 10, 6, local=0, noise=0.1, frequencies=np.linspace(0.4, 0.1, 6), random_state=0)


@pytest.mark.parametrize("frequency", [0.2, 0.8])
def test_class_prior_and_label_frequency_are_recovered(frequency, data):
    result = positive_unlabeled(data.X, keep_positives(data.Y, frequency))
    assert_allclose(result.label_frequency, frequency, rtol=0.5)
    assert result.label_frequency.mean() == pytest.approx(frequency, rel=0.15)
    assert_allclose(result.class_prior, data.frequencies, rtol=0.4)


def test_labels_without_hidden_positives_have_weak_negatives_of_weight_near_1(data):
    result = positive_unlabeled(data.X, keep_positives(data.Y, 1.0))
    assert_allclose(result.class_prior, data.frequencies, rtol=0.05)
    assert np.average(result.entry_weight[data.Y == 0]) > 0.95


def test_weights_of_negatives_and_positives_are_those_of_full_labels(data):
    Y, c = keep_positives(data.Y, 0.5), 0.5
    result = positive_unlabeled(data.X, Y)
    assert_array_equal(result.entry_weight[Y == 1], 1)
    weak = np.isnan(Y)
    assert_array_equal(result.labels[weak], 0)
    total = np.where(weak, result.entry_weight, 0).sum(axis=0)
    assert_allclose(total, c * (data.Y == 0).sum(axis=0), rtol=0.25)
    hidden = weak & (data.Y == 1)
    assert result.entry_weight[hidden].mean() < 0.5 * result.entry_weight[data.Y == 0].mean()


@pytest.mark.parametrize("cls", LEARNERS)
@pytest.mark.parametrize("hide", [lambda Y: keep_positives(Y, 0.3), keep_one_positive])
def test_ranking_is_near_that_of_full_labels(cls, hide, data):
    train, test = slice(0, None, 3), slice(1, None, 3)
    full = make(cls).fit(data.X[train], data.Y[train]).decision_function(data.X[test])
    scores = make(cls).fit(data.X[train], hide(data.Y[train])).decision_function(data.X[test])
    truth = data.Y[test]
    assert macro_auc(truth, scores) > macro_auc(truth, full) - 0.15 > 0.7
    assert ranking_loss(truth, scores) < ranking_loss(truth, full) + 0.1 < 0.3


@pytest.mark.parametrize("cls", [MaskedLogistic, PerLabelClassifier, LabelPrior])
def test_mean_probability_is_the_class_prior(cls, data):
    model = make(cls).fit(data.X[TRAIN], keep_positives(data.Y[TRAIN], 0.5))
    mean = model.predict_proba(data.X[TEST]).mean(axis=0)
    assert_allclose(mean, data.frequencies, rtol=0.25)
    assert_allclose(model.class_prior_, data.frequencies, rtol=0.25)


def test_missing_entries_as_negatives_halve_the_probabilities_and_weak_negatives_do_not(data):
    Y = keep_positives(data.Y, 0.4)
    negative = MaskedLogistic().fit(data.X, np.nan_to_num(Y)).predict_proba(data.X).sum()
    weak = MaskedLogistic().fit(data.X, Y).predict_proba(data.X).sum()
    assert negative < 0.5 * data.Y.sum()
    assert weak == pytest.approx(data.Y.sum(), rel=0.1)


def test_permuted_labels_give_the_permuted_result(data):
    Y, order = keep_positives(data.Y, 0.5), np.array([3, 0, 5, 1, 4, 2])
    result, permuted = positive_unlabeled(data.X, Y), positive_unlabeled(data.X, Y[:, order])
    assert_allclose(permuted.class_prior, result.class_prior[order], rtol=1e-4)
    assert_allclose(permuted.entry_weight, result.entry_weight[:, order], atol=1e-3)


@pytest.mark.parametrize("model", [MaskedLogistic(tol=1e-9), PerLabelClassifier()])
def test_labels_with_negatives_are_fitted_as_without_positive_only_labels(model, data):
    Y = data.Y.astype(float)
    Y[::3, 0] = np.nan
    Y[:, 3:] = keep_positives(data.Y[:, 3:], 0.5)
    alone = clone(model).fit(data.X, Y[:, :3])
    model.fit(data.X, Y)
    assert_array_equal(np.isnan(model.class_prior_), [True] * 3 + [False] * 3)
    assert_allclose(model.decision_function(data.X)[:, :3], alone.decision_function(data.X), atol=1e-5)


def test_values_of_missing_entries_are_never_used(data):
    observed = keep_positives(data.Y, 0.5) == 1
    plain = positive_unlabeled(data.X, np.where(observed, 1.0, np.nan))
    masked = positive_unlabeled(data.X, np.where(observed, 1, data.Y), mask=observed)
    assert_array_equal(plain.entry_weight, masked.entry_weight)


def test_sparse_features_tensors_and_frames_give_the_same_result(data):
    X, Y = np.where(np.abs(data.X) < 1, 0, data.X), keep_positives(data.Y, 0.5)
    expected = positive_unlabeled(X, Y)
    frame = pd.DataFrame(Y, columns=list("abcdef"), index=np.arange(len(Y)) + 7)
    for features, labels in ((sp.csr_matrix(X), Y), (torch.from_numpy(X), Y), (pd.DataFrame(X), frame)):
        result = positive_unlabeled(features, labels)
        assert_allclose(result.entry_weight, expected.entry_weight, atol=1e-6)
        assert_array_equal(np.asarray(result.labels), expected.labels)
    assert list(result.labels.columns) == list("abcdef")
    assert list(result.labels.index) == list(frame.index)
    tensor = MaskedLogistic().fit(torch.from_numpy(X), torch.from_numpy(Y))
    assert_allclose(tensor.coef_.numpy(), MaskedLogistic().fit(X, Y).coef_, atol=1e-3)


def test_explicit_weak_negatives_give_the_same_fit(data):
    Y = keep_positives(data.Y, 0.5)
    labels, weights, *_ = positive_unlabeled(data.X, Y)
    explicit = MaskedLogistic().fit(data.X, labels, entry_weight=weights)
    assert_array_equal(explicit.coef_, MaskedLogistic().fit(data.X, Y).coef_)
    assert np.isnan(explicit.class_prior_).all()


def test_samples_of_weight_0_are_ignored_and_equal_weights_have_no_effect(data):
    Y = keep_positives(data.Y, 0.5)
    weight = np.where(np.arange(len(Y)) < 1600, 2.5, 0)
    weighted = positive_unlabeled(data.X, Y, sample_weight=weight)
    part = positive_unlabeled(data.X[:1600], Y[:1600])
    assert_allclose(weighted.class_prior, part.class_prior, rtol=1e-6)
    assert_allclose(weighted.entry_weight[:1600], 2.5 * part.entry_weight, rtol=1e-6)
    assert_array_equal(weighted.entry_weight[1600:], 0)
    assert_array_equal(np.isnan(weighted.labels[1600:]), True)
    model = MaskedLogistic().fit(data.X, Y, entry_weight=weight)
    assert_allclose(model.class_prior_, part.class_prior, rtol=1e-6)


def test_weights_of_entries_leave_missing_entries_missing(data):
    Y = keep_positives(data.Y, 0.5)
    with pytest.warns(
        LabelWarning, match=r"Labels 0, 1, .* Missing entries are ignored, so that only positives can be"
    ):
        model = MaskedLogistic().fit(data.X, Y, entry_weight=np.ones(Y.shape))
    assert model.predict(data.X).all()
    assert np.isnan(model.class_prior_).all()


def test_classifier_without_sample_weight_ignores_missing_entries(data):
    with pytest.warns(LabelWarning, match="Missing entries are ignored"):
        model = PerLabelClassifier(KNeighborsClassifier()).fit(data.X, keep_positives(data.Y, 0.5))
    assert model.predict(data.X).all()


@pytest.mark.parametrize("n", [2, 5])
def test_few_samples_give_finite_results(n, data):
    Y = np.full((n, 2), np.nan)
    Y[0] = 1
    result = positive_unlabeled(data.X[:n], Y)
    assert ((result.class_prior > 0) & (result.class_prior <= 1)).all()
    assert (result.entry_weight >= 0).all()
    assert np.isfinite(MaskedLogistic().fit(data.X[:n], Y).decision_function(data.X)).all()
    constant = positive_unlabeled(np.ones((n, 3)), Y)
    assert np.isfinite(constant.entry_weight).all()


def test_one_label_as_a_vector(data):
    y = keep_positives(data.Y, 0.5)[:, 0]
    model = MaskedLogistic().fit(data.X, y)
    assert model.predict(data.X).shape == y.shape
    assert model.predict_proba(data.X)[:, 1].mean() == pytest.approx(0.4, rel=0.2)


def test_inputs_of_other_shapes_raise(data):
    with pytest.raises(ValueError, match="same number of samples, got inconsistent numbers: 5 and 2400"):
        positive_unlabeled(data.X[:5], data.Y)
    with pytest.raises(ValueError, match=r"sample_weight must have shape \(2400,\), got \(2400, 6\)"):
        positive_unlabeled(data.X, data.Y, sample_weight=np.ones((2400, 6)))
    with pytest.raises(ValueError, match="X contains values too large"):
        MaskedLogistic().fit(1e200 * data.X, keep_positives(data.Y, 0.5))


def test_weight_of_a_missing_entry_is_by_the_rule_of_bayes():
    for log_odds in (-50.0, -1.5, 2.0, 30.0):
        p = 1 / (1 + np.exp(-log_odds))
        for c in (0.1, 0.5, 0.99):
            missing = {"negative": 1 - p, "positive": p * (1 - c)}
            weight = _negative_weight(np.array(log_odds), c)
            assert weight == pytest.approx(c * missing["negative"] / sum(missing.values()))
    assert _negative_weight(np.array(800.0), 0.5) >= 0
    assert _negative_weight(np.array(100.0), 1.0) == 1


def test_label_without_entries_is_rare_unless_a_label_has_negatives(data):
    Y = keep_positives(data.Y, 0.5)
    Y[:, 2] = np.nan
    with pytest.warns(LabelWarning, match=r"Label 2: no observed entry\. Missing .* negatives of lower weight"):
        model = MaskedLogistic().fit(data.X, Y)
    assert model.class_prior_[2] == 0
    assert model.predict_proba(data.X)[:, 2].max() < 0.01
    Y[:, 0] = data.Y[:, 0]
    with pytest.warns(LabelWarning, match="Label 2: no observed entry, so that the predictions carry no information"):
        model = MaskedLogistic().fit(data.X, Y)
    assert np.isnan(model.class_prior_[2])
    assert_allclose(model.predict_proba(data.X)[:, 2], 0.5)


class TestWarnings:
    @staticmethod
    def messages(model, X, Y):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X, Y)
        chosen = [warning for warning in caught if issubclass(warning.category, LabelWarning)]
        assert all(warning.filename == __file__ for warning in chosen)
        return [str(warning.message) for warning in chosen]

    @pytest.mark.parametrize("cls", ESTIMATORS)
    def test_each_kind_is_named_once(self, cls, data):
        Y = pd.DataFrame(data.Y[:300].astype(float), columns=["none", "all", "negative", "tag", "fine", "other"])
        Y["none"], Y["all"], Y["negative"] = np.nan, 1.0, np.where(data.Y[:300, 2], np.nan, 0.0)
        Y["tag"] = np.where(data.Y[:300, 3], 1.0, np.nan)
        first, second, third, fourth = self.messages(make(cls), data.X[:300], Y)
        assert first.startswith("Label none: no observed entry")
        assert second.startswith("Label negative: all observed entries are negative")
        assert third.startswith("Label all: all entries are positive")
        assert fourth.startswith("Label tag: observed positives, missing entries and no observed negative. Missing")
        assert "negatives of lower weight; the estimated fraction of positives is 0." in fourth

    def test_folds_do_not_repeat_the_warning(self, data):
        X, Y = data.X[:300], keep_positives(data.Y[:300], 0.6)
        for model in (make(SelfPacedEnsemble, n_jobs=2), ThresholdClassifier(MaskedLogistic(), cv=3)):
            assert len(self.messages(model, X, Y)) == 1

    def test_labels_with_both_classes_give_no_warning_even_if_a_fold_has_one_class(self, data):
        Y = data.Y[:300].astype(float)
        Y[:, 0] = np.nan
        Y[:3, 0] = 1, 1, 0
        for model in (make(SelfPacedEnsemble), ThresholdClassifier(MaskedLogistic(), cv=3)):
            assert self.messages(model, data.X[:300], Y) == []

    def test_many_labels_are_abbreviated(self, data):
        Y = np.tile(keep_positives(data.Y[:300], 0.5), 3)[:, :14]
        (message,) = self.messages(MaskedLogistic(), data.X[:300], Y)
        assert message.startswith("Labels 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 4 more: observed positives")


def test_completion_ranks_missing_entries_almost_as_well_as_the_prediction():
    data = make_planted(1000, random_state=0)
    Y = keep_one_positive(data.Y)
    model, missing = make(SelfPacedEnsemble).fit(data.X, Y), np.isnan(Y)
    labels, confidences = model.complete(data.X, Y)
    completed = np.where(labels == 1, confidences, 1 - confidences)[missing]
    predicted = model.predict_proba(data.X)[missing]
    # The one observed positive of a sample makes the correction expect no others, which costs a little.
    assert roc_auc_score(data.Y[missing], completed) > roc_auc_score(data.Y[missing], predicted) - 0.04


def test_completion_suggests_hidden_positives(data):
    X, truth = data.X[:800], data.Y[:800]
    for hide in (lambda Y: keep_positives(Y, 0.3), keep_one_positive):
        Y = hide(truth)
        completion = make(SelfPacedEnsemble).fit(X, Y).complete(X, Y)
        missing = np.isnan(Y)
        suggested = (completion.labels == 1) & missing
        assert truth[suggested].mean() > 0.7
        assert suggested[missing & (truth == 1)].mean() > 0.4

"""The audit: it finds planted errors, ignores missing labels, and keeps names."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier

from spmld import GLOCAL, MaskedLogistic
from spmld.audit import find_label_issues
from spmld.datasets import make_planted
from spmld.labels import LabelWarning, corrupt_labels, hide_labels
from spmld.model_selection import MultilabelStratifiedKFold

FREQUENCIES = np.geomspace(0.3, 0.05, 6)
DATA = make_planted(600, 30, 6, n_groups=1, noise=0.1, frequencies=FREQUENCIES, random_state=0)
TRUTH = DATA.Y
RATES = {"permute": 0.3, "swap": 0.4, "drop": 0.4, "flip": 0.05}


def plant(kind, seed=0, observed_fraction=0.7):
    Y = corrupt_labels(TRUTH, kind, RATES[kind], random_state=seed)
    Y = hide_labels(Y, observed_fraction, random_state=seed)
    return Y, ~np.isnan(Y), (TRUTH != Y) & ~np.isnan(Y)


def precision(wrong, error_probability, observed):
    return average_precision_score(wrong[observed], error_probability[observed])


@cache
def audit(kind, seed=0):
    return find_label_issues(None, DATA.X, plant(kind, seed)[0], random_state=0)


@pytest.fixture(scope="module")
def swapped():
    return plant("swap")[0], audit("swap")


@pytest.mark.parametrize("kind", RATES)
def test_planted_errors_are_found_far_above_chance_and_not_below_self_confidence(kind):
    precisions = []
    for seed in range(2):
        Y, observed, wrong = plant(kind, seed)
        issues = audit(kind, seed)
        p = issues.probabilities
        self_confidence = precision(wrong, np.where(Y == 1, 1 - p, p), observed)
        precisions.append((precision(wrong, issues.error_probability, observed), self_confidence))
        assert precisions[-1][0] > 3 * wrong[observed].mean()
    assert np.mean(precisions, axis=0)[0] > 0.98 * np.mean(precisions, axis=0)[1]


@pytest.mark.parametrize("observed_fraction", [0.7, 1.0])
def test_no_error_is_claimed_in_correct_labels_and_few_are_possible(observed_fraction):
    Y = hide_labels(TRUTH, observed_fraction, random_state=0)
    issues = find_label_issues(None, DATA.X, Y, random_state=0)
    lower, upper = issues.total_range
    assert lower == 0
    assert upper < 0.05 * (~np.isnan(Y)).sum()
    assert not issues.weak


@pytest.mark.parametrize("strength", [0.0, 0.3, 1.0])
def test_no_error_is_claimed_in_correct_labels_that_features_predict_weakly(strength):
    rng = np.random.default_rng(0)
    X, W = rng.standard_normal((500, 15)), rng.standard_normal((15, 8))
    Y = rng.random((500, 8)) < 1 / (1 + np.exp(0.85 - strength * X @ (W / np.linalg.norm(W, axis=0))))
    issues = find_label_issues(None, X, Y.astype(int), random_state=0)
    assert issues.total_range[0] == 0
    assert (issues.per_label().at_least == 0).all()
    assert issues.weak == (strength < 1)
    assert ("too weakly" in repr(issues)) == (strength < 1)


@pytest.mark.parametrize("kind", RATES)
def test_the_range_covers_the_number_of_errors_of_all_labels_and_of_each(kind):
    for seed in range(2):
        _, _, wrong = plant(kind, seed)
        issues = audit(kind, seed)
        assert issues.total_range[0] <= wrong.sum() <= issues.total_range[1]
        rows = issues.per_label()
        assert ((rows["at_least"] <= wrong.sum(axis=0) + 1) & (wrong.sum(axis=0) <= rows["at_most"])).mean() > 0.8
        assert np.nansum(issues.error_probability) <= issues.total_range[1] * (1 + 1e-9)


def test_clear_noise_raises_the_lower_end():
    Y = corrupt_labels(TRUTH, "flip", 0.1, random_state=0)
    issues = find_label_issues(None, DATA.X, Y, random_state=0)
    assert 0 < issues.total_range[0] < (TRUTH != Y).sum()


def test_a_verified_random_sample_estimates_the_number_of_errors():
    """The interval covers the truth in at least 85 % of the samples, whatever the audit says."""
    Y, observed, wrong = plant("swap")
    issues = audit("swap")
    covered, estimates = [], []
    for seed in range(200):
        sample = issues.sample(50, random_state=seed)
        n_wrong, lower, upper = issues.estimate(wrong.ravel()[sample.index])
        covered.append(lower <= wrong.sum() <= upper)
        estimates.append(n_wrong)
    assert np.mean(covered) >= 0.85
    assert np.mean(estimates) == pytest.approx(wrong.sum(), rel=0.1)
    assert sample.index.is_unique
    assert len(sample) == 50
    verified = np.zeros(Y.shape, dtype=bool)
    verified[:, 1:] = True
    assert set(issues.mark_verified(verified & observed).sample(50, random_state=0).label) == {0}


def test_identical_samples_are_in_one_fold():
    """With a copy in the training samples, the nearest neighbor would know the observed label."""
    Y = corrupt_labels(TRUTH, "flip", 0.2, random_state=0)
    X, labels = np.repeat(DATA.X, 2, axis=0), np.repeat(Y, 2, axis=0)
    issues = find_label_issues(KNeighborsClassifier(1), X, labels, random_state=0)
    assert ((issues.probabilities > 0.5) != (labels == 1)).mean() > 0.2


def test_scores_come_from_models_not_fitted_on_the_sample():
    """The nearest neighbor of a training sample is itself: its labels would all be predicted as observed."""
    Y, observed, wrong = plant("flip")
    issues = find_label_issues(KNeighborsClassifier(1), DATA.X, Y, random_state=0)
    assert ((issues.probabilities > 0.5) != (Y == 1))[observed].mean() > wrong[observed].mean()
    assert precision(wrong, issues.error_probability, observed) > 1.5 * wrong[observed].mean()


def test_missing_entries_are_never_read(swapped):
    Y, issues = swapped
    assert np.isnan(issues.error_probability[np.isnan(Y)]).all()
    assert not np.isnan(issues.error_probability[~np.isnan(Y)]).any()
    poisoned = np.where(np.isnan(Y), 77.0, Y)
    again = find_label_issues(None, DATA.X, poisoned, mask=~np.isnan(Y), random_state=0)
    np.testing.assert_array_equal(again.error_probability, issues.error_probability)
    assert len(issues.table()) == (~np.isnan(Y)).sum()
    rows = issues.per_label()
    assert rows.observed.tolist() == (~np.isnan(Y)).sum(axis=0).tolist()
    assert rows.positives.tolist() == (Y == 1).sum(axis=0).tolist()
    assert (rows.at_least <= rows.at_most).all()


def test_order_of_samples_and_labels_does_not_matter():
    Y, _, _ = plant("flip")
    folds = list(MultilabelStratifiedKFold(4, random_state=0).split(DATA.X, Y))
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(len(Y)), rng.permutation(Y.shape[1])
    place = np.argsort(rows)
    estimator = MaskedLogistic(C=3, tol=1e-10)
    issues = find_label_issues(estimator, DATA.X, Y, cv=folds)
    moved = find_label_issues(
        estimator, DATA.X[rows], Y[rows][:, columns], cv=[(place[train], place[test]) for train, test in folds]
    )
    np.testing.assert_allclose(
        moved.error_probability, issues.error_probability[rows][:, columns], rtol=1e-2, atol=1e-4
    )


def test_units_of_features_do_not_matter(swapped):
    Y, issues = swapped
    units = np.logspace(-2, 3, DATA.X.shape[1])
    moved = find_label_issues(None, pd.DataFrame(units * DATA.X - 5), Y, random_state=0)
    np.testing.assert_allclose(moved.error_probability, issues.error_probability, atol=1e-6)


def test_names_are_kept():
    Y, _, _ = plant("flip")
    names, index = list("abcdef"), [f"song {i}" for i in range(len(Y))]
    issues = find_label_issues(MaskedLogistic(), DATA.X, pd.DataFrame(Y, index=index, columns=names), cv=2)
    top = issues.table(top=5)
    assert list(top.columns) == ["sample", "label", "given", "probability", "error_probability", "kind"]
    for row in top.itertuples():
        i, j = index.index(row.sample), names.index(row.label)
        assert row.error_probability == issues.error_probability[i, j]
        assert row.given == Y[i, j]
        assert row.kind == ("false positive" if row.given else "false negative")
    assert top["error_probability"].is_monotonic_decreasing
    assert issues.per_label().label.tolist() == names
    assert find_label_issues(MaskedLogistic(), DATA.X, Y, cv=2, label_names=names).label_names == names


@pytest.mark.parametrize("estimator", [LogisticRegression(), GLOCAL(random_state=0)], ids=["per label", "GLOCAL"])
def test_other_estimators(estimator):
    Y, observed, wrong = plant("flip")
    issues = find_label_issues(estimator, sp.csr_array(DATA.X), Y, cv=3, random_state=0)
    assert precision(wrong, issues.error_probability, observed) > 3 * wrong[observed].mean()


def test_repeated_folds_are_averaged():
    Y, _, _ = plant("flip")
    splits = [split for seed in (0, 1) for split in MultilabelStratifiedKFold(3, random_state=seed).split(DATA.X, Y)]
    repeated = find_label_issues(MaskedLogistic(), DATA.X, Y, cv=splits)
    parts = [find_label_issues(MaskedLogistic(), DATA.X, Y, cv=splits[i : i + 3]) for i in (0, 3)]

    def raw(issues):  # scores before the calibration, which is increasing
        calibration = issues.noise.calibration
        return (issues.log_odds - calibration.intercepts_) / calibration.slopes_

    np.testing.assert_allclose(raw(repeated), (raw(parts[0]) + raw(parts[1])) / 2, atol=1e-8)


def test_a_vector_of_words():
    y = np.where(TRUTH[:, 0] == 1, "sad", "calm")
    issues = find_label_issues(MaskedLogistic(), DATA.X, y, cv=2)
    assert set(issues.table()["given"]) == {"sad", "calm"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"estimator": "logistic"}, "estimator must be None or an estimator with a fit method, got 'logistic'"),
        ({"X": DATA.X[:-1]}, "X and Y must have the same number of samples, got inconsistent numbers: 599 and 600"),
        ({"Y": None}, "Y must be a label matrix, got None"),
        ({"Y": np.full(TRUTH.shape, 7)}, "Y "),
        ({"trusted": np.ones(3, bool)}, r"trusted must have shape \(600, 6\) or \(600,\), got \(3,\)"),
        ({"trusted": np.full(600, 0.5)}, "trusted must be an array of bool, got values of type float64"),
        ({"cv": 1}, "cv must be an integer of at least 2.*got 1"),
        ({"cv": [(np.arange(300), np.arange(300, 599))]}, "cv must test each sample, but leaves out 301 of 600, got "),
        ({"label_names": ["a"]}, "label_names must have one name for each of the 6 labels, got \\['a'\\]"),
    ],
)
def test_invalid_input_is_named(change, message):
    arguments = {"estimator": None, "X": DATA.X, "Y": TRUTH, **change}
    with pytest.raises(ValueError, match=message):
        find_label_issues(**arguments)


def test_tables_by_threshold(swapped):
    _, issues = swapped
    table = issues.table(threshold=0.5)
    assert len(table) == (issues.error_probability >= 0.5).sum() > 0
    assert len(issues.table(top=2, threshold=0.5)) == 2
    with pytest.raises(ValueError, match=r"threshold must be in \[0, 1\], got 2"):
        issues.table(threshold=2)
    with pytest.raises(ValueError, match=r"top must be an integer of at least 0, got -1"):
        issues.table(top=-1)


def test_the_representation_states_the_range(swapped):
    _, issues = swapped
    lower, upper = issues.total_range
    assert repr(issues) == (
        f"LabelIssues of 600 samples and 6 labels: of 2524 observed entries, {lower:.0f} to {upper:.0f} are wrong. "
        "The features predict the labels too weakly to judge them"
    )
    assert issues._repr_html_().count("<tr>") == 11


def test_wrong_positives_are_found_without_observed_negatives():
    rng = np.random.default_rng(0)
    wrong = (TRUTH == 0) & (rng.random(TRUTH.shape) < 0.02)
    observed = ((TRUTH == 1) | wrong) & (rng.random(TRUTH.shape) < 0.6)
    Y = np.where(observed, 1, np.nan)
    with pytest.warns(LabelWarning, match="Labels 0, 1, 2, 3, 4, 5: .* are used as negatives") as caught:
        issues = find_label_issues(None, DATA.X, Y, random_state=0)
    assert len(caught) == 1
    np.testing.assert_array_equal(np.isnan(issues.error_log_odds), ~observed)
    n_wrong = (wrong & observed).sum()
    assert precision(wrong, issues.error_probability, observed) > 5 * n_wrong / observed.sum()
    assert issues.total_range[0] <= n_wrong <= issues.total_range[1]


def test_labels_with_negatives_keep_their_range_beside_positive_only_labels():
    Y = corrupt_labels(TRUTH, "flip", 0.03, random_state=0)
    Y[:, 3:] = np.where(TRUTH[:, 3:] & (np.random.default_rng(0).random((600, 3)) < 0.5), 1, np.nan)
    with pytest.warns(LabelWarning):
        mixed = find_label_issues(MaskedLogistic(), DATA.X, Y, cv=[*KFold(3).split(Y)])
    alone = find_label_issues(MaskedLogistic(), DATA.X, Y[:, :3], cv=[*KFold(3).split(Y)])
    np.testing.assert_allclose(mixed.label_range[:3], alone.label_range)
    assert mixed.noise.evidence == pytest.approx(alone.noise.evidence)


def test_the_quality_of_a_sample_is_the_probability_that_its_labels_are_correct(swapped):
    Y, issues = swapped
    p = np.where(np.isnan(Y), 0, issues.error_probability)
    np.testing.assert_allclose(issues.sample_quality(), np.prod(1 - p, axis=1))
    wrong = ((TRUTH != Y) & ~np.isnan(Y)).any(axis=1)
    assert average_precision_score(wrong, -issues.sample_quality()) > 1.5 * wrong.mean()


@pytest.mark.parametrize("kind", ["permute", "swap", "drop"])
def test_trusted_entries_are_correct_and_determine_the_error_probabilities(kind):
    Y, observed, wrong = plant(kind)
    verified = np.arange(600) < 100
    corrected = np.where(verified[:, None] & observed, TRUTH, Y)
    left = wrong & ~verified[:, None]
    issues = find_label_issues(None, DATA.X, corrected, trusted=verified, random_state=0)
    assert (issues.error_probability[verified[:, None] & observed] == 0).all()
    assert (issues.sample_quality()[verified] == 1).all()
    assert not np.isnan(issues.error_probability[observed]).any()
    assert issues.noise.identified
    assert np.nansum(issues.error_probability) == pytest.approx(left.sum(), rel=0.5)
    assert precision(left, issues.error_probability, observed) > 3 * left[observed].mean()


def test_a_few_trusted_entries_of_one_class_change_only_their_error_probability():
    Y, observed, _ = plant("flip")
    trusted = np.zeros(Y.shape, bool)
    trusted[np.flatnonzero(Y[:, 0] == 0)[:3], 0] = True
    plain, issues = audit("flip"), find_label_issues(None, DATA.X, Y, trusted=trusted, random_state=0)
    assert (issues.error_probability[trusted] == 0).all()
    rest = observed & ~trusted
    np.testing.assert_allclose(issues.error_probability[rest], plain.error_probability[rest], atol=0.05)

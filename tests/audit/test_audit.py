"""The audit: it finds planted errors, ignores missing labels, and keeps names."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.special import expit
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier

from spmld import GLOCAL, MaskedLogistic
from spmld.audit import find as find_module
from spmld.audit import find_label_issues
from spmld.datasets import make_planted
from spmld.labels import LabelWarning, corrupt_labels, hide_labels
from spmld.model_selection import MultilabelStratifiedKFold
from studies.annotated_texts import LANGUAGES, contradicted, load_annotated_texts

FREQUENCIES = np.geomspace(0.3, 0.05, 6)
DATA = make_planted(600, 30, 6, n_groups=1, noise=0.1, frequencies=FREQUENCIES, random_state=0)
TRUTH = DATA.Y
RATES = {"permute": 0.3, "swap": 0.4, "drop": 0.4, "flip": 0.05}


def plant(kind, seed=0, observed_fraction=0.7):
    Y = corrupt_labels(TRUTH, kind, RATES[kind], random_state=seed)
    Y = hide_labels(Y, observed_fraction, random_state=seed)
    return Y, ~np.isnan(Y), (TRUTH != Y) & ~np.isnan(Y)


def precision(wrong, label_quality, observed):
    return average_precision_score(wrong[observed], -label_quality[observed])


@cache
def audit(kind, seed=0):
    return find_label_issues(None, DATA.X, plant(kind, seed)[0], random_state=0)


@pytest.fixture(scope="module")
def swapped():
    return plant("swap")[0], audit("swap")


@pytest.mark.parametrize("kind", RATES)
def test_planted_errors_are_found_far_above_chance(kind):
    for seed in range(2):
        _, observed, wrong = plant(kind, seed)
        assert precision(wrong, audit(kind, seed).label_quality, observed) > 3 * wrong[observed].mean()


@pytest.mark.parametrize("kind", RATES)
def test_entries_are_ordered_by_self_confidence_whatever_the_errors_are(kind):
    """The probability of the observed label, of labels that are present, that are absent, and of both."""
    Y, observed, _ = plant(kind)
    issues = audit(kind)
    p = issues.probabilities
    confidence = np.where(Y == 1, p, 1 - p)
    for listed, entries in (("present", Y == 1), ("absent", Y == 0), ("both", observed)):
        order = issues.order(listed)
        assert set(order) == set(np.flatnonzero(entries))
        assert (np.diff(confidence.flat[order]) >= -1e-12).all()
    assert (issues.order() == issues.order("both")).all()
    with pytest.raises(ValueError, match="kind must be one of present, absent, both, got 'wrong'"):
        issues.order("wrong")


def test_dropped_positives_are_in_the_list_of_absent_labels():
    Y, _, wrong = plant("drop")
    issues = audit("drop")
    absent = issues.order("absent")
    assert wrong.flat[absent[:100]].mean() > 2 * wrong.flat[issues.order()[:100]].mean()
    assert not wrong[Y == 1].any()


@pytest.mark.parametrize("language", LANGUAGES)
def test_errors_of_people_are_found_as_by_self_confidence(language):
    """The labels of one annotator, some of which the majority of the others contradicts."""
    try:
        data = load_annotated_texts(language, 2000)
    except FileNotFoundError as error:
        pytest.skip(f"real data: {error}")
    X = TfidfVectorizer(analyzer="char", ngram_range=(2, 4), min_df=3).fit_transform(data.texts)
    for annotator in range(2):
        Y, wrong = data.answers[annotator], contradicted(data.answers, annotator)
        issues = find_label_issues(None, X, Y, random_state=0)
        known = ~np.isnan(wrong)
        p = issues.probabilities
        confidence = np.where(Y == 1, p, 1 - p)
        for listed, entries in (("present", known & (Y == 1)), ("absent", known & (Y == 0)), ("both", known)):
            order = [place for place in issues.order(listed) if known.flat[place]]
            found = average_precision_score(wrong.flat[order], -np.arange(len(order)))
            assert found >= precision(wrong == 1, confidence, entries) - 0.01
            assert found > np.mean(wrong.flat[order])
            first = np.argsort(np.where(entries, confidence, 2), axis=None)[:100]
            assert wrong.flat[order[:100]].mean() >= wrong.flat[first].mean() - 0.03


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
    assert issues.weak == (strength < 1)
    assert ("They do not confirm most of the positives" in repr(issues)) == (strength < 1)


def test_no_error_is_claimed_in_correct_labels_that_differ_in_strength():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((800, 10))
    strong = 8 * X @ rng.standard_normal((10, 4)) / np.sqrt(10) - 4
    log_odds = np.hstack([strong, np.full((800, 20), np.log(0.03 / 0.97))])
    issues = find_label_issues(None, X, (rng.random(log_odds.shape) < expit(log_odds)).astype(int), random_state=0)
    assert issues.total_range[0] == 0


def test_the_range_covers_causes_of_their_own_and_errors_which_look_the_same():
    """8 % of the negatives become positive: by an unobserved cause, or by mistake."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((800, 10))
    caused = rng.random((800, 6)) < expit(6 * X @ rng.standard_normal((10, 6)) / np.sqrt(10) - 3)
    Y = caused | (rng.random(caused.shape) < 0.08)
    lower, upper = find_label_issues(None, X, Y.astype(int), random_state=0).total_range
    assert lower <= 0 < (Y & ~caused).sum() <= upper


@pytest.mark.parametrize("kind", RATES)
def test_the_range_covers_the_number_of_errors_of_all_labels_and_of_each(kind):
    for seed in range(2):
        _, _, wrong = plant(kind, seed)
        issues = audit(kind, seed)
        assert issues.total_range[0] <= wrong.sum() <= issues.total_range[1]
        assert (wrong.sum(axis=0) <= issues.per_label()["at_most"]).mean() > 0.8


@pytest.mark.parametrize("rate", [0.0, 0.1])
def test_verified_entries_raise_the_lower_end_if_others_are_wrong(rate):
    Y = corrupt_labels(TRUTH, "flip", rate, random_state=0) if rate else TRUTH
    verified = np.arange(600) < 200
    corrected = np.where(verified[:, None], TRUTH, Y)
    issues = find_label_issues(None, DATA.X, corrected, trusted=verified, random_state=0)
    n_wrong = (corrected != TRUTH).sum()
    assert find_label_issues(None, DATA.X, corrected, random_state=0).total_range[0] == 0
    assert 0.2 * n_wrong <= issues.total_range[0] <= n_wrong


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
    assert precision(wrong, issues.label_quality, observed) > 1.5 * wrong[observed].mean()


def test_missing_entries_are_never_read(swapped):
    Y, issues = swapped
    assert np.isnan(issues.label_quality[np.isnan(Y)]).all()
    assert not np.isnan(issues.label_quality[~np.isnan(Y)]).any()
    poisoned = np.where(np.isnan(Y), 77.0, Y)
    again = find_label_issues(None, DATA.X, poisoned, mask=~np.isnan(Y), random_state=0)
    np.testing.assert_array_equal(again.label_quality, issues.label_quality)
    assert len(issues.table()) == (~np.isnan(Y)).sum()
    rows = issues.per_label()
    assert rows.observed.tolist() == (~np.isnan(Y)).sum(axis=0).tolist()
    assert rows.positives.tolist() == (Y == 1).sum(axis=0).tolist()


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
    np.testing.assert_allclose(moved.label_quality, issues.label_quality[rows][:, columns], rtol=1e-2, atol=1e-4)


def test_units_of_features_do_not_matter(swapped):
    Y, issues = swapped
    units = np.logspace(-2, 3, DATA.X.shape[1])
    moved = find_label_issues(None, pd.DataFrame(units * DATA.X - 5), Y, random_state=0)
    np.testing.assert_allclose(moved.label_quality, issues.label_quality, atol=1e-6)


def test_names_are_kept():
    Y, _, _ = plant("flip")
    names, index = list("abcdef"), [f"song {i}" for i in range(len(Y))]
    issues = find_label_issues(MaskedLogistic(), DATA.X, pd.DataFrame(Y, index=index, columns=names), cv=2)
    top = issues.table(top=5)
    assert list(top.columns) == ["sample", "label", "given", "kind", "label_quality"]
    for row in top.itertuples():
        i, j = index.index(row.sample), names.index(row.label)
        assert row.label_quality == issues.label_quality[i, j]
        assert row.given == Y[i, j]
        assert row.kind == ("present" if row.given else "absent")
    assert top["label_quality"].is_monotonic_increasing
    assert issues.per_label().label.tolist() == names
    assert find_label_issues(MaskedLogistic(), DATA.X, Y, cv=2, label_names=names).label_names == names


@pytest.mark.parametrize("estimator", [LogisticRegression(), GLOCAL(random_state=0)], ids=["per label", "GLOCAL"])
def test_other_estimators(estimator):
    Y, observed, wrong = plant("flip")
    issues = find_label_issues(estimator, sp.csr_array(DATA.X), Y, cv=3, random_state=0)
    assert precision(wrong, issues.label_quality, observed) > 3 * wrong[observed].mean()


def test_repeated_folds_are_averaged(monkeypatch):
    Y, _, _ = plant("flip")
    splits = [split for seed in (0, 1) for split in MultilabelStratifiedKFold(3, random_state=seed).split(DATA.X, Y)]
    monkeypatch.setattr(find_module, "label_issues", lambda labels, scores, **options: scores)
    repeated, *parts = (
        find_label_issues(MaskedLogistic(), DATA.X, Y, cv=cv) for cv in (splits, splits[:3], splits[3:])
    )
    np.testing.assert_allclose(repeated, np.mean(parts, axis=0), atol=1e-8)


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


def test_tables_of_one_kind(swapped):
    Y, issues = swapped
    for kind, sign in (("present", 1), ("absent", 0)):
        table = issues.table(kind=kind)
        assert (table.kind == kind).all()
        assert table.index.tolist() == issues.order(kind).tolist()
        assert len(table) == (sign == Y).sum()
        assert issues.table(2, kind=kind).equals(table[:2])
    with pytest.raises(ValueError, match=r"top must be an integer of at least 0, got -1"):
        issues.table(top=-1)


def test_the_representation_states_the_range(swapped):
    _, issues = swapped
    lower, upper = issues.total_range
    assert repr(issues) == (
        f"LabelIssues of 600 samples and 6 labels: of 2524 observed entries, {lower:.0f} to {upper:.0f} are errors "
        "that these features could reveal. They do not confirm most of the positives"
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
    np.testing.assert_array_equal(np.isnan(issues.quality_log_odds), ~observed)
    n_wrong = (wrong & observed).sum()
    assert precision(wrong, issues.label_quality, observed) > 5 * n_wrong / observed.sum()
    assert issues.total_range[0] <= n_wrong <= issues.total_range[1]


def test_labels_with_negatives_keep_their_range_beside_positive_only_labels():
    Y = corrupt_labels(TRUTH, "flip", 0.03, random_state=0)
    Y[:, 3:] = np.where(TRUTH[:, 3:] & (np.random.default_rng(0).random((600, 3)) < 0.5), 1, np.nan)
    with pytest.warns(LabelWarning):
        mixed = find_label_issues(MaskedLogistic(), DATA.X, Y, cv=[*KFold(3).split(Y)])
    alone = find_label_issues(MaskedLogistic(), DATA.X, Y[:, :3], cv=[*KFold(3).split(Y)])
    np.testing.assert_allclose(mixed.label_limits[:3], alone.label_limits)
    np.testing.assert_allclose(mixed.label_quality[:, :3], alone.label_quality)


def test_the_quality_of_a_sample_is_the_product_of_the_quality_of_its_labels(swapped):
    Y, issues = swapped
    quality = np.where(np.isnan(Y), 1, issues.label_quality)
    np.testing.assert_allclose(issues.sample_quality(), np.prod(quality, axis=1))
    np.testing.assert_allclose(issues.sample_quality("absent"), np.prod(quality, axis=1, where=Y == 0))
    wrong = ((TRUTH != Y) & ~np.isnan(Y)).any(axis=1)
    assert average_precision_score(wrong, -issues.sample_quality()) > 1.5 * wrong.mean()


@pytest.mark.parametrize("kind", ["permute", "swap", "drop"])
def test_trusted_entries_are_correct_and_determine_the_probabilities_that_others_are(kind):
    Y, observed, wrong = plant(kind)
    verified = np.arange(600) < 100
    corrected = np.where(verified[:, None] & observed, TRUTH, Y)
    left = wrong & ~verified[:, None]
    issues = find_label_issues(None, DATA.X, corrected, trusted=verified, random_state=0)
    assert (issues.label_quality[verified[:, None] & observed] == 1).all()
    assert (issues.sample_quality()[verified] == 1).all()
    assert not np.isnan(issues.label_quality[observed]).any()
    assert issues.rates is not None
    assert np.nansum(1 - issues.label_quality) == pytest.approx(left.sum(), rel=0.5)
    assert "by the rates of the verified entries" in issues.summary()
    assert precision(left, issues.label_quality, observed) > 3 * left[observed].mean()


def test_a_few_trusted_entries_of_one_class_change_only_their_quality():
    Y, observed, _ = plant("flip")
    trusted = np.zeros(Y.shape, bool)
    trusted[np.flatnonzero(Y[:, 0] == 0)[:3], 0] = True
    plain, issues = audit("flip"), find_label_issues(None, DATA.X, Y, trusted=trusted, random_state=0)
    assert (issues.label_quality[trusted] == 1).all()
    rest = observed & ~trusted
    np.testing.assert_allclose(issues.label_quality[rest], plain.label_quality[rest], atol=0.05)

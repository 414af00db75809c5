"""The audit of out-of-fold scores: forms of scores, missing and verified entries, and correct labels."""

from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.model_selection import cross_val_predict as sklearn_cross_val_predict
from sklearn.multioutput import MultiOutputClassifier

from spmld import MaskedLogistic
from spmld.audit import find as find_module
from spmld.audit import find_label_issues, label_issues
from spmld.datasets import make_planted
from spmld.labels import LabelWarning, corrupt_labels
from spmld.model_selection import cross_val_predict

N, L = 800, 5
RNG = np.random.default_rng(0)
LOG_ODDS = RNG.normal(-2, 5, size=(N, L))
"""Scores of a strong model: the log-odds from which the correct labels are drawn."""
TRUTH = (RNG.random((N, L)) < expit(LOG_ODDS)).astype(float)
WRONG = RNG.random((N, L)) < 0.05
Y = np.where(WRONG, 1 - TRUTH, TRUTH)
OBSERVED = RNG.random((N, L)) < 0.7


def same(a, b, rtol=0.0, atol=0.0):
    for name in ("log_odds", "quality_log_odds", "label_limits", "total_range"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=rtol, atol=atol, err_msg=name)
    assert a.weak == b.weak


def test_all_attributes_are_those_of_find_label_issues_for_its_out_of_fold_scores(monkeypatch):
    data = make_planted(400, n_labels=4, noise=0.1, observed_fraction=0.8, random_state=0)
    labels = corrupt_labels(data.Y, "flip", 0.1, random_state=0)
    passed = []
    monkeypatch.setattr(find_module, "label_issues", lambda *args, **options: passed.append((args, options)))
    find_label_issues(None, data.X, labels, random_state=0)
    monkeypatch.undo()
    (_, scores), _ = passed[0]
    issues = find_label_issues(None, data.X, labels, random_state=0)
    again = label_issues(labels, scores)
    same(again, issues, rtol=1e-9)
    assert {f.name for f in fields(issues)} == {f.name for f in fields(again)}
    assert (again.label_names, again.sample_names) == (issues.label_names, issues.sample_names)


@pytest.mark.parametrize("library", ["scikit-learn", "spmld"])
def test_probabilities_of_cross_val_predict_give_the_issues_of_find_label_issues(library):
    if library == "scikit-learn":
        data = make_planted(300, n_labels=3, random_state=0)
        estimator = LogisticRegression()
        model = MultiOutputClassifier(estimator)
        predict = sklearn_cross_val_predict
    else:
        data = make_planted(300, n_labels=3, observed_fraction=0.8, random_state=0)
        estimator = model = MaskedLogistic()
        predict = cross_val_predict
    p = predict(model, data.X, data.Y, cv=KFold(3), method="predict_proba")
    found = find_label_issues(estimator, data.X, data.Y, cv=KFold(3))
    same(label_issues(data.Y, p, response_method="predict_proba"), found, rtol=1e-6, atol=1e-9)


def test_all_forms_of_scores_are_the_same():
    torch = pytest.importorskip("torch")
    expected = label_issues(Y, LOG_ODDS)
    for scores in (LOG_ODDS.tolist(), pd.DataFrame(LOG_ODDS), torch.tensor(LOG_ODDS), sp.csr_array(LOG_ODDS)):
        same(label_issues(Y, scores), expected)
    p = expit(LOG_ODDS)
    by_label = [np.stack([1 - q, q], axis=1) for q in p.T]
    for scores in (p, by_label, tuple(by_label)):
        same(label_issues(Y, scores, response_method="predict_proba"), expected, rtol=1e-6, atol=1e-6)
    same(label_issues(Y, logit(p)), expected, rtol=1e-6, atol=1e-6)


def test_a_vector_of_words_has_the_scores_of_the_positive_word():
    words = np.where(Y[:, 0] == 1, "ja", "nein")
    expected = label_issues(Y[:, 0], LOG_ODDS[:, 0])
    p = expit(LOG_ODDS[:, 0])
    same(label_issues(words, LOG_ODDS[:, 0]), expected)
    # The columns are in the order of the sorted words.
    both = np.stack([p, 1 - p], axis=1)
    same(label_issues(words, both, response_method="predict_proba"), expected, rtol=1e-6, atol=1e-6)


def test_a_label_of_one_class_has_one_column():
    both = [np.stack([1 - q, q], axis=1) for q in expit(LOG_ODDS.T)]
    for value in (0.0, 1.0):
        labels = Y.copy()
        labels[:, 0] = value
        with pytest.warns(LabelWarning, match="Label 0"):
            issues = label_issues(labels, [np.ones((N, 1)), *both[1:]], response_method="predict_proba")
        p = expit(LOG_ODDS)
        p[:, 0] = value
        with pytest.warns(LabelWarning, match="Label 0"):
            same(issues, label_issues(labels, p, response_method="predict_proba"), rtol=1e-6, atol=1e-6)


def test_slope_and_offset_of_the_scores_do_not_matter():
    same(label_issues(Y, 3 * LOG_ODDS + 7), label_issues(Y, LOG_ODDS), rtol=1e-4, atol=1e-4)


def test_permuted_samples_and_labels_permute_the_result():
    rows = np.random.default_rng(1).permutation(N)
    columns = np.random.default_rng(2).permutation(L)
    labels = np.where(OBSERVED, Y, np.nan)
    issues = label_issues(labels, LOG_ODDS)
    moved = label_issues(labels[rows][:, columns], LOG_ODDS[rows][:, columns])
    np.testing.assert_allclose(moved.label_quality, issues.label_quality[rows][:, columns], rtol=1e-4)
    np.testing.assert_allclose(moved.label_limits, issues.label_limits[columns], rtol=1e-4)
    np.testing.assert_allclose(moved.total_range, issues.total_range, rtol=1e-4)


@pytest.mark.parametrize("poison", [np.nan, 1e300, -1e300, np.inf])
@pytest.mark.parametrize("trusted", [None, np.arange(N) < 200], ids=["no verified entries", "verified entries"])
def test_missing_entries_are_never_read(poison, trusted):
    labels = np.where(OBSERVED, Y, np.nan)
    issues = label_issues(labels, LOG_ODDS, trusted=trusted)
    assert (np.isnan(issues.quality_log_odds) == ~OBSERVED).all()
    poisoned = np.where(OBSERVED, LOG_ODDS, poison)
    again = label_issues(labels, poisoned, trusted=trusted)
    np.testing.assert_array_equal(again.quality_log_odds, issues.quality_log_odds)
    np.testing.assert_array_equal(again.log_odds[OBSERVED], issues.log_odds[OBSERVED])
    np.testing.assert_array_equal(again.label_limits, issues.label_limits)
    masked = label_issues(np.where(OBSERVED, Y, 1 - Y), LOG_ODDS, mask=OBSERVED, trusted=trusted)
    np.testing.assert_array_equal(masked.quality_log_odds, issues.quality_log_odds)


def test_verified_entries_are_correct_and_determine_the_rates():
    verified = np.arange(N) < 300
    corrected = np.where(verified[:, None], TRUTH, Y)
    issues = label_issues(corrected, LOG_ODDS, trusted=verified)
    assert (issues.label_quality[verified] == 1).all()
    assert issues.rates is not None
    assert (1 - issues.label_quality).sum() == pytest.approx(WRONG[~verified].sum(), rel=0.3)
    lower, upper = issues.total_range
    assert 0 < lower <= WRONG[~verified].sum() <= upper


def test_a_strong_model_finds_the_errors_and_none_in_correct_labels():
    issues = label_issues(Y, LOG_ODDS)
    assert issues.total_range[0] == 0
    assert WRONG.sum() < issues.total_range[1] < 3 * WRONG.sum()
    assert WRONG.flat[issues.order()[:100]].mean() > 0.9
    correct = label_issues(TRUTH, LOG_ODDS)
    assert correct.total_range[0] == 0
    assert correct.total_range[1] < 0.05 * N * L


def test_names_of_labels_and_samples():
    frame = pd.DataFrame(Y, index=[f"song {i}" for i in range(N)], columns=list("abcde"))
    issues = label_issues(frame, pd.DataFrame(LOG_ODDS))
    assert issues.label_names == list("abcde")
    assert issues.sample_names == list(frame.index)
    assert label_issues(Y, pd.DataFrame(LOG_ODDS, index=frame.index)).sample_names == list(frame.index)
    named = label_issues(Y, LOG_ODDS, label_names=list("vwxyz"), sample_names=range(10, N + 10))
    assert named.label_names == list("vwxyz")
    assert named.sample_names == list(range(10, N + 10))
    assert label_issues(Y, LOG_ODDS).sample_names == list(range(N))


def test_scores_that_look_like_probabilities_warn():
    with pytest.warns(UserWarning, match="pass response_method='predict_proba' if they are probabilities"):
        label_issues(Y, expit(LOG_ODDS))


FRAME = pd.DataFrame(Y, columns=list("abcde"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Y": None}, "Y must be a label matrix, got None"),
        ({"scores": LOG_ODDS[:-1]}, r"scores must have shape \(800, 5\), or be a list of 5 arrays .*, got \(799, 5\)"),
        ({"scores": LOG_ODDS[:, 0]}, r"scores must have shape \(800, 5\).*got \(800,\)"),
        (
            {"scores": [np.ones((N, 2))] * 4},
            r"scores must .* a list of 5 arrays of shape \(800, 2\), got \[\(800, 2\),",
        ),
        ({"scores": [np.ones((N, 3))] * 5}, r"scores must have shape .*got \[\(800, 3\)"),
        ({"scores": "scores"}, "scores must be an array of real numbers, got 'scores'"),
        (
            {"scores": np.where(WRONG, np.nan, LOG_ODDS)},
            "scores must be finite where labels are observed, got NaN or i",
        ),
        (
            {"scores": np.ma.array(LOG_ODDS, mask=WRONG)},
            "scores is a masked array with .* masked values; pass scores.f",
        ),
        ({"response_method": "predict_proba"}, r"scores must be probabilities in \[0, 1\] .*, got values from -.* to "),
        (
            {"response_method": "predict"},
            "response_method must be 'decision_function' or 'predict_proba', got 'predict'",
        ),
        ({"sample_names": ["a"]}, r"sample_names must have one name for each of the 800 samples, got \['a'\]"),
        ({"label_names": "abcde"}, "label_names must have one name for each of the 5 labels, got 'abcde'"),
        ({"trusted": np.ones(3, bool)}, r"trusted must have shape \(800, 5\) or \(800,\), got \(3,\)"),
        (
            {"Y": FRAME, "scores": pd.DataFrame(LOG_ODDS, columns=list("edcba"))},
            "scores must have the columns of Y in the same order, got e, d, c, b, a for a, b, c, d, e",
        ),
        ({"Y": FRAME, "scores": pd.DataFrame(LOG_ODDS)[::-1]}, "scores must have the index of Y in the same order"),
    ],
)
def test_invalid_input_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        label_issues(**{"Y": Y, "scores": LOG_ODDS, **change})

"""Splitters of samples: partitions of the requested sizes, and their use in scikit-learn."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.special import expit
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV, cross_validate

from spmld import SelfPacedEnsemble
from spmld.labels import read_labels
from spmld.metrics import log_loss
from spmld.model_selection import MultilabelStratifiedKFold
from spmld.model_selection.folds import split_samples
from spmld.model_selection.samples import Samples
from spmld.model_selection.similarity import are_copies, find_similar

from .splits_cases import labels_and_folds, make_labels


@given(labels_and_folds(), st.booleans())
def test_each_sample_is_tested_once_and_sizes_differ_by_at_most_one(case, shuffle):
    Y, k, seed = case
    splits = list(MultilabelStratifiedKFold(k, shuffle=shuffle, random_state=seed if shuffle else None).split(Y, Y))
    assert_array_equal(np.sort(np.concatenate([test for _, test in splits])), np.arange(len(Y)))
    sizes = [len(test) for _, test in splits]
    assert max(sizes) - min(sizes) <= 1
    for train, test in splits:
        assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(len(Y)))


@given(labels_and_folds(), st.integers(0, 1000))
def test_groups_stay_together_and_no_fold_is_empty(case, seed):
    Y, k, _ = case
    groups = np.random.default_rng(seed).integers(k + 2, size=len(Y))
    groups[:k] = np.arange(k)
    splits = list(MultilabelStratifiedKFold(k, random_state=seed).split(Y, Y, groups))
    assert_array_equal(np.sort(np.concatenate([test for _, test in splits])), np.arange(len(Y)))
    for train, test in splits:
        assert len(test)
        assert not set(groups[train]) & set(groups[test])


@pytest.mark.parametrize("form", [list, pd.DataFrame, sp.csr_matrix, lambda Y: 2 * Y - 1, lambda Y: Y.astype(bool)])
def test_every_form_of_labels_gives_the_same_folds(form):
    Y = make_labels(60, 4, low=0.2)
    expected = list(MultilabelStratifiedKFold(3, random_state=0).split(Y, Y))
    for (train, test), (train_, test_) in zip(
        expected, MultilabelStratifiedKFold(3, random_state=0).split(None, form(Y)), strict=True
    ):
        assert_array_equal(train, train_)
        assert_array_equal(test, test_)


def test_a_vector_is_one_label():
    y = np.array(["no", "yes"])[(np.arange(50) % 5 == 0).astype(int)]
    for _, test in MultilabelStratifiedKFold(5, random_state=0).split(y, y):
        assert (y[test] == "yes").sum() == 2


def test_folds_depend_on_the_seed():
    Y = make_labels(200, 5)
    folds = [[tuple(t) for _, t in MultilabelStratifiedKFold(4, random_state=s).split(Y, Y)] for s in (0, 0, 1)]
    assert folds[0] == folds[1] != folds[2]
    fixed = MultilabelStratifiedKFold(4, shuffle=False)
    assert [tuple(t) for _, t in fixed.split(Y, Y)] == [tuple(t) for _, t in fixed.split(Y, Y)]


class Prior(ClassifierMixin, BaseEstimator):
    """Predicts the observed fraction of positives of each label, times a factor."""

    def __init__(self, factor=1.0):
        self.factor = factor

    def fit(self, X, Y):
        self.fraction_ = np.nanmean(Y, axis=0)
        return self

    def score(self, X, Y):
        return -np.nanmean((Y - self.factor * self.fraction_) ** 2)


def test_scikit_learns_searches_work_with_missing_labels():
    Y = make_labels(200, 4, missing=0.3, low=0.2)
    groups = np.arange(200) // 4
    cv = MultilabelStratifiedKFold(4, random_state=0)
    search = GridSearchCV(Prior(), {"factor": [0.0, 1.0]}, cv=cv).fit(Y, Y, groups=groups)
    assert search.best_params_ == {"factor": 1.0}
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    indices = cross_validate(Prior(), Y, Y, cv=cv, groups=groups, return_indices=True)["indices"]
    assert len(indices["test"]) == 4
    for train, test in zip(indices["train"], indices["test"], strict=True):
        assert not set(groups[train]) & set(groups[test])


def test_groups_are_routed_by_scikit_learn():
    Y, groups = make_labels(100, 3, missing=0.2, low=0.2), np.arange(100) // 4
    with config_context(enable_metadata_routing=True):
        indices = cross_validate(
            Prior(),
            Y,
            Y,
            cv=MultilabelStratifiedKFold(4, random_state=0),
            params={"groups": groups},
            return_indices=True,
        )["indices"]
    for train, test in zip(indices["train"], indices["test"], strict=True):
        assert not set(groups[train]) & set(groups[test])


def test_copies_agree_in_their_labels_and_samples_of_categories_do_not():
    rng = np.random.default_rng(0)
    signs = np.where(rng.random((200, 5)) < 0.3, 1, -1).astype(np.int8)
    groups = np.arange(400) % 200
    copied = np.vstack([signs, signs])
    assert are_copies(groups, copied)
    copied[rng.random(copied.shape) < 0.4] = 0  # missing entries are not compared
    assert are_copies(groups, copied)
    drawn = np.where(rng.random((400, 5)) < 0.3, 1, -1).astype(np.int8)
    assert not are_copies(groups, drawn)
    categories = rng.integers(0, 8, 400)
    certain = np.where(rng.random((8, 5)) < 0.5, 1, -1)[categories].astype(np.int8)
    assert not are_copies(categories, certain)  # fifty of each are no copies, although their labels agree


def edited_samples(n_samples, n_features, noise, seed):
    """Return samples, each followed by two near copies, and their labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    signs = np.where(X[:, :1] + rng.normal(size=(n_samples, 4)) > 0.5, 1, -1).astype(np.int8)
    copies = np.repeat(X, 3, axis=0)
    return copies + noise * rng.normal(size=copies.shape), np.repeat(signs, 3, axis=0)


@pytest.mark.parametrize("n_samples", [200, 500])  # more samples than those that decide
def test_near_samples_with_the_same_labels_are_copies(n_samples):
    X, signs = edited_samples(n_samples, 10, 0.05, seed=0)
    found = find_similar(X, signs, 3)
    assert_array_equal(found.groups, np.arange(len(X)) // 3 * 3)
    assert found == (found.groups, 0, 2 * n_samples, True)
    drawn = np.random.default_rng(1).permuted(signs, axis=0)
    assert find_similar(X, drawn, 3)[1:] == (0, 0, False)  # nearness alone is no sign
    assert find_similar(X, drawn, 3, "together")[1:] == (0, 2 * n_samples, True)
    assert find_similar(X, signs, 3, "apart")[1:] == (0, 0, False)


def test_texts_with_some_other_words_are_copies():
    rng = np.random.default_rng(0)
    words = rng.integers(0, 3000, size=(200, 40))
    edited = np.where(rng.random(words.shape) < 0.1, rng.integers(0, 3000, size=words.shape), words)
    texts = np.vstack([words, edited])
    X = sp.csr_array((np.ones(texts.size), (np.repeat(np.arange(400), 40), texts.ravel())), shape=(400, 3000))
    signs = np.where(rng.random((200, 4)) < 0.3, 1, -1).astype(np.int8)
    found = find_similar(X, np.vstack([signs, signs]), 3)
    assert found.n_repeated + found.n_near == 200
    assert found.together
    assert find_similar(X[:200], signs, 3)[1:] == (0, 0, False)


@pytest.mark.parametrize("n_features", [1, 2, 3, 10])
def test_independent_samples_have_no_gap_in_their_distances(n_features):
    for seed in range(20):
        X = np.random.default_rng(seed).normal(size=(400, n_features))
        signs = np.where(X > 0, 1, -1).astype(np.int8)  # near samples have the same labels
        assert find_similar(X, signs, 3)[1:] == (0, 0, False)
        assert find_similar(X, signs, 3, "together")[1:] == (0, 0, False)


def test_held_out_copies_are_as_hard_as_new_samples():
    X, signs = edited_samples(150, 8, 0.03, seed=0)
    X_new, new = edited_samples(1000, 8, 0.0, seed=1)
    model = SelfPacedEnsemble(random_state=0).fit(X, signs > 0)
    expected = log_loss(new > 0, model.predict_proba(X_new))
    assert log_loss(signs > 0, expit(model.out_of_fold_scores_)) > expected - 0.02
    assert model.n_near_samples_ == 300


def test_whether_similar_samples_share_a_fold_can_be_overruled():
    X = np.repeat(np.random.default_rng(0).normal(size=(30, 2)), 2, axis=0)
    labels = read_labels(np.repeat(np.eye(3)[np.arange(30) % 3], 2, axis=0))
    samples = Samples(X, labels, labels.observed)

    def pairs_in_one_fold(similar):
        folds, found = split_samples(3, samples, 0, similar)
        assert found.n_repeated == 30
        number = np.zeros(60)
        for k, (_, test) in enumerate(folds):
            number[test] = k
        return (number[::2] == number[1::2]).all(), found.together

    assert pairs_in_one_fold("auto") == (True, True)
    assert pairs_in_one_fold("together") == (True, True)
    assert pairs_in_one_fold("apart") == (False, False)

"""Completion by boosted trees: what observed labels say about missing ones, and nothing where they say nothing."""

import numpy as np
import pytest

from spmld import SelfPacedEnsemble
from spmld.datasets import make_planted
from spmld.ensemble.completion_trees import CompletionTrees
from spmld.labels import LabelWarning, hide_labels
from spmld.metrics import log_loss, macro_auc
from spmld.model_selection.cross_fitting import CrossFit

FOLDS = CrossFit.of(np.arange(900) % 3)


def exclusive(n=900, seed=0):
    """Labels of which the third is the exclusive or of the first two, which no linear correction finds."""
    rng = np.random.default_rng(seed)
    first = rng.random((n, 2)) < 0.5
    return rng.standard_normal((n, 3)), np.column_stack([first, first[:, 0] != first[:, 1]]).astype(float)


def ensemble(completion, **options):
    return SelfPacedEnsemble(completion=completion, views=("linear",), random_state=0, **options)


def plain(scores, known):
    return scores


def test_the_exclusive_or_of_labels_is_found():
    X, truth = exclusive()
    Y = hide_labels(truth, observed_fraction=0.8, random_state=0)
    linear, trees = (ensemble(completion).fit(X, Y).complete(X, Y) for completion in ("linear", "boosting"))
    missing = np.isnan(Y)
    auc = [
        macro_auc(truth, np.where(c.labels == 1, c.confidences, 1 - c.confidences), mask=missing)
        for c in (linear, trees)
    ]
    assert auc[0] < 0.6
    assert auc[1] > 0.75


def test_without_dependencies_no_tree_is_used():
    rng = np.random.default_rng(0)
    signs = np.where(rng.random((900, 4)) < 0.3, 1, -1).astype(np.int8)
    scores = np.full(signs.shape, np.log(0.3 / 0.7))
    trees = CompletionTrees(random_state=0).fit(scores, signs, signs, np.ones(signs.shape), FOLDS, plain)
    assert len(trees.trees_.roots) == 0
    assert min(trees.losses_, key=trees.losses_.get) == 0
    np.testing.assert_array_equal(trees.correct(scores, signs), 0)
    np.testing.assert_array_equal(trees.held_out_scores_, scores)


def test_an_entry_is_never_predicted_from_itself():
    rng = np.random.default_rng(0)
    signs = np.where(rng.random((900, 1)) < 0.5, 1, -1).astype(np.int8)
    trees = CompletionTrees(random_state=0).fit(np.zeros(signs.shape), signs, signs, np.ones(signs.shape), FOLDS, plain)
    assert trees.losses_[0] == pytest.approx(np.log(2))
    assert min(trees.losses_.values()) > 0.68


def test_held_out_losses_are_those_of_new_samples():
    _, truth = exclusive(1800)
    signs = np.where(truth == 1, 1, -1).astype(np.int8)
    scores = np.zeros(signs.shape)
    trees = CompletionTrees(random_state=0).fit(scores[:900], signs[:900], signs[:900], np.ones((900, 3)), FOLDS, plain)
    shown = signs[900:].copy()
    shown[:, 2] = 0
    p = 1 / (1 + np.exp(-trees.correct(scores[900:], shown)))
    assert log_loss(truth[900:, 2:], p[:, 2:]) < 0.3


@pytest.mark.parametrize("completion", ["linear", "boosting"])
def test_missing_entries_get_the_rule_for_decisions(completion):
    X, truth = exclusive()
    Y = hide_labels(truth, observed_fraction=0.7, random_state=0)
    model = ensemble(completion, decision=0.2).fit(X, Y)
    labels, confidences = model.complete(X, Y)
    missing = np.isnan(Y)
    p = np.where(labels == 1, confidences, 1 - confidences)
    np.testing.assert_array_equal(labels[missing] == 1, p[missing] > 0.2)
    np.testing.assert_array_equal(labels[~missing], Y[~missing])
    assert (confidences[~missing] == 1).all()


def test_positive_only_labels_are_not_completed_as_positive():
    data = make_planted(n_samples=600, n_labels=6, random_state=0)
    shown = (data.Y == 1) & (np.random.default_rng(0).random(data.Y.shape) < 0.7)
    Y = np.where(shown, 1.0, np.nan)
    with pytest.warns(LabelWarning, match="no observed negative"):
        linear, trees = (ensemble(completion).fit(data.X, Y) for completion in ("linear", "boosting"))
    missing, auc = np.isnan(Y), []
    for model in (linear, trees):
        labels, confidences = model.complete(data.X, Y)
        p = np.where(labels == 1, confidences, 1 - confidences)
        auc.append(macro_auc(data.Y, p, mask=missing))
        assert abs(p[missing].mean() - data.Y[missing].mean()) < 0.1
    assert auc[1] > auc[0] - 0.01

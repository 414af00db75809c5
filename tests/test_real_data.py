"""Predictive quality on real data. Test labels are used for the evaluation only."""

import numpy as np
import pytest

from benchmarks.annotators import (
    LANGUAGES,
    held_out_scores,
    log_loss,
    read_radiographs,
    read_texts,
    smoothed_vote,
)
from spmld import GLOCAL, SPMLD, MaskedLogistic, SelfPacedClassifier
from spmld.annotators import find_consensus
from spmld.labels import corrupt_labels, hide_labels
from spmld.metrics import coverage, ranking_loss, sample_auc

PUBLISHED = {  # ranking loss, AUC and coverage of SPMLD in the paper's tables
    ("Business", 0.3): (0.044, 0.956, 2.361),
    ("Business", 0.7): (0.043, 0.958, 2.347),
    ("Education", 0.3): (0.096, 0.904, 4.246),
    ("Education", 0.7): (0.093, 0.907, 4.162),
}


@pytest.mark.parametrize(("name", "max_loss"), [("Business", 0.037), ("Education", 0.086)])
def test_default_glocal_has_a_low_ranking_loss(name, max_loss, real):
    data = real(name)
    losses = []
    for seed in range(3):
        model = GLOCAL(random_state=seed).fit(data.X_train, hide_labels(data.Y_train, 0.3, random_state=seed))
        losses.append(ranking_loss(data.Y_test, model.decision_function(data.X_test)))
    assert np.mean(losses) <= max_loss


@pytest.mark.parametrize(("name", "observed"), PUBLISHED)
def test_default_spmld_is_better_than_published(name, observed, real):
    data = real(name)
    model = SPMLD(random_state=0).fit(data.X_train, hide_labels(data.Y_train, observed, random_state=0))
    scores = model.decision_function(data.X_test)
    loss, auc, depth = PUBLISHED[name, observed]
    assert ranking_loss(data.Y_test, scores) < loss
    assert sample_auc(data.Y_test, scores) > auc
    assert coverage(data.Y_test, scores) < depth


@pytest.fixture(scope="module")
def noisy(load):
    """Medical with training labels of three seeds: 30 % of the samples permuted, 70 % of the labels observed."""
    data = load("medical")

    def labels(seed):
        return hide_labels(corrupt_labels(data.Y_train, "permute", 0.3, random_state=seed), 0.7, random_state=seed)

    return data, [labels(seed) for seed in range(3)]


@pytest.fixture(scope="module")
def paced(noisy):
    data, labels = noisy
    return [SelfPacedClassifier(MaskedLogistic(C=3, warm_start=True)).fit(data.X_train, Y) for Y in labels]


def test_self_paced_learning_lowers_the_loss_if_labels_are_wrong(noisy, paced):
    data, labels = noisy

    def loss(model):
        return ranking_loss(data.Y_test, model.decision_function(data.X_test))

    # The plain base estimator has the C that is best on the test labels, the self-paced one does not.
    plain = [min(loss(MaskedLogistic(C=C).fit(data.X_train, Y)) for C in (0.3, 1, 3, 10)) for Y in labels]
    assert np.mean([loss(model) for model in paced]) < 0.92 * np.mean(plain)


def test_self_paced_learning_leaves_out_wrong_positives(noisy, paced):
    data, labels = noisy
    correct, wrong = [], []
    for Y, model in zip(labels, paced, strict=True):
        # The schedule keeps four fifths of the positives, rounded up, which is all of them if there are fewer than 5.
        positive = (Y == 1) & ((Y == 1).sum(axis=0) >= 5)
        correct.append(model.self_paced_weights_[positive & (data.Y_train == 1)].mean())
        wrong.append(model.self_paced_weights_[positive & (data.Y_train == 0)].mean())
    assert np.mean(wrong) < 0.5 * np.mean(correct)


@pytest.mark.parametrize("code", LANGUAGES.values())
def test_consensus_predicts_held_out_annotators_better_than_a_vote(code):
    try:
        X, answers = read_texts(code)
    except FileNotFoundError as error:
        pytest.skip(f"real data: {error}")
    scores = held_out_scores(X, answers, seed=0)
    consensus = np.array(scores["answers and features"])
    vote = np.array(scores["vote"])
    assert consensus[0] < 0.93 * vote[0]
    assert consensus[1] > vote[1]
    assert consensus[2] < scores["Dawid-Skene"][2]


def test_probability_of_the_majority_of_other_readers_is_better_than_a_vote():
    try:
        answers, truth = read_radiographs()
    except FileNotFoundError as error:
        pytest.skip(f"real data: {error}")
    assert log_loss(truth, find_consensus(answers).probabilities) < log_loss(truth, smoothed_vote(answers))

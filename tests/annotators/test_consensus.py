"""Consensus of several annotators."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

from spmld import MaskedLogistic, PerLabelClassifier
from spmld.annotators import find_consensus, fit_consensus, read_annotators
from spmld.annotators.consensus import BetaPrior, answer_evidence, expectation_maximization
from spmld.datasets import Dataset
from spmld.noise import NoiseRates
from spmld.noise.likelihood import NoisyLogistic

ALPHA, BETA = np.array([0.03, 0.1, 0.2, 0.05]), np.array([0.1, 0.3, 0.15, 0.25])


def planted(n=1500, l=3, seed=0, answered=0.7, alpha=ALPHA, beta=BETA):
    """Return features, the truth and answers of annotators with planted rates."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    truth = rng.random((n, l)) < expit(2 * X @ rng.normal(size=(4, l)) - 0.5)
    shape = (n, len(alpha), l)
    wrong = rng.random(shape) < np.where(truth[:, None], beta[:, None], alpha[:, None])
    answers = (truth[:, None] ^ wrong).astype(float)
    answers[rng.random(shape) >= answered] = np.nan
    return X, truth, answers


def log_loss(truth, p):
    return -np.mean(np.log(np.where(truth, p, 1 - p)))


def majority(answers):
    seen = ~np.isnan(answers)
    return (np.nansum(answers, axis=1) + np.nanmean(answers, axis=(0, 1))) / (seen.sum(axis=1) + 1)


def test_em_never_decreases_the_penalized_log_likelihood():
    _, _, answers = planted(n=200, answered=0.5)
    labels = read_annotators(answers)
    log_odds = np.random.default_rng(1).normal(size=(200, 3))
    priors = [BetaPrior(0.2, 3.0), BetaPrior(0.3, 5.0)]

    def objective(rates):
        # log p(answers) of each entry: the answers of a true negative, and the evidence for a true positive
        of_rows = NoiseRates(*(rate[labels.annotators] for rate in rates))
        negative = np.where(labels.signs > 0, np.log(of_rows.alpha), np.log1p(-of_rows.alpha)) * (labels.signs != 0)
        f = np.logaddexp(0, log_odds + answer_evidence(labels, rates)) - np.logaddexp(0, log_odds)
        penalty = sum(
            prior.strength * (prior.mean * np.log(r) + (1 - prior.mean) * np.log1p(-r)).sum()
            for prior, r in zip(priors, rates, strict=True)
        )
        return negative.sum() + f.sum() + penalty

    p, values = np.full((200, 3), 0.5), []
    for _ in range(25):
        p, rates = expectation_maximization(labels, p, priors, log_odds, max_iter=1)
        values.append(objective(rates))
    assert np.all(np.diff(values) >= -1e-9)
    assert values[-1] > values[0] + 1


def test_planted_rates_are_recovered():
    _, _, answers = planted(n=6000)
    rates = find_consensus(read_annotators(answers)).rates
    assert np.abs(rates.alpha.mean(axis=1) - ALPHA).max() < 0.03
    assert np.abs(rates.beta.mean(axis=1) - BETA).max() < 0.03


def test_intervals_contain_planted_rates():
    _, _, answers = planted(n=4000)
    for row, alpha in zip(find_consensus(read_annotators(answers)).annotator_quality(0.999), ALPHA, strict=True):
        low, high = row["false_positive_rate_interval"]
        assert low < row["false_positive_rate"] < high
        assert low - 0.01 < alpha < high + 0.01


def test_permutations_permute_the_answer():
    _, _, answers = planted(n=300)
    rng = np.random.default_rng(0)
    rows, people, columns = (rng.permutation(size) for size in answers.shape)
    one = find_consensus(read_annotators(answers))
    other = find_consensus(read_annotators(answers[rows][:, people][:, :, columns]))
    np.testing.assert_allclose(other.probabilities, one.probabilities[rows][:, columns], atol=1e-5)
    np.testing.assert_allclose(other.rates.alpha, one.rates.alpha[people][:, columns], atol=1e-5)


def test_random_answers_change_nothing():
    _, _, answers = planted(n=50)
    labels = read_annotators(answers)
    rates = NoiseRates(*(np.repeat(rate[:, None], 3, axis=1) for rate in (ALPHA, BETA)))
    rates.alpha[3], rates.beta[3] = 0.3, 0.7  # a positive answer is as likely for both true labels
    without = read_annotators(np.where(np.arange(4)[:, None] == 3, np.nan, answers))
    np.testing.assert_allclose(answer_evidence(labels, rates), answer_evidence(without, rates), atol=1e-12)


def test_random_annotator_gets_no_weight():
    _, truth, answers = planted(n=4000, alpha=np.array([0.1, 0.1, 0.1, 0.5]), beta=np.array([0.1, 0.1, 0.1, 0.5]))
    rates = find_consensus(read_annotators(answers)).rates
    assert np.abs(np.log((1 - rates.beta[3]) / rates.alpha[3])).max() < 0.3
    alone = find_consensus(read_annotators(answers[:, :3])).probabilities
    everyone = find_consensus(read_annotators(answers)).probabilities
    assert log_loss(truth, everyone) < log_loss(truth, alone) + 0.01


def test_evidence_is_one_label_with_its_own_noise_rate():
    f = np.linspace(-4, 4, 9)
    for evidence in (-2.5, 0.3, 1.7):
        rate = np.array(expit(-abs(evidence)))
        loss = NoisyLogistic(rate, rate).value(np.full(9, np.sign(evidence)), f)
        exact = np.logaddexp(0, f) - np.logaddexp(0, f + evidence)
        np.testing.assert_allclose(np.diff(loss), np.diff(exact), atol=1e-12)


def test_perfect_annotators():
    _, truth, answers = planted(n=800, alpha=np.zeros(3), beta=np.zeros(3))
    consensus = find_consensus(read_annotators(answers))
    answered = ~np.isnan(answers).all(axis=1)
    assert np.array_equal((consensus.probabilities > 0.5)[answered], truth[answered])
    assert max(rate.max() for rate in consensus.rates) < 0.01


def test_consensus_is_better_than_majority_and_features_improve_it():
    X, truth, answers = planted(n=800, answered=0.4)
    answered = ~np.isnan(answers).all(axis=1)
    votes, with_features = find_consensus(read_annotators(answers)), fit_consensus(X, answers)
    losses = [
        log_loss(truth[answered], p[answered])
        for p in (with_features.probabilities, votes.probabilities, majority(answers))
    ]
    assert losses[0] < losses[1] < losses[2]


def test_next_answers_are_the_most_informative():
    _, _, answers = planted(n=200)
    consensus = find_consensus(read_annotators(answers))
    chosen = consensus.next_answers(20)
    gains = [gain for *_, gain in chosen]
    assert gains == sorted(gains, reverse=True)
    for i, j, a, gain in chosen:
        assert np.isnan(answers[i, a, j])
        p, alpha, beta = consensus.probabilities[i, j], consensus.rates.alpha[a, j], consensus.rates.beta[a, j]
        expected = -p * np.log(p) - (1 - p) * np.log1p(-p)
        for of_positive, of_negative in ((1 - beta, alpha), (beta, 1 - alpha)):
            frequency = p * of_positive + (1 - p) * of_negative
            after = expit(logit(p) + np.log(of_positive / of_negative))
            expected += frequency * (after * np.log(after) + (1 - after) * np.log1p(-after))
        assert gain == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("estimator", [MaskedLogistic(), PerLabelClassifier()])
def test_one_annotator_is_the_ordinary_fit(estimator):
    X, _, answers = planted(n=120)
    expected = estimator.fit(X, answers[:, 0]).decision_function(X)
    np.testing.assert_array_equal(estimator.fit(X, answers[:, :1]).decision_function(X), expected)


def test_fit_to_several_annotators():
    X, truth, answers = planted(n=600, alpha=np.array([0.02, 0.45, 0.45]), beta=np.array([0.02, 0.45, 0.45]))
    right = [
        ((MaskedLogistic().fit(X, y).predict(X) == 1) == truth).mean() for y in (answers, np.round(majority(answers)))
    ]
    assert right[0] > right[1]
    assert answers.shape[2] == MaskedLogistic().fit(X, answers).n_labels_


def test_values_of_missing_answers_are_never_read():
    frame = [[1, 0], [1, 1], [0, 1]]
    names = ["a", "a", "b"], ["ann", "bob", "ann"]
    masked = np.ma.MaskedArray(np.array(frame, dtype=float), mask=[[0, 0], [1, 0], [0, 0]])
    for value in (0.0, 1.0, 99.0):
        masked.data[1, 0] = value
        assert np.array_equal(read_annotators(masked, *names).signs, [[1, -1], [0, 1], [-1, 1]])


def test_agreement_is_the_fraction_of_equal_pairs():
    _, _, answers = planted(n=40)
    pairs = [
        answers[i, a, j] == answers[i, b, j]
        for i, j in np.ndindex(40, 3)
        for a, b in combinations(np.flatnonzero(~np.isnan(answers[i, :, j])), 2)
    ]
    assert read_annotators(answers).agreement == pytest.approx(np.mean(pairs))
    assert np.isnan(read_annotators(answers[:, :1]).agreement)


def test_answers_follow_the_part_of_a_data_set():
    X, truth, answers = planted(n=40)
    train, test = np.arange(39, 20, -2), np.arange(0, 40, 2)
    data = Dataset(X, truth, train=train, test=test, answers=read_annotators(answers))
    for part, rows in (("train", train), ("test", test)):
        found, expected = data.part(part).answers, read_annotators(answers[rows])
        assert found.n_samples == len(rows)
        np.testing.assert_array_equal(found.counts, expected.counts)
        np.testing.assert_array_equal(found.by_sample(found.signs), expected.by_sample(expected.signs))


def test_long_table_equals_array():
    pandas = pytest.importorskip("pandas")
    _, _, answers = planted(n=30)
    rows = [(i, a, j, answers[i, a, j]) for i, a, j in np.argwhere(~np.isnan(answers))]
    table = pandas.DataFrame(rows, columns=["sample", "annotator", "label", "value"]).sort_values(["label", "sample"])
    long = read_annotators(table.sample(frac=1, random_state=0), samples=range(30), annotators=range(4))
    order = np.argsort(np.array(long.answers.names, dtype=int))
    expected = find_consensus(read_annotators(answers)).probabilities
    np.testing.assert_allclose(find_consensus(long).probabilities[:, order], expected, atol=1e-5)


def test_errors():
    pandas = pytest.importorskip("pandas")
    X, _, answers = planted(n=20)
    table = pandas.DataFrame(
        {"sample": [0, 0, 1], "annotator": ["a", "b", "a"], "label": ["x"] * 3, "value": [1, 0, 1]}
    )
    cases = [
        ("annotator 'b' is unknown", lambda: read_annotators(table, annotators=["a"])),
        ("sample 1 is unknown", lambda: read_annotators(table, samples=[0])),
        ("2 answers of annotator 'a'", lambda: read_annotators(table.iloc[[0, 1, 0]])),
        ("row 1 has none", lambda: read_annotators(table.assign(sample=["s", "", "t"]))),
        ("values other than labels", lambda: read_annotators(table.assign(value=[1, 0, 7]))),
        ("2 rows for sample 's'", lambda: read_annotators([[1], [0]], ["s", "s"], ["a", "a"])),
        ("one value for each of the 2 rows", lambda: read_annotators([[1], [0]], ["s"], ["a", "a"])),
        ("names of its 4 annotators", lambda: read_annotators(answers, annotators=["a"])),
        ("requires samples and annotators", lambda: read_annotators([[1, 0]])),
        ("same number of samples", lambda: MaskedLogistic().fit(X[:5], answers)),
        ("mask cannot be combined", lambda: MaskedLogistic().fit(X, answers, mask=np.ones((20, 3), dtype=bool))),
    ]
    for message, call in cases:
        with pytest.raises(ValueError, match=message):
            call()


def test_the_consensus_of_an_array_is_that_of_its_answers():
    rng = np.random.default_rng(0)
    answers = (rng.random((200, 3, 2)) < 0.4).astype(float)
    expected = find_consensus(read_annotators(answers)).probabilities
    np.testing.assert_array_equal(find_consensus(answers).probabilities, expected)
    np.testing.assert_array_equal(find_consensus(answers.tolist()).probabilities, expected)


@pytest.mark.parametrize("answers", [np.ones((4, 2)), [1, 0, 1], pd.DataFrame({"a": [1, 0], "b": [0, 1]})])
def test_answers_without_annotators_raise_an_error_that_says_what_to_pass(answers):
    with pytest.raises(ValueError, match=r"\(n_samples, n_annotators, n_labels\).*pass read_annotators\(Y, samples"):
        find_consensus(answers)

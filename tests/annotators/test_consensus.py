"""Consensus of several annotators."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from scipy.special import entr, expit

from spmld import MaskedLogistic, PerLabelClassifier
from spmld.annotators import find_consensus, fit_consensus, read_annotators
from spmld.annotators.model import LEVELS, AnswerTable, fit_answers, initial_model
from spmld.datasets import Dataset

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


def entropy(p):
    return entr(p) + entr(1 - p)


def majority(answers):
    seen = ~np.isnan(answers)
    return (np.nansum(answers, axis=1) + np.nanmean(answers, axis=(0, 1))) / (seen.sum(axis=1) + 1)


def clear(n=800, n_annotators=4, l=3, seed=0, answered=0.7):
    """Return the side to which the panel leans, probabilities and answers: samples differ in clarity, people in b."""
    rng = np.random.default_rng(seed)
    p = expit(rng.normal(-1, 2.5, (n, 1, l)) + rng.normal(0, 0.8, (n_annotators, l)))
    answers = (rng.random(p.shape) < p).astype(float)
    return p.mean(axis=1) > 0.5, p, np.where(rng.random(p.shape) < answered, answers, np.nan)


@pytest.mark.parametrize("scores", [None, np.random.default_rng(1).normal(size=(200, 3))])
def test_no_step_decreases_the_penalized_likelihood(scores):
    labels = read_annotators(planted(n=200, answered=0.5)[2])
    start = initial_model(AnswerTable(labels, scores))
    model, values = start, [start.log_likelihood]
    for _ in range(25):
        model = model.step()
        values.append(model.log_likelihood)
    assert np.all(np.diff(values) >= -1e-9)
    assert values[-1] > values[0] + 1
    assert fit_answers(labels, scores).log_likelihood >= values[-1] - 0.1


def test_probabilities_equal_sums_over_all_answers_of_the_panel():
    *_, answers = clear(n=30)
    consensus = find_consensus(answers)
    model = consensus.model
    for i, j in np.ndindex(30, 3):
        prior = np.exp(model.prior[j, 0] * LEVELS + model.prior[j, 2] * LEVELS**2)
        p = expit(np.multiply.outer(LEVELS, model.slopes[:, j]) + model.shifts[:, j])
        answer = answers[i, :, j]
        seen = ~np.isnan(answer)
        weight = prior * np.where(answer == 1, p, 1 - p)[:, seen].prod(axis=1)
        weight /= weight.sum()
        majority = 0.0
        for panel in product((0, 1), repeat=4):
            together = np.where(panel, p, 1 - p).prod(axis=1) @ weight
            majority += together * (0.5 if sum(panel) == 2 else sum(panel) > 2)
        assert consensus.probabilities[i, j] == pytest.approx(majority, abs=1e-9)
        np.testing.assert_allclose(consensus.answer_probabilities[i, :, j], weight @ p, atol=1e-9)
        assert consensus.panel_fraction[i, j] == pytest.approx((weight @ p).mean(), abs=1e-9)


def test_planted_rates_are_recovered():
    _, _, answers = planted(n=6000)
    rates = find_consensus(read_annotators(answers)).rates
    assert np.abs(rates.alpha.mean(axis=1) - ALPHA).max() < 0.04
    assert np.abs(rates.beta.mean(axis=1) - BETA).max() < 0.04


@pytest.mark.parametrize("design", ["flips", "clarity"])
def test_intervals_of_error_rates_cover(design):
    covered = []
    for seed in range(5):
        if design == "flips":
            _, truth, answers = planted(n=600, seed=seed)
            expected = np.array([np.mean(np.where(truth, b, a)) for a, b in zip(ALPHA, BETA, strict=True)])
        else:
            leaning, p, answers = clear(n=600, seed=seed)
            expected = np.where(leaning[:, None], 1 - p, p).mean(axis=(0, 2))
        quality = find_consensus(answers).annotator_quality()
        for row, rate in zip(quality, expected, strict=True):
            low, high = row["error_rate_interval"]
            assert low < row["error_rate"] < high
            covered.append(low < rate < high)
    assert np.mean(covered) >= 0.7


def test_probabilities_of_the_majority_are_calibrated():
    _, p, answers = clear(n=3000, n_annotators=3)
    again = np.random.default_rng(9).random(p.shape) < p
    consensus = find_consensus(answers)
    for lower in (0.0, 0.2, 0.4, 0.6, 0.8):
        inside = (consensus.probabilities >= lower) & (consensus.probabilities < lower + 0.2)
        assert (again.sum(axis=1) >= 2)[inside].mean() == pytest.approx(
            consensus.probabilities[inside].mean(), abs=0.07
        )
    assert again.mean(axis=1).mean() == pytest.approx(consensus.panel_fraction.mean(), abs=0.02)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_unanimous_annotators(value):
    consensus = find_consensus(np.full((50, 3, 2), value))
    assert np.abs(consensus.panel_fraction - value).max() < 0.05
    assert all(row["error_rate"] < 0.05 for row in consensus.annotator_quality())
    assert all(np.isfinite(rate).all() for rate in consensus.rates)


def test_equal_annotators_agree_with_the_panel():
    _, truth, _ = planted(n=300)
    consensus = find_consensus(np.repeat(truth[:, None].astype(float), 3, axis=1))
    assert np.array_equal(consensus.probabilities > 0.5, truth)
    assert all(row["error_rate"] < 0.03 for row in consensus.annotator_quality())


def test_one_annotator_one_answer_and_labels_without_answers():
    *_, answers = planted(n=300)
    alone = find_consensus(answers[:, :1])
    assert np.array_equal(alone.probabilities[answers[:, 0] == 1] > 0.5, np.ones((answers[:, 0] == 1).sum()))
    rare = np.concatenate([answers, np.full((300, 1, 3), np.nan)], axis=1)
    rare[0, -1, 0] = 1.0
    rare[:, :, 2] = np.nan
    consensus = find_consensus(rare)
    assert np.isfinite(consensus.probabilities).all()
    low, high = consensus.annotator_quality()[-1]["error_rate_interval"]
    assert high - low > 0.5
    assert np.ptp(consensus.probabilities[:, 2]) < 1e-9


def test_copied_answers_are_named():
    *_, answers = clear(n=600, n_annotators=7)
    assert find_consensus(answers).copies() == []
    copied = answers.copy()
    copied[:, 1] = np.where(np.random.default_rng(0).random((600, 3)) < 0.95, copied[:, 0], copied[:, 1])
    (pair,) = find_consensus(copied).copies()
    assert pair[:2] == (0, 1)
    assert pair[2] > 0.3


def test_permutations_permute_the_answer():
    _, _, answers = planted(n=300)
    rng = np.random.default_rng(0)
    rows, people, columns = (rng.permutation(size) for size in answers.shape)
    one = find_consensus(read_annotators(answers))
    other = find_consensus(read_annotators(answers[rows][:, people][:, :, columns]))
    np.testing.assert_allclose(other.probabilities, one.probabilities[rows][:, columns], atol=1e-5)
    np.testing.assert_allclose(other.rates.alpha, one.rates.alpha[people][:, columns], atol=1e-5)


def test_random_annotator_changes_little():
    _, truth, answers = planted(n=4000, alpha=np.array([0.1, 0.1, 0.1, 0.5]), beta=np.array([0.1, 0.1, 0.1, 0.5]))
    alone = find_consensus(read_annotators(answers[:, :3])).probabilities
    everyone = find_consensus(read_annotators(answers)).probabilities
    assert log_loss(truth, everyone) < log_loss(truth, alone) + 0.03


def test_perfect_annotators():
    _, truth, answers = planted(n=800, alpha=np.zeros(3), beta=np.zeros(3))
    consensus = find_consensus(read_annotators(answers))
    answered = ~np.isnan(answers).all(axis=1)
    assert np.array_equal((consensus.probabilities > 0.5)[answered], truth[answered])
    assert max(rate.max() for rate in consensus.rates) < 0.03


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
    chosen = consensus.next_answers(5)
    gains = [gain for *_, gain in chosen]
    assert gains == sorted(gains, reverse=True)
    for i, j, a, gain in chosen:
        assert np.isnan(answers[i, a, j])
        positive = consensus.answer_probabilities[i, a, j]
        expected = entropy(consensus.probabilities[i, j])
        for value, probability in ((1.0, positive), (0.0, 1 - positive)):
            more = answers.copy()
            more[i, a, j] = value
            model = replace(consensus.model, table=AnswerTable(read_annotators(more), None))
            expected -= probability * entropy(replace(consensus, model=model).probabilities[i, j])
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

"""Monitoring without labels: frequencies of labels, and tests for shifts."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from scipy.stats import ks_2samp
from sklearn.pipeline import make_pipeline

import spmld
from spmld import MaskedLogistic, SelfPacedEnsemble
from spmld.app.reports import monitoring_report
from spmld.datasets import make_songs
from spmld.monitoring import estimate_frequencies, make_reference, monitor
from spmld.monitoring.reference import _find_edges, count_below
from spmld.monitoring.shifts import adjust_probabilities, distribution_test, frequency_test, log_likelihood
from spmld.tables import TableEncoder


def draw(n, l=4, seed=0):
    """Return features, true log-odds, and labels that are drawn from them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    logits = X @ np.random.default_rng(1).normal(size=(6, l)) - 1
    return X, logits, (rng.random((n, l)) < expit(logits)).astype(float)


COEF = np.random.default_rng(1).normal(size=(6, 4)).T


def reference_of(X, Y):
    return make_reference(X, Y, coef=COEF, held_out=np.ones(len(X), dtype=bool))


def test_the_false_alarm_rate_is_at_most_5_percent_by_default():
    model = MaskedLogistic().fit(*draw(100)[::2])
    alarms = []
    for seed in range(200):
        X, _, Y = draw(500, seed=seed)
        alarms.append(monitor(model, X[300:], reference_of(X[:300], Y[:300])).alarm)
    assert np.mean(alarms) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 200)


def test_em_increases_the_likelihood_and_recovers_planted_frequencies():
    rng = np.random.default_rng(0)
    prior, planted = np.array([0.3, 0.1]), np.array([0.6, 0.05])
    Y = rng.random((20000, 2)) < planted
    s = rng.normal(size=Y.shape) + 2 * Y  # the log-likelihood ratio of a label is 2 s - 2
    p = expit(2 * s - 2 + np.log(prior / (1 - prior)))
    frequency, values = prior, []
    for _ in range(20):
        values.append(log_likelihood(p, prior, frequency))
        frequency = adjust_probabilities(p, prior, frequency).mean(axis=0)
    assert (np.diff(values, axis=0) >= -1e-9).all()
    assert_allclose(estimate_frequencies(p, prior), planted, atol=0.012)
    assert_allclose(estimate_frequencies(p[:, ::-1], prior[::-1]), estimate_frequencies(p, prior)[::-1])


def test_p_values_are_uniform_enough_without_a_shift():
    rng = np.random.default_rng(0)
    frequencies, values = [], []
    for _ in range(150):
        p = expit(rng.normal(size=(700, 4)) - 1)
        frequencies.append(frequency_test(p[:400], p[400:])[2])
        X = np.column_stack([rng.normal(size=700), rng.random(700) < 0.1, rng.poisson(1, 700)])
        edges = _find_edges(X[:400])
        counts = count_below(X[:400], edges), 400, count_below(X[400:], edges), 300
        values.append(distribution_test(*counts, ~np.isnan(edges))[0])
    for level in (0.2, 0.05, 0.01):
        assert abs(np.mean(np.array(frequencies) < level) - level) < 4 * np.sqrt(level / 600) + 0.01
        assert np.mean(np.array(values) < level) < level + 3 * np.sqrt(level / 450)


def test_the_smallest_difference_of_distributions_agrees_with_the_largest_distance():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(500, 1)), rng.normal(size=(500, 1)) + 0.5
    edges = _find_edges(x)
    p_value, most = distribution_test(count_below(x, edges), 500, count_below(y, edges), 500)
    assert p_value[0] < 1e-6
    assert abs(edges[most[0], 0] - ks_2samp(x[:, 0], y[:, 0]).statistic_location) < 0.5


def test_sparse_features_have_the_counts_of_dense_ones():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5)) * (rng.random((300, 5)) < [0.05, 0.2, 0.5, 0.9, 1.0])
    dense, sparse = _find_edges(X), _find_edges(sp.csc_array(X))
    assert_array_equal(dense[:, 1:], sparse[:, 1:])
    assert_array_equal(count_below(X, dense), count_below(sp.csr_array(X), dense))


@pytest.fixture(scope="module")
def songs():
    return make_songs(2400, random_state=0)


@pytest.fixture(scope="module")
def model(songs):
    Y = pd.DataFrame(songs.Y, columns=songs.label_names)
    ensemble = SelfPacedEnsemble(views=("linear",), random_state=0)
    frame = pd.DataFrame({"review": songs.texts})
    return make_pipeline(TableEncoder(text=["review"]), ensemble).fit(frame[:1200], Y[:1200])


def test_replaced_words_and_a_changed_frequency_are_noticed(songs, model, tmp_path):
    texts, Y = np.array(songs.texts[1200:], dtype=object), songs.Y_true[1200:]
    result = monitor(model, pd.DataFrame({"review": texts}))
    assert not result.alarm
    encoder, reference = model[0], model[-1].reference_
    present = 1 - reference.below[0] / reference.n_samples
    names = [str(name).removeprefix("review: ") for name in encoder.get_feature_names_out()]
    fractions = {name: fraction for name, fraction in zip(names, present, strict=False) if name.isalpha()}
    words = sorted((name for name in fractions if fractions[name] < 0.5), key=fractions.__getitem__)[-4:]
    replaced = [" ".join("word" if word.lower().strip(".,") in words else word for word in t.split()) for t in texts]
    changed = monitor(model, pd.DataFrame({"review": replaced}))
    alarms = {name for name, alarm in zip(changed.features.names, changed.features.alarm, strict=True) if alarm}
    assert alarms >= {f"review: {word}" for word in words}
    label = int(np.argmax(Y.mean(axis=0)))
    rows = np.concatenate([np.flatnonzero(Y[:, label] == 1), np.flatnonzero(Y[:, label] == 0)[::4]])
    frequent = monitor(model, pd.DataFrame({"review": texts[rows]})).label_frequencies
    assert frequent.alarm[label]
    assert frequent.new[label] > frequent.training[label] + 0.1
    spmld.save(model, tmp_path / "model.skops")
    assert monitor(spmld.load(tmp_path / "model.skops"), pd.DataFrame({"review": texts})).to_dict() == result.to_dict()
    assert re.search("Alarm: .*features have changed", monitoring_report(changed))
    assert "No shift was found" in monitoring_report(result)


def test_permuted_labels_have_permuted_results(model, songs):
    frame = pd.DataFrame({"review": songs.texts[1200:]})
    order = np.arange(len(songs.label_names))[::-1]
    ensemble, reference = model[-1], model[-1].reference_
    X = model[0].transform(frame)
    permuted = replace(
        reference,
        weights=reference.weights[:, order],
        offsets=reference.offsets[order],
        scores=reference.scores[:, order],
    )
    result, other = monitor(ensemble, X), monitor(ensemble, X, permuted)
    assert_allclose(result.label_frequencies.p_value[order], other.label_frequencies.p_value)
    assert_allclose(result.scores.p_value[order], other.scores.p_value)


def test_frequencies_of_labels_without_observed_negatives_are_not_tested():
    X, _, Y = draw(400)
    model = MaskedLogistic().fit(X, Y)
    Y[Y[:, 0] == 0, 0] = np.nan
    result = monitor(model, draw(400, seed=1)[0], reference_of(X, Y))
    assert_array_equal(np.isnan(result.label_frequencies.training), [True, False, False, False])
    assert "not tested: 1," in result.summary
    content = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert [row["new"] for row in content["label frequencies"] if row["name"] == "0"] == [None]


def test_models_without_a_reference_and_other_features_raise_errors(model):
    X, _, Y = draw(100)
    plain, reference = MaskedLogistic().fit(X, Y), reference_of(X, Y)
    with pytest.raises(ValueError, match=r"MaskedLogistic has no summary of its training data.*make_reference"):
        monitor(plain, X)
    with pytest.raises(ValueError, match=r"false_alarm_rate must be in \(0, 1\), got 2"):
        monitor(model[-1], X, false_alarm_rate=2)
    with pytest.raises(ValueError, match="0 sample"):
        monitor(plain, X[:0], reference)
    with pytest.raises(ValueError, match="NaN"):
        monitor(plain, np.full((1, 6), np.nan), reference)
    with pytest.raises(ValueError, match=r"features of the reference, got shape \(100, 6\)"):
        monitor(plain, X, model[-1].reference_)


UNCHANGED = {
    "continuous": lambda rng, n: rng.normal(size=(n, 3)),
    "binary": lambda rng, n: rng.integers(2, size=(n, 3)),
    "categories": lambda rng, n: np.eye(4)[rng.integers(4, size=n)],
    "words": lambda rng, n: sp.csr_array(rng.random((n, 60)) < 0.05, dtype=float),
    "noise": lambda rng, n: rng.normal(size=(n, 3)),
}
"""Kinds of features. The labels of "noise" do not depend on them."""


def draw_unchanged(kind, rng, n):
    """Return features of one distribution, and labels that depend on an interaction of them."""
    X = UNCHANGED[kind](rng, n)
    high = (X.toarray() if sp.issparse(X) else X) > (100 if kind == "noise" else 0.5)
    p = np.column_stack([np.where(high[:, 0] ^ high[:, 1], 0.8, 0.2), np.where(high[:, 2], 0.7, 0.3)])
    return X, (rng.random(p.shape) < p).astype(float)


def raises_alarm(kind, seed, n, **params):
    rng = np.random.default_rng(seed)
    model = SelfPacedEnsemble(random_state=seed, **params).fit(*draw_unchanged(kind, rng, n))
    return monitor(model, draw_unchanged(kind, rng, n)[0]).alarm


@pytest.mark.parametrize("kind", UNCHANGED)
def test_unchanged_data_raise_no_more_alarms_than_stated(kind):
    alarms = sum(raises_alarm(kind, seed, 300, views=("linear",)) for seed in range(5))
    assert alarms <= 1  # of 0.25 that are expected


@pytest.mark.parametrize("kind", UNCHANGED)
def test_unchanged_data_raise_no_alarm_with_default_parameters(kind):
    assert not raises_alarm(kind, 0, 120)


def test_an_unseen_category_in_a_quarter_of_the_samples_is_noticed():
    rng = np.random.default_rng(0)

    def table(n, colors):
        return pd.DataFrame({"color": rng.choice(colors, n), "size": rng.normal(size=n)})

    old, known = table(600, ["red", "green", "blue", "gray"]), table(300, ["red", "green", "blue", "gray"])
    Y = np.column_stack([old["color"] == "red", old["size"] > 0]).astype(float)
    model = make_pipeline(TableEncoder(), SelfPacedEnsemble(views=("linear",), random_state=0)).fit(old, Y)
    assert not monitor(model, known).alarm
    unseen = known.assign(color=known["color"].where(rng.random(300) > 0.25, "purple"))
    features = monitor(model, unseen).features
    assert [name for name, alarm in zip(features.names, features.alarm, strict=True) if alarm] == ["number of zeros"]


def test_scores_of_the_reference_are_those_of_the_same_samples_as_new_ones():
    X, _, Y = draw(500)
    reference = reference_of(X, Y)
    assert_array_equal(reference.scores, reference.linear_scores(X))
    sparse = make_reference(sp.csr_array(X), Y, coef=COEF, held_out=np.ones(len(X), dtype=bool))
    assert_array_equal(sparse.scores, sparse.linear_scores(X))


def test_the_reference_consists_of_random_samples_that_identical_ones_do_not_bind():
    rng = np.random.default_rng(0)
    X, Y = draw_unchanged("binary", rng, 1500)
    reference = SelfPacedEnsemble(views=("linear",), random_state=0).fit(X, Y).reference_
    _, counts = np.unique(reference.scores, axis=0, return_counts=True)
    assert len(reference.scores) == 500
    assert_allclose(counts, 62.5, atol=32)  # four standard deviations of each of the eight patterns

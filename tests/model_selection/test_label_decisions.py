"""Decisions for labels: thresholds, and precisions with a guarantee from held-out entries."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binomtest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier

import spmld
from spmld import SelfPacedEnsemble
from spmld.core.losses import logistic
from spmld.datasets import make_planted
from spmld.estimators import ThresholdClassifier
from spmld.model_selection import DecisionRule
from spmld.model_selection.thresholds import label_decisions

NAMES = ["sad", "rock", "calm"]


def draw(n=400, seed=0):
    """Return probabilities, and labels that are drawn from them, of which some are missing."""
    rng = np.random.default_rng(seed)
    P = rng.random((n, 3)) ** [1, 2, 4]
    Y = (rng.random(P.shape) < P).astype(float)
    Y[rng.random(Y.shape) < 0.3] = np.nan
    return P, pd.DataFrame(Y, columns=NAMES)


def precision(p, y, threshold):
    predicted = (p > threshold) & ~np.isnan(y)
    return y[predicted].mean() if predicted.any() else np.nan


def precise_above(t, power):
    """Return the precision of p > t if p is uniform and the label is positive with probability p ** power."""
    return (1 - t ** (power + 1)) / ((power + 1) * (1 - t))


@pytest.mark.parametrize("power", [0.8, 1.0, 2.0])  # probabilities that are too low, calibrated, and too high
def test_the_precision_is_reached_with_the_stated_probability(power):
    rng, target, below, used, n = np.random.default_rng(0), 0.8, 0, 0, 400
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for _ in range(n):
            p = rng.random((500, 1))
            y = (rng.random(p.shape) < p**power).astype(float)
            y[rng.random(p.shape) < 0.5] = np.nan
            threshold = DecisionRule(decision="precision>=0.8").fit(p, y).thresholds_[0]
            used += threshold < 1
            below += threshold < 1 and precise_above(threshold, power) < target
    assert below / n <= 0.1 + 2 * np.sqrt(0.1 * 0.9 / n)
    assert used / n > 0.2


def test_of_many_labels_without_signal_at_most_a_tenth_is_predicted():
    rng, n_labels = np.random.default_rng(0), 400
    p = rng.random((300, n_labels))
    for frequency, most in ((0.3, 0.0), (0.5, 0.1 + 2 * np.sqrt(0.1 * 0.9 / n_labels))):
        y = (rng.random(p.shape) < frequency).astype(float)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            rule = DecisionRule(decision="precision>=0.5").fit(p, y)
        assert np.mean(rule.thresholds_ < 1) <= most
        assert rule.positive(p).any(axis=0).mean() <= most


def test_permuted_labels_have_permuted_thresholds_and_all_labels_equal_single_ones():
    P, Y = draw(2000)
    order = [2, 0, 1]
    every = DecisionRule(decision="precision>=0.6").fit(P, Y)
    permuted = DecisionRule(decision="precision>=0.6").fit(P[:, order], Y[[NAMES[j] for j in order]])
    single = DecisionRule(decision=dict.fromkeys(NAMES, "precision>=0.6")).fit(P, Y)
    assert_array_equal(every.thresholds_[order], permuted.thresholds_)
    assert_array_equal(every.thresholds_, single.thresholds_)
    assert (every.thresholds_ < 1).all()


def test_other_labels_keep_the_default_rule_and_named_labels_have_their_thresholds():
    P, Y = draw()
    rule, default = DecisionRule(decision={"sad": 0.7, 2: "precision>=0.5"}).fit(P, Y), DecisionRule().fit(P)
    assert_array_equal(rule.positive(P)[:, 1], default.positive(P)[:, 1])
    assert_array_equal(rule.positive(P)[:, 0], P[:, 0] > 0.7)
    threshold = rule.label_precisions_["calm"].threshold
    assert_array_equal(rule.positive(P)[:, 2], threshold < P[:, 2])
    assert rule.thresholds_ is None
    every = DecisionRule(decision=dict.fromkeys(NAMES, 0.6)).fit(P, Y)
    assert_allclose(every.thresholds_, 0.6)


def test_the_precision_and_its_interval_are_those_of_the_observed_entries():
    P, Y = draw(2000)
    rule = DecisionRule(decision={"sad": 0.7, "rock": "precision>=0.75"}).fit(P, Y)
    assert list(rule.label_precisions_) == ["sad", "rock"]
    for j, result in enumerate(rule.label_precisions_.values()):
        p, y = P[:, j], Y.to_numpy()[:, j]
        assert result.precision == precision(p, y, result.threshold)
        assert result.n_predicted == ((p > result.threshold) & ~np.isnan(y)).sum()
        assert result.recall == np.nanmean(np.where(y == 1, p > result.threshold, np.nan))
        interval = binomtest(round(result.precision * result.n_predicted), result.n_predicted).proportion_ci(0.9)
        assert_allclose([result.low, result.high], interval)
    assert rule.label_precisions_["rock"].precision > 0.75


def test_a_precision_that_is_not_reached_warns_and_the_label_is_never_predicted():
    P, Y = draw()
    Y.loc[P[:, 2] > 0.9, "calm"] = 0  # certain and wrong
    with pytest.warns(UserWarning, match=r"Label calm: the precision 0\.99 is not reachable.* limit on .* 0\.\d"):
        rule = DecisionRule(decision={"calm": "precision>=0.99"}).fit(P, Y)
    assert not rule.positive(np.ones((1, 3)))[0, 2]
    with pytest.warns(UserWarning, match="Label sad: .* no observed negative"):
        rule = DecisionRule(decision={"sad": "precision>=0.5"}).fit(P, Y.where(Y != 0))
    assert not rule.positive(P)[:, 0].any()


@pytest.mark.parametrize(
    ("decision", "message"),
    [
        ({"sda": 0.5}, "decision must name labels of Y, got 'sda'; the labels are sad, rock, calm; did you mean 'sad'"),
        ({3: 0.5}, "decision must name labels of Y, got 3"),
        ({-1: 0.5}, "decision must name labels of Y, got -1"),
        ({True: 0.5}, "decision must name labels of Y, got True"),
        ({"sad": 0.5, 0: 0.6}, "decision must name each label once"),
        ({"sad": 1.5}, r"decision\['sad'\] must be a threshold in \(0, 1\) or a precision target .*, got 1.5"),
        ({"sad": True}, "got True"),
        ({"sad": "precision>=1.5"}, "got 'precision>=1.5'"),
        ({"sad": "precision>=9e1"}, "got 'precision>=9e1'"),
        ({"sad": "precision>=0e0"}, "got 'precision>=0e0'"),
        ({"sad": "recall>=0.5"}, "got 'recall>=0.5'"),
    ],
)
def test_decisions_are_validated(decision, message):
    P, Y = draw()
    with pytest.raises(ValueError, match=message):
        DecisionRule(decision=decision).fit(P, Y)


@pytest.mark.parametrize("text", ["precision>=9e-1", "precision >= .9", "precision>=0.90", "precision>=90.0E-2"])
def test_every_form_of_a_number_is_a_precision_target(text):
    assert label_decisions({"sad": text}, 1, ["sad"]) == label_decisions({"sad": "precision>=0.9"}, 1, ["sad"])
    P, Y = draw()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = DecisionRule(decision="precision>=0.9").fit(P, Y).thresholds_
        assert_array_equal(DecisionRule(decision=text).fit(P, Y).thresholds_, expected)


def test_indices_are_required_without_names_and_labels_with_precision_targets():
    P, Y = draw()
    with pytest.raises(ValueError, match="Y has no label names, so pass an index from 0 to 2"):
        DecisionRule(decision={"sad": 0.5}).fit(P, Y.to_numpy())
    with pytest.raises(ValueError, match="labels must be passed"):
        DecisionRule(decision={0: "precision>=0.5"}).fit(P)
    assert_array_equal(DecisionRule(decision={0: 0.5}).fit(P).positive(P)[:, 0], P[:, 0] > 0.5)


DATA = make_planted(n_samples=300, n_labels=3, observed_fraction=0.7, random_state=0)
Y = pd.DataFrame(DATA.Y, columns=NAMES)
DECISION = {"sad": "precision>=0.6", "rock": 0.7}


@pytest.fixture(scope="module")
def ensemble():
    return SelfPacedEnsemble(decision=DECISION, views=("linear",), random_state=0).fit(DATA.X, Y)


def test_the_ensemble_reaches_the_precision_on_out_of_fold_probabilities(ensemble):
    rule, P = ensemble.decision_rule_, logistic(ensemble.out_of_fold_scores_)
    for j, name in enumerate(DECISION):
        assert rule.label_precisions_[name].precision == precision(P[:, j], DATA.Y[:, j], rule.label_thresholds_[j])
    assert rule.label_precisions_["sad"].precision >= 0.6
    default = SelfPacedEnsemble(**{**ensemble.get_params(deep=False), "decision": "f1"}).fit(DATA.X, Y)
    assert_array_equal(ensemble.predict(DATA.X)[:, 2], default.predict(DATA.X)[:, 2])
    P = ensemble.predict_proba(DATA.X)
    assert_array_equal(ensemble.predict(DATA.X)[:, 1] == 1, P[:, 1] > 0.7)
    assert_array_equal(ensemble.predict(DATA.X)[:, 0] == 1, P[:, 0] > rule.label_thresholds_[0])


def test_decisions_of_labels_survive_model_files(ensemble, tmp_path):
    spmld.save(ensemble, tmp_path / "model.skops")
    loaded = spmld.load(tmp_path / "model.skops")
    assert loaded.decision == DECISION
    assert loaded.decision_rule_.label_precisions_ == ensemble.decision_rule_.label_precisions_
    assert_array_equal(loaded.predict(DATA.X), ensemble.predict(DATA.X))


def test_decisions_of_labels_are_exported(ensemble, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    wrapped = [
        ThresholdClassifier(spmld.MaskedLogistic(), decision=decision, random_state=0).fit(DATA.X, Y)
        for decision in (DECISION, {**DECISION, "calm": 0.4})
    ]
    for model in (ensemble, *wrapped):
        spmld.export_onnx(model, tmp_path / "model.onnx")
        session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
        samples = DATA.X.astype(np.float32)
        assert_array_equal(session.run(["labels"], {"X": samples})[0], model.predict(DATA.X))


def test_labels_are_checked_before_the_fit(monkeypatch):
    models = [SelfPacedEnsemble(), ThresholdClassifier(MultiOutputClassifier(LogisticRegression()))]
    monkeypatch.setattr(SelfPacedEnsemble, "_make_views", None)
    monkeypatch.setattr(ThresholdClassifier, "_base_scores", None)
    for model in models:
        for decision, message in (({"rok": 0.5}, "did you mean 'rock'"), (4, "at most the number of labels, 3")):
            with pytest.raises(ValueError, match=message):
                model.set_params(decision=decision).fit(DATA.X, Y.fillna(0))


def test_a_threshold_classifier_reaches_the_precision_on_held_out_samples():
    train, test = slice(0, 150), slice(150, 300)
    base = spmld.MaskedLogistic().fit(DATA.X[train], Y[train])
    model = ThresholdClassifier(FrozenEstimator(base), decision={"sad": "precision>=0.5"}).fit(DATA.X[test], Y[test])
    result = model.decision_rule_.label_precisions_["sad"]
    assert result.precision == precision(model.predict_proba(DATA.X[test])[:, 0], DATA.Y[test][:, 0], result.threshold)
    assert result.precision >= 0.5
    assert np.nanmean(DATA.Y[test][:, 0]) < 0.5

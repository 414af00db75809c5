"""Training labels of trials: candidate labels, verified samples and single positives."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn.utils import Bunch

from studies import trial as module
from studies.tests.cases import LINEAR, Linear, Memory, tiny
from studies.trial import run


@pytest.fixture
def candidates(loads, planted):
    """Load data whose training labels have additional wrong positives, and return these labels."""
    wrong = np.maximum(planted["Y_train"], np.random.RandomState(0).uniform(size=planted["Y_train"].shape) < 0.3)
    loads(Bunch(**planted, candidates_train=wrong))
    return wrong


class Recorder(Memory):
    """Store the arguments of the fits."""

    fits: ClassVar = []

    def fit(self, X, Y, trusted=None):
        self.fits.append((X, Y, trusted))
        return super().fit(X, Y)

    def uses_trusted(self):
        return True


@pytest.fixture
def fits(monkeypatch):
    monkeypatch.setattr(Recorder, "fits", [])
    return Recorder.fits


RECORDER = f"{__name__}.Recorder"
UNEVEN = f"{__name__}.Uneven"


def test_candidate_labels_are_for_training_and_true_labels_for_the_test(candidates, planted, fits):
    metrics = run(tiny(estimator=RECORDER, observed=1.0))
    run(tiny(estimator=RECORDER, observed=1.0, oracle=True))
    np.testing.assert_array_equal(fits[0][1], candidates)
    np.testing.assert_array_equal(fits[1][1], planted["Y_train"])
    assert metrics["ranking_loss"] == run(tiny(estimator=RECORDER, observed=1.0, oracle=True))["ranking_loss"] == 1


def test_candidate_labels_select_parameters(candidates, planted, monkeypatch):
    seen, evaluate = [], module.evaluate
    monkeypatch.setattr(module, "evaluate", lambda Y, **rest: seen.append(Y) or evaluate(Y, **rest))
    run(tiny("held-out", observed=1.0))
    assert sum(Y.sum() for Y in seen) == candidates.sum() > planted["Y_train"].sum()


class Uneven(Linear):
    """Scores that depend on the position of the label."""

    def decision_function(self, X):
        scores = super().decision_function(X)
        return scores + 1e-6 * np.arange(scores.shape[1])


def test_labels_with_equal_candidate_labels_are_tied(loads, planted):
    truth, wrong = planted["Y_train"], planted["Y_train"].copy()
    wrong[:, 0] = wrong[:, 1] = truth[:, 0] | truth[:, 1]
    loads(Bunch(**planted, candidates_train=wrong))
    fair, uneven = (run(tiny(estimator=name, observed=1.0)) for name in (LINEAR, UNEVEN))
    assert uneven["sample_auc"] == pytest.approx(fair["sample_auc"], abs=1e-12)
    assert uneven["ranking_loss"] + uneven["sample_auc"] > 1 + 1e-3  # ties are errors in the ranking loss
    loads(Bunch(**planted))
    metrics = run(tiny(estimator=UNEVEN, observed=1.0))
    assert metrics["ranking_loss"] + metrics["sample_auc"] == pytest.approx(1)


@pytest.mark.parametrize("kind", ["test", "held-out"])
def test_labels_of_verified_samples_are_the_true_ones(candidates, planted, fits, kind):
    run(tiny(kind, estimator=RECORDER, observed=1.0, trusted=20))
    position = {row.tobytes(): i for i, row in enumerate(planted["X_train"])}
    verified = []
    for X, Y, trusted in fits:
        rows = [position[row.tobytes()] for row in X]
        np.testing.assert_array_equal(Y, np.where(trusted, planted["Y_train"][rows], candidates[rows]))
        np.testing.assert_array_equal(trusted.any(axis=1), trusted.all(axis=1))
        verified += [row for row, flag in zip(rows, trusted[:, 0], strict=True) if flag]
    assert len(set(verified)) == 20
    assert len(verified) == (20 if kind == "test" else 40)  # each sample is in two of three training parts


def test_verified_samples_differ_between_seeds_and_not_between_methods(candidates, fits):
    for seed, method in ((0, "one"), (0, "other"), (1, "one")):
        run(tiny(estimator=RECORDER, observed=1.0, trusted=20, seed=seed, method=method))
    one, other, next_seed = (trusted for *_, trusted in fits)
    np.testing.assert_array_equal(one, other)
    assert (one != next_seed).any()


def test_estimators_without_trusted_entries_get_the_labels_alone(candidates, planted):
    run(tiny(estimator="studies.tests.cases.Memory", observed=1.0, trusted=20))  # Memory.fit accepts X and Y only


def test_single_positives(loads, planted, fits, monkeypatch):
    loads(Bunch(**planted))
    single = {"estimator": RECORDER, "observed": 1.0, "hiding": "single_positive"}
    run(tiny(**single))
    run(tiny(**single, oracle=True))
    (_, Y, _), (_, complete, _) = fits
    np.testing.assert_array_equal((Y == 1).sum(axis=1), planted["Y_train"].any(axis=1))
    assert not (Y == 0).any()
    np.testing.assert_array_equal(complete, planted["Y_train"])
    seen, evaluate = [], module.evaluate
    monkeypatch.setattr(module, "evaluate", lambda Y, **rest: seen.append(Y) or evaluate(Y, **rest))
    run(tiny("held-out", **single))
    held_out = np.vstack(seen)
    assert not np.isnan(held_out).any()
    assert held_out.sum() == planted["Y_train"].any(axis=1).sum()

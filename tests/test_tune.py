"""Search: the best parameters of held-out observed labels, interrupted and resumed."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV, ParameterSampler

from spmld.metrics import scorer
from spmld.splits import EntryKFold, MultilabelStratifiedKFold
from spmld.tune import tune
from spmld.tune.space import grid_space, optuna_space, random_space

NAN = np.nan


class Ridge(ClassifierMixin, BaseEstimator):
    """A ridge of each label on its observed entries."""

    def __init__(self, alpha=1.0, degree=1):
        self.alpha = alpha
        self.degree = degree

    def fit(self, X, Y):
        if self.alpha < 0:
            raise ValueError("alpha is negative")
        Z = self._powers(X)
        self.W_ = np.zeros((Z.shape[1], Y.shape[1]))
        for j, y in enumerate(np.asarray(Y, dtype=float).T):
            seen = ~np.isnan(y)
            A = Z[seen]
            self.W_[:, j] = np.linalg.solve(A.T @ A + self.alpha * np.eye(A.shape[1]), A.T @ (2 * y[seen] - 1))
        return self

    def _powers(self, X):
        return np.hstack([np.ones((len(X), 1))] + [np.asarray(X) ** p for p in range(1, self.degree + 1)])

    def decision_function(self, X):
        return self._powers(X) @ self.W_


def make_data(n=150, l=4, missing=0.5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    Y = ((X**2) @ rng.normal(size=(4, l)) + 0.5 * rng.normal(size=(n, l)) > 0).astype(float)
    Y[rng.random(Y.shape) < missing] = NAN
    return X, Y


SPACE = {"alpha": [0.01, 1.0, 1e4], "degree": [1, 2]}
X, Y = make_data()


def test_a_grid_is_what_grid_search_finds():
    cv = MultilabelStratifiedKFold(4, random_state=0)
    found = tune(Ridge(), X, Y, SPACE, cv=cv)
    search = GridSearchCV(Ridge(), SPACE, cv=cv, scoring=scorer("ranking_loss")).fit(X, Y)
    assert found.best_params == search.best_params_
    assert found.best_params["degree"] == 2
    assert_allclose([trial.score for trial in found.trials], search.cv_results_["mean_test_score"])
    assert [trial.params for trial in found.trials] == search.cv_results_["params"]
    assert_allclose(found.best_estimator.decision_function(X), search.decision_function(X))


def test_random_draws_are_scikit_learns():
    found = tune(
        Ridge(), X, Y, {**SPACE, "alpha": stats.loguniform(0.1, 10)}, method="random", n_trials=5, random_state=3
    )
    drawn = list(ParameterSampler({**SPACE, "alpha": stats.loguniform(0.1, 10)}, 5, random_state=3))
    assert [trial.params for trial in found.trials] == drawn
    assert found.best_score == max(trial.score for trial in found.trials)


def test_only_held_out_observed_labels_are_judged():
    seen = []

    def judge(fitted, X_test, Y_test):
        seen.append((len(X_test), np.asarray(Y_test)))
        return fitted.alpha

    tune(Ridge(), X, Y, {"alpha": [1.0]}, measure=judge, cv=5, random_state=0)
    assert [len(Y_test) for _, Y_test in seen] == [30] * 5
    assert sum((~np.isnan(Y_test)).sum() for _, Y_test in seen) == (~np.isnan(Y)).sum()
    seen.clear()
    fitted_on = []

    class Recorder(Ridge):
        def fit(self, X, Y):
            fitted_on.append(np.asarray(Y))
            return super().fit(X, Y)

    tune(Recorder(), X, Y, {"alpha": [1.0]}, measure=judge, cv=EntryKFold(3, random_state=0), refit=False)
    assert len(fitted_on) == len(seen) == 3
    for Y_train, (n, Y_test) in zip(fitted_on, seen, strict=True):
        assert n == len(X)  # entries, not rows, are held out
        assert not (~np.isnan(Y_train) & ~np.isnan(Y_test)).any()
        assert_array_equal(np.where(np.isnan(Y_train), Y_test, Y_train), Y)


def test_groups_and_mask_reach_the_folds():
    groups, mask = np.arange(len(X)) // 5, ~np.isnan(Y)
    numbered = np.column_stack([X, groups])

    class Checks(Ridge):
        def fit(self, X, Y):
            self.groups_ = set(X[:, -1])
            return super().fit(X, Y)

    def judge(fitted, X_test, Y_test):
        assert np.isnan(Y_test).any()
        return float(not fitted.groups_ & set(X_test[:, -1]))

    poisoned = np.where(mask, Y, 7.0)
    found = tune(
        Checks(), numbered, poisoned, {"alpha": [1.0]}, measure=judge, mask=mask, groups=groups, random_state=0
    )
    assert found.trials[0].fold_scores == [1.0] * 5
    assert tune(Ridge(), X, poisoned, SPACE, mask=mask, random_state=0).best_score == pytest.approx(
        tune(Ridge(), X, Y, SPACE, random_state=0).best_score
    )


class Stops:
    """A scorer that presses Ctrl-C in the given call."""

    def __init__(self, call):
        self.left = call

    def __call__(self, fitted, X_test, Y_test):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return fitted.alpha

    def __repr__(self):
        return "Stops"


def test_an_interrupted_search_keeps_its_finished_trials():
    found = tune(Ridge(), X, Y, {"alpha": [3.0, 5.0, 4.0, 9.0]}, measure=Stops(10), cv=4, random_state=0)
    assert found.interrupted
    assert [trial.params["alpha"] for trial in found.trials] == [3.0, 5.0]
    assert found.best_params == {"alpha": 5.0}
    assert found.best_estimator.alpha == 5.0
    assert "stopped before the end" in str(found)
    with pytest.raises(KeyboardInterrupt):
        tune(Ridge(), X, Y, {"alpha": [3.0]}, measure=Stops(2), cv=4)


def test_a_failed_fit_is_recorded_and_the_search_goes_on(capsys):
    with pytest.warns(FitFailedWarning, match="'alpha': -1.0.*alpha is negative"):
        found = tune(Ridge(), X, Y, {"alpha": [-1.0, 1.0]}, random_state=0, verbose=True)
    assert np.isnan(found.trials[0].score)
    assert found.best_params == {"alpha": 1.0}
    assert len(found.to_frame()) == 2
    assert found.to_frame().loc[1, "fold_4"] == found.trials[1].fold_scores[4]
    assert "trial 2 of 2: ranking_loss" in capsys.readouterr().out
    with (
        pytest.warns(FitFailedWarning),
        pytest.raises(ValueError, match="none of the 1 trials has a score"),
    ):
        tune(Ridge(), X, Y, {"alpha": [-1.0]})


def test_folds_without_the_measure_are_left_out_of_the_mean():
    scores = iter([0.25, NAN, 0.75])
    found = tune(Ridge(), X, Y, {"alpha": [1.0]}, measure=lambda *_: next(scores), cv=3, refit=False)
    assert found.best_score == 0.5
    assert found.best_estimator is None


@given(st.integers(1, 50), st.integers(1, 50), st.integers(0, 100))
@settings(max_examples=10, deadline=None)
def test_ranges_of_whole_numbers_include_both_ends_and_nothing_else(low, width, seed):
    for range_ in ((low, low + width), (low, low + width, "log")):
        drawn = [p["k"] for p in ParameterSampler(random_space({"k": range_}), 60, random_state=seed)]
        assert all(isinstance(k, (int, np.integer)) and low <= k <= low + width for k in drawn)
    for range_ in ((low, low + 1), (low, low + 1, "log")):
        drawn = [p["k"] for p in ParameterSampler(random_space({"k": range_}), 60, random_state=seed)]
        assert set(drawn) == {low, low + 1}


def test_ranges_on_the_logarithm_are_even_there():
    drawn = np.array([p["a"] for p in ParameterSampler(random_space({"a": (1e-4, 1.0, "log")}), 2000, random_state=0)])
    assert_allclose(np.quantile(np.log10(drawn), [0.25, 0.5, 0.75]), [-3, -2, -1], atol=0.15)
    drawn = np.array([p["a"] for p in ParameterSampler(random_space({"a": (2.0, 4.0)}), 2000, random_state=0)])
    assert_allclose(np.quantile(drawn, [0.25, 0.5, 0.75]), [2.5, 3, 3.5], atol=0.1)


def test_optuna_finds_a_better_place_than_the_corners(tmp_path):
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)

    def judge(fitted, X_test, Y_test):
        return -((np.log10(fitted.alpha) - 1) ** 2) + fitted.degree

    space = {"alpha": (1e-3, 1e3, "log"), "degree": [1, 2]}
    found = tune(Ridge(), X, Y, space, measure=judge, method="optuna", n_trials=30, cv=2, random_state=0)
    assert len(found.trials) == 30
    assert found.best_params["degree"] == 2
    assert abs(np.log10(found.best_params["alpha"]) - 1) < 0.5
    assert found.best_estimator.alpha == found.best_params["alpha"] == found.study.best_params["alpha"]


def test_spaces_are_the_same_for_optuna():
    distributions = pytest.importorskip("optuna").distributions
    own = distributions.FloatDistribution(0, 1, step=0.5)
    space = {"a": (1, 8), "b": (1, 8, "log"), "c": (0.1, 1.0), "d": (0.1, 1.0, "log"), "e": ["x", None], "f": own}
    assert optuna_space(space) == {
        "a": distributions.IntDistribution(1, 8),
        "b": distributions.IntDistribution(1, 8, log=True),
        "c": distributions.FloatDistribution(0.1, 1.0),
        "d": distributions.FloatDistribution(0.1, 1.0, log=True),
        "e": distributions.CategoricalDistribution(["x", None]),
        "f": own,
    }


def test_a_stored_study_goes_on_after_an_interruption(tmp_path):
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    call = {"method": "optuna", "n_trials": 6, "cv": 2, "storage": tmp_path / "study.db", "random_state": 0}
    space = {"alpha": (0.1, 10.0), "degree": (1, 3)}
    first = tune(Ridge(), X, Y, space, measure=Stops(7), **call)
    assert first.interrupted
    assert len(first.trials) == 3
    assert [trial.state.name for trial in first.study.trials] == ["COMPLETE"] * 3 + ["FAIL"]
    second = tune(Ridge(), X, Y, space, measure=Stops(0), **call)
    assert not second.interrupted
    assert second.trials[:3] == first.trials
    assert len(second.trials) == 6
    assert len({trial.params["alpha"] for trial in second.trials}) == 6  # nothing is tried twice
    third = tune(Ridge(), X, Y, space, measure=Stops(1), **call)  # would stop at once, had it anything to do
    assert third.trials == second.trials
    with pytest.raises(ValueError, match="measure must be 'Stops' as before in the study 'spmld'"):
        tune(Ridge(), X, Y, space, measure="ranking_loss", **call)


def test_failed_fits_in_a_study_are_kept_as_failed(tmp_path):
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    call = {"method": "optuna", "n_trials": 8, "storage": f"sqlite:///{tmp_path}/study.db", "random_state": 0, "cv": 2}
    with pytest.warns(FitFailedWarning):
        found = tune(Ridge(), X, Y, {"alpha": [-1.0, 1.0]}, **call)
    failed = [np.isnan(trial.score) for trial in found.trials]
    assert failed == [trial.params["alpha"] < 0 for trial in found.trials]
    assert 0 < sum(failed) < 8
    again = tune(Ridge(), X, Y, {"alpha": [-1.0, 1.0]}, **call)
    assert [t.params for t in again.trials] == [t.params for t in found.trials]


def test_without_optuna_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match=r"pip install \"spmld\[tune\]\""):
        tune(Ridge(), X, Y, {"alpha": [1.0]}, method="optuna")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "best"}, 'method must be "grid", "random" or "optuna", got \'best\''),
        ({"storage": "a.db"}, "storage must be None unless .* got 'a.db'"),
        ({"n_trials": 0}, "n_trials must be an integer of at least 1, got 0"),
        ({"space": {}}, "space must be a dictionary"),
        (
            {"space": {"alpha": (1, 2)}},
            r"space\['alpha'\] must be a list of choices with method=\"grid\", got \(1, 2\)",
        ),
        ({"space": {"alpha": (2, 1)}, "method": "random"}, r"space\['alpha'\] must be .* got \(2, 1\)"),
        ({"space": {"alpha": (0, 1, "log")}, "method": "random"}, r"space\['alpha'\] must be .* got \(0, 1, 'log'\)"),
        ({"space": {"alpha": 3}, "method": "random"}, r"space\['alpha'\] must be .* got 3"),
        ({"space": {"beta": [3]}}, "Invalid parameter 'beta'"),
        ({"cv": 0}, "cv must be .* or an EntryKFold, got 0"),
    ],
)
def test_refusals_name_the_argument_and_what_was_given(options, message):
    with pytest.raises(ValueError, match=message):
        tune(**{"estimator": Ridge(), "X": X, "Y": Y, "space": SPACE, **options})


def test_the_estimator_given_is_left_as_it_was():
    model = Ridge()
    tune(model, X, Y, SPACE, cv=2)
    assert model.get_params() == clone(model).get_params() == {"alpha": 1.0, "degree": 1}
    assert not hasattr(model, "W_")
    assert grid_space(SPACE) == SPACE

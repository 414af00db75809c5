"""The search uses held-out observed labels only."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV, ParameterSampler

from spmld import GLOCAL
from spmld.metrics import scorer
from spmld.model_selection import EntryKFold, MultilabelStratifiedKFold, tune
from spmld.model_selection.search_result import SearchResult, SearchTrial
from spmld.model_selection.search_space import grid_space

from .search_cases import NAN, SPACE, Ridge, Stops, X, Y


def test_a_grid_gives_the_results_of_grid_search():
    cv = MultilabelStratifiedKFold(4, random_state=0)
    result = tune(Ridge(), X, Y, SPACE, cv=cv)
    search = GridSearchCV(Ridge(), SPACE, cv=cv, scoring=scorer("ranking_loss")).fit(X, Y)
    assert result.best_params == search.best_params_
    assert result.best_params["degree"] == 2
    assert_allclose([trial.score for trial in result.trials], search.cv_results_["mean_test_score"])
    assert [trial.params for trial in result.trials] == search.cv_results_["params"]
    assert_allclose(result.best_estimator.decision_function(X), search.decision_function(X))


def test_random_candidates_are_those_of_scikit_learn():
    result = tune(
        Ridge(), X, Y, {**SPACE, "alpha": stats.loguniform(0.1, 10)}, method="random", n_trials=5, random_state=3
    )
    drawn = list(ParameterSampler({**SPACE, "alpha": stats.loguniform(0.1, 10)}, 5, random_state=3))
    assert [trial.params for trial in result.trials] == drawn
    assert result.best_score == max(trial.score for trial in result.trials)


def test_only_held_out_observed_labels_are_evaluated():
    evaluated = []

    def score(fitted, X_test, Y_test):
        evaluated.append((len(X_test), np.asarray(Y_test)))
        return fitted.alpha

    tune(Ridge(), X, Y, {"alpha": [1.0]}, scoring=score, cv=5, random_state=0)
    assert [len(Y_test) for _, Y_test in evaluated] == [30] * 5
    assert sum((~np.isnan(Y_test)).sum() for _, Y_test in evaluated) == (~np.isnan(Y)).sum()
    evaluated.clear()
    fitted_on = []

    class Recorder(Ridge):
        def fit(self, X, Y):
            fitted_on.append(np.asarray(Y))
            return super().fit(X, Y)

    tune(Recorder(), X, Y, {"alpha": [1.0]}, scoring=score, cv=EntryKFold(3, random_state=0), refit=False)
    assert len(fitted_on) == len(evaluated) == 3
    for Y_train, (n, Y_test) in zip(fitted_on, evaluated, strict=True):
        assert n == len(X)  # entries, not samples, are held out
        assert not (~np.isnan(Y_train) & ~np.isnan(Y_test)).any()
        assert_array_equal(np.where(np.isnan(Y_train), Y_test, Y_train), Y)


def test_groups_and_mask_reach_the_folds():
    groups, mask = np.arange(len(X)) // 5, ~np.isnan(Y)
    numbered = np.column_stack([X, groups])

    class Checks(Ridge):
        def fit(self, X, Y):
            self.groups_ = set(X[:, -1])
            return super().fit(X, Y)

    def score(fitted, X_test, Y_test):
        assert np.isnan(Y_test).any()
        return float(not fitted.groups_ & set(X_test[:, -1]))

    poisoned = np.where(mask, Y, 7.0)
    result = tune(
        Checks(), numbered, poisoned, {"alpha": [1.0]}, scoring=score, mask=mask, groups=groups, random_state=0
    )
    assert result.trials[0].fold_scores == [1.0] * 5
    assert tune(Ridge(), X, poisoned, SPACE, mask=mask, random_state=0).best_score == pytest.approx(
        tune(Ridge(), X, Y, SPACE, random_state=0).best_score
    )


def test_an_interrupted_search_keeps_its_finished_trials():
    result = tune(Ridge(), X, Y, {"alpha": [3.0, 5.0, 4.0, 9.0]}, scoring=Stops(10), cv=4, random_state=0)
    assert result.interrupted
    assert [trial.params["alpha"] for trial in result.trials] == [3.0, 5.0]
    assert result.best_params == {"alpha": 5.0}
    assert result.best_estimator.alpha == 5.0
    assert "interrupted" in str(result)
    with pytest.raises(KeyboardInterrupt):
        tune(Ridge(), X, Y, {"alpha": [3.0]}, scoring=Stops(2), cv=4)


def test_the_callback_gets_each_trial():
    calls = []
    result = tune(Ridge(), X, Y, SPACE, random_state=0, callback=lambda *call: calls.append(call))
    total = len(result.trials)
    assert calls == [(trial, number, total) for number, trial in enumerate(result.trials, 1)]


def test_a_failed_fit_is_recorded_and_the_search_continues(capsys):
    with pytest.warns(FitFailedWarning, match="'alpha': -1.0.*alpha is negative"):
        result = tune(Ridge(), X, Y, {"alpha": [-1.0, 1.0]}, random_state=0, verbose=True)
    assert np.isnan(result.trials[0].score)
    assert result.best_params == {"alpha": 1.0}
    assert len(result.to_frame()) == 2
    assert result.to_frame().loc[1, "fold_4"] == result.trials[1].fold_scores[4]
    assert "trial 2 of 2: ranking_loss" in capsys.readouterr().out
    with (
        pytest.warns(FitFailedWarning),
        pytest.raises(ValueError, match="none of the 1 trials has a score"),
    ):
        tune(Ridge(), X, Y, {"alpha": [-1.0]})


def test_folds_with_an_undefined_metric_are_left_out_of_the_mean():
    scores = iter([0.25, NAN, 0.75])
    result = tune(Ridge(), X, Y, {"alpha": [1.0]}, scoring=lambda *_: next(scores), cv=3, refit=False)
    assert result.best_score == 0.5
    assert result.best_estimator is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "best"}, "'method' parameter of .*tune must be a str among .* Got 'best'"),
        ({"storage": "a.db"}, "storage must be None unless .* got 'a.db'"),
        ({"n_trials": 0}, "'n_trials' parameter of .*tune must be an int in the range .* Got 0"),
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
        ({"scoring": None}, "'scoring' parameter of .*tune must be .* Got None"),
        ({"cv": EntryKFold(3), "groups": np.arange(len(X))}, "groups must be None with an EntryKFold"),
    ],
)
def test_arguments_are_validated(options, message):
    with pytest.raises(ValueError, match=message):
        tune(**{"estimator": Ridge(), "X": X, "Y": Y, "space": SPACE, **options})


def test_the_estimator_is_not_modified():
    model = Ridge()
    tune(model, X, Y, SPACE, cv=2)
    assert model.get_params() == clone(model).get_params() == {"alpha": 1.0, "degree": 1}
    assert not hasattr(model, "W_")
    assert grid_space(SPACE) == SPACE


def test_a_fold_without_an_observed_label_is_left_out_of_the_mean():
    few = np.full((10, 3), NAN)
    few[:3] = [[1, 0, 1], [0, 1, 0], [1, 1, 0]]
    result = tune(Ridge(), X[:10], few, {"alpha": [1.0]}, scoring="micro_auc", cv=5, random_state=0)
    scores = np.array(result.trials[0].fold_scores)
    assert np.isnan(scores).sum() == 2
    assert result.best_score == pytest.approx(np.nanmean(scores))


@pytest.mark.parametrize("cv", [3, EntryKFold(3, random_state=0)])
@pytest.mark.parametrize("form", ["tensor", "sparse", "frame", "masked"])
def test_every_form_of_samples_and_labels_gives_the_same_scores(form, cv):
    observed = ~np.isnan(Y)
    X_, Y_, options = X, Y, {}
    if form == "tensor":
        X_ = pytest.importorskip("torch").asarray(X)
    elif form == "sparse":
        X_, Y_, options = sp.csr_array(X), sp.csr_array(np.nan_to_num(Y)), {"mask": sp.csr_array(observed)}
    elif form == "frame":
        X_, Y_ = pd.DataFrame(X).add_prefix("x"), pd.DataFrame(Y, index=np.arange(len(Y)) + 5)
    elif form == "masked":
        Y_ = np.ma.MaskedArray(np.nan_to_num(Y, nan=7), mask=~observed)
    call = {"space": {"ridge": [0.1, 1.0]}, "cv": cv, "random_state": 0}
    expected = tune(GLOCAL(random_state=0), X, Y, **call)
    result = tune(GLOCAL(random_state=0), X_, Y_, **call, **options)
    assert_allclose([t.fold_scores for t in result.trials], [t.fold_scores for t in expected.trials], atol=1e-3)


@pytest.mark.parametrize("cv", [3, EntryKFold(3, random_state=0)])
@pytest.mark.parametrize("classes", [(0, 1), ("no", "yes"), (1, 2)])
def test_a_vector_is_one_label_in_any_encoding(classes, cv):
    plain = (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)
    call = {"space": {"ridge": [0.1, 1.0]}, "scoring": "macro_f1", "cv": cv, "random_state": 0}
    result = tune(GLOCAL(random_state=0), X, np.array(classes)[plain], **call)
    expected = tune(GLOCAL(random_state=0), X, plain, **call)
    assert result.best_score == expected.best_score > 0.9
    assert set(result.best_estimator.predict(X)) == set(classes)


def test_results_are_shown_best_first():
    trials = [
        SearchTrial({"alpha": a}, score, [score], 0.1) for a, score in enumerate([0.2, NAN, 0.9, 0.5, 0.1, 0.7, 0.3])
    ]
    result = SearchResult("macro_auc", trials, best_estimator=object(), study=object())
    lines = str(result).splitlines()
    assert lines[0] == "macro_auc over 7 trials, greater is better"
    assert lines[1:3] == ["  0.900000  {'alpha': 2}", "  0.700000  {'alpha': 5}"]
    assert len(lines) == 6
    assert result.ranked[-1].params == {"alpha": 1}
    assert "object" not in repr(result)
    assert str(SearchResult("macro_auc", trials, interrupted=True)).startswith(
        "macro_auc over 7 trials, greater is better, interrupted"
    )
    page = result._repr_html_()
    assert page.count("<tr>") == 6
    assert page.index("0.9") < page.index("0.7") < page.index("0.5")
    assert SearchResult("macro_auc", trials).best_estimator is None


def test_the_warning_of_a_failed_fit_points_to_the_call():
    with pytest.warns(FitFailedWarning) as caught:
        tune(Ridge(), X, Y, {"alpha": [-1.0, 1.0]}, random_state=0)
    assert [warning.filename for warning in caught if warning.category is FitFailedWarning] == [__file__]

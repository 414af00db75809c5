"""Cross-validation functions: equal to scikit-learn's where those work, and the same with missing labels."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import model_selection
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from spmld import LabelPrior, MaskedLogistic
from spmld.metrics import macro_auc, ranking_loss, scorer
from spmld.model_selection import (
    MultilabelStratifiedKFold,
    MultilabelStratifiedShuffleSplit,
    cross_fit,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    make_folds,
)
from tests.model_selection.classifier_cases import make_data

CV = MultilabelStratifiedKFold(3, random_state=0)


@pytest.fixture(scope="module")
def data():
    return make_data(n=240, l=3)


def test_scores_are_those_of_a_loop_over_the_folds(data):
    X, Y = data
    result = cross_validate(
        MaskedLogistic(), X, Y, cv=CV, scoring=["ranking_loss", "macro_auc"], return_train_score=True
    )
    for i, (train, test) in enumerate(CV.split(X, Y)):
        model = MaskedLogistic().fit(X[train], Y[train])
        assert result["test_macro_auc"][i] == pytest.approx(macro_auc(Y[test], model.decision_function(X[test])))
        assert result["test_ranking_loss"][i] == pytest.approx(-ranking_loss(Y[test], model.decision_function(X[test])))
        assert result["train_macro_auc"][i] == pytest.approx(macro_auc(Y[train], model.decision_function(X[train])))


def test_complete_labels_give_the_results_of_scikit_learn(data):
    X, Y = data[0], np.nan_to_num(data[1]).astype(int)
    estimator = MultiOutputClassifier(LogisticRegression())
    for scoring in (None, "f1_macro", scorer("macro_f1"), {"a": "f1_micro", "b": "micro_f1"}):
        ours = cross_validate(estimator, X, Y, cv=CV, scoring=scoring)
        names = {"a": "f1_micro", "b": scorer("micro_f1")} if isinstance(scoring, dict) else scoring
        theirs = model_selection.cross_validate(estimator, X, Y, cv=CV, scoring=names)
        assert set(ours) == set(theirs)
        for name in {*ours} - {"fit_time", "score_time"}:
            np.testing.assert_allclose(ours[name], theirs[name])
    np.testing.assert_array_equal(
        cross_val_predict(estimator, X, Y, cv=CV), model_selection.cross_val_predict(estimator, X, Y, cv=CV)
    )
    lists = model_selection.cross_val_predict(estimator, X, Y, cv=CV, method="predict_proba")
    ours = cross_val_predict(estimator, X, Y, cv=CV, method="predict_proba")
    np.testing.assert_allclose(ours, np.column_stack([column[:, 1] for column in lists]))


def test_an_integer_cv_accepts_missing_labels_and_is_reproducible(data):
    X, Y = data
    scores = cross_val_score(MaskedLogistic(), X, Y, cv=4, scoring="macro_auc")
    assert scores.shape == (4,)
    assert scores.mean() > 0.7
    np.testing.assert_array_equal(scores, cross_val_score(MaskedLogistic(), X, Y, cv=4, scoring="macro_auc"))
    assert len(cross_val_score(LabelPrior(), X, Y)) == 5


def test_missing_entries_are_never_read(data):
    X, Y = data
    filled, mask = np.where(np.isnan(Y), 1.0, Y), ~np.isnan(Y)
    options = {"cv": 3, "scoring": "micro_f1"}
    np.testing.assert_allclose(
        cross_val_score(MaskedLogistic(), X, filled, mask=mask, **options),
        cross_val_score(MaskedLogistic(), X, Y, **options),
    )
    np.testing.assert_allclose(
        cross_val_predict(MaskedLogistic(), X, filled, mask=mask, method="decision_function"),
        cross_val_predict(MaskedLogistic(), X, Y, method="decision_function"),
    )


def test_predictions_are_out_of_fold(data):
    X, Y = data
    predicted = cross_val_predict(MaskedLogistic(), X, Y, cv=CV, method="decision_function")
    np.testing.assert_allclose(predicted, cross_fit(MaskedLogistic(), X, Y, make_folds(CV, X, Y)).scores)
    P = cross_val_predict(MaskedLogistic(), X, Y, cv=CV, method="predict_proba")
    np.testing.assert_allclose(P, 1 / (1 + np.exp(-predicted)))


def test_data_frames_sparse_matrices_and_texts_are_sliced_as_they_are(data):
    X, Y = data
    frame = pd.DataFrame(X, columns=list("abcde"), index=[f"s{i}" for i in range(len(X))])
    labels = pd.DataFrame(Y, columns=["p", "q", "r"], index=frame.index)
    expected = cross_val_score(MaskedLogistic(), X, Y, cv=3, scoring="macro_auc")
    for X_, Y_ in ((frame, labels), (sp.csr_array(X), Y), (X.tolist(), Y.tolist())):
        np.testing.assert_allclose(cross_val_score(MaskedLogistic(), X_, Y_, cv=3, scoring="macro_auc"), expected)
    result = cross_validate(MaskedLogistic(), frame, labels, cv=3, return_estimator=True, return_indices=True)
    assert all(list(model.feature_names_in_) == list("abcde") for model in result["estimator"])
    assert all(model.label_names_ == ["p", "q", "r"] for model in result["estimator"])
    assert sorted(np.concatenate(result["indices"]["test"])) == list(range(len(X)))
    words = np.array(["minor slow rain", "major fast sun"])
    songs = [words[int(x > 0)] for x in X[:, 0]]
    tags = np.column_stack([X[:, 0] > 0, X[:, 0] <= 0]).astype(float)
    tags[::3, 0] = np.nan
    assert (
        cross_val_score(make_pipeline(TfidfVectorizer(), MaskedLogistic()), songs, tags, scoring="macro_auc").min() == 1
    )


def test_fit_parameters_are_split_with_the_samples(data):
    X, Y = data
    rng = np.random.default_rng(0)
    weight = rng.random(Y.shape)
    options = {"cv": CV, "method": "decision_function"}
    weighted = cross_val_predict(MaskedLogistic(), X, Y, params={"entry_weight": weight}, **options)
    np.testing.assert_allclose(
        weighted, cross_fit(MaskedLogistic(), X, Y, make_folds(CV, X, Y), entry_weight=weight).scores
    )
    pipeline = make_pipeline(StandardScaler(with_mean=False, with_std=False), MaskedLogistic())
    params = {"maskedlogistic__entry_weight": weight}
    np.testing.assert_allclose(cross_val_predict(pipeline, X, Y, params=params, **options), weighted)
    with pytest.raises(ValueError, match="pass mask= as an argument"):
        cross_val_score(pipeline, X, Y, params={"maskedlogistic__mask": ~np.isnan(Y)})


def test_groups_stay_together(data):
    X, Y = data
    groups = np.arange(len(X)) // 4
    indices = cross_validate(LabelPrior(), X, Y, groups=groups, cv=3, return_indices=True)["indices"]
    for train, test in zip(indices["train"], indices["test"], strict=True):
        assert not {*groups[train]} & {*groups[test]}
    assert cross_val_predict(LabelPrior(), X, Y, groups=groups, cv=3).shape == Y.shape


def test_folds_run_in_parallel_with_the_same_result(data):
    X, Y = data
    np.testing.assert_allclose(
        cross_val_predict(MaskedLogistic(), X, Y, cv=3, n_jobs=2), cross_val_predict(MaskedLogistic(), X, Y, cv=3)
    )


def test_a_failing_fit_has_the_error_score(data):
    X, Y = data
    forest = MultiOutputClassifier(RandomForestClassifier(2))  # does not accept NaN in Y
    with pytest.raises(ValueError, match="NaN"):
        cross_val_score(forest, X, Y, cv=2, error_score="raise")


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        (cross_val_score, {"scoring": "f1_macro"}, "does not accept missing labels.*macro_f1"),
        (cross_val_score, {"scoring": "accurracy"}, "metric must be one of"),
        (cross_val_score, {"scoring": ["macro_f1"]}, "Use cross_validate for several metrics"),
        (cross_validate, {"scoring": []}, "scoring must be names of metrics"),
        (cross_val_score, {"cv": 1}, "cv must be an integer of at least 2"),
        (cross_val_predict, {"cv": MultilabelStratifiedShuffleSplit(2, random_state=0)}, "cv must test each sample"),
    ],
)
def test_invalid_arguments_are_named(data, function, options, message):
    with pytest.raises(ValueError, match=message):
        function(MaskedLogistic(), *data, **options)


def test_options_are_passed_to_scikit_learn(data, monkeypatch):
    X, Y = data
    received = {}

    def record(*arguments, **options):
        received.clear()
        received.update(options)
        return {"test_score": options["cv"]}

    monkeypatch.setattr(model_selection, "cross_validate", record)
    defaults = {"n_jobs": None, "verbose": 0, "params": None, "pre_dispatch": "2*n_jobs", "scoring": None}
    returned = {"return_train_score": False, "return_estimator": False, "return_indices": False}
    for function, all_defaults in ((cross_validate, {**defaults, **returned}), (cross_val_score, defaults)):
        function(LabelPrior(), X, Y)
        assert {name: received[name] for name in all_defaults} == all_defaults
        assert np.isnan(received["error_score"])
        assert len(received["cv"]) == 5
        options = dict.fromkeys(all_defaults, 3) | {"scoring": max, "params": {"a": 3}, "error_score": "raise"}
        function(LabelPrior(), X, Y, **options)
        assert {name: received[name] for name in options} == options
    assert all(
        (a == b).all()
        for (_, a), (_, b) in zip(cross_val_score(None, X, Y), make_folds(5, X, Y, random_state=0), strict=True)
    )


def test_predictions_are_computed_with_the_options_of_joblib(data, monkeypatch):
    X, Y = data
    received = {}

    class Recorder:
        def __init__(self, **options):
            received.update(options)

        def __call__(self, tasks):
            return [function(*arguments, **options) for function, arguments, options in tasks]

    monkeypatch.setattr("spmld.model_selection.cross_validation.Parallel", Recorder)
    monkeypatch.setattr(
        "spmld.model_selection.cross_validation.delayed", lambda f: lambda *args, **options: (f, args, options)
    )
    cross_val_predict(LabelPrior(), X, Y)
    assert received == {"n_jobs": None, "verbose": 0, "pre_dispatch": "2*n_jobs"}
    cross_val_predict(LabelPrior(), X, Y, n_jobs=2, verbose=3, pre_dispatch="all")
    assert received == {"n_jobs": 2, "verbose": 3, "pre_dispatch": "all"}

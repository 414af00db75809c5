"""Comparison of methods on the same folds."""

import json

import numpy as np
import pytest
from joblib import parallel_config
from scipy import stats
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import RepeatedKFold, ShuffleSplit

from spmld import LabelPrior, MaskedLogistic, MaskedRidge
from spmld.metrics import macro_f1, precision_at_k, ranking_loss
from spmld.model_selection import Comparison, MultilabelStratifiedKFold, compare
from spmld.model_selection.statistics import Verdict

ESTIMATORS = {"logistic": MaskedLogistic(), "prior": LabelPrior(), "ridge": MaskedRidge()}


class Failing(MaskedLogistic):
    """Raise an error in the second fold."""

    fits = 0

    def fit(self, X, y, **others):
        type(self).fits += 1
        if self.fits % 2 == 0:
            raise ValueError("cannot be fitted")
        return super().fit(X, y, **others)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    Y = (X[:, :3] + rng.normal(size=(120, 3)) > 0.3).astype(float)
    Y[rng.uniform(size=Y.shape) < 0.1] = np.nan
    return X, Y


def metric_values(comparison):
    return {key: values for key, values in comparison.values.items() if key[1] != "seconds"}


def records(comparison):
    return {(record["method"], record["metric"]): record for record in comparison.results()}


def test_all_methods_are_fitted_on_the_same_folds(data):
    X, Y = data
    metrics = ["ranking_loss", "macro_f1", "precision_at_2"]
    comparison = compare(ESTIMATORS, X, Y, metrics=metrics, cv=4, random_state=0)
    results = records(comparison)
    folds = list(MultilabelStratifiedKFold(4, random_state=0).split(X, Y))
    for name, estimator in ESTIMATORS.items():
        models = [(clone(estimator).fit(X[train], Y[train]), test) for train, test in folds]
        scores = [(Y[test], model.decision_function(X[test])) for model, test in models]
        expected = {
            "ranking_loss": [ranking_loss(*pair) for pair in scores],
            "macro_f1": [macro_f1(Y[test], model.predict(X[test])) for model, test in models],
            "precision_at_2": [precision_at_k(*pair, k=2) for pair in scores],
        }
        for metric, values in expected.items():
            record = results[name, metric]
            assert record["folds"] == pytest.approx(values)
            assert (record["mean"], record["std"]) == pytest.approx((np.mean(values), np.std(values, ddof=1)))
            assert record["better"] == ("lower" if metric == "ranking_loss" else "higher")
    assert comparison.reference == "logistic"
    assert "verdict" not in results["logistic", "ranking_loss"]
    assert results["prior", "ranking_loss"]["verdict"] == "worse"
    assert len(results["prior", "seconds"]["folds"]) == 4


def test_a_mask_hides_labels_as_nan_does(data):
    X, Y = data
    complete = np.nan_to_num(Y)
    options = {"metrics": ["ranking_loss"], "cv": 3, "random_state": 0}
    hidden = compare(ESTIMATORS, X, complete, mask=~np.isnan(Y), **options)
    assert metric_values(hidden) == metric_values(compare(ESTIMATORS, X, Y, **options))
    assert metric_values(hidden) != metric_values(compare(ESTIMATORS, X, complete, **options))


def test_parallel_folds_give_the_same_values(data):
    calls = []
    options = {"cv": 3, "random_state": 0}
    with parallel_config("threading", n_jobs=2):
        parallel = compare(ESTIMATORS, *data, callback=lambda *call: calls.append(call), **options)
    assert metric_values(parallel) == metric_values(compare(ESTIMATORS, *data, **options))
    assert calls == [(name, fold, 3) for name in ESTIMATORS for fold in (1, 2, 3)]


@pytest.mark.parametrize(
    ("metric", "low", "high"), [("ranking_loss", "better", "worse"), ("micro_f1", "worse", "better")]
)
def test_verdicts_follow_the_direction_of_the_metric(metric, low, high):
    noise = np.array([0.01, -0.01, 0.02, -0.02, 0.0])
    shifts = {"base": 0.0, "low": -0.3, "high": 0.3, "near": 0.001}
    values = {(name, metric): list(0.5 + shift + np.roll(noise, i)) for i, (name, shift) in enumerate(shifts.items())}
    comparison = Comparison([metric], list(shifts), "base", 5, 0.25, values)
    results = {method: record for (method, _), record in records(comparison).items()}
    assert {name: results[name]["verdict"] for name in ("low", "high", "near")} == {
        "low": low,
        "high": high,
        "near": "no significant difference",
    }
    assert results["low"]["difference"] == pytest.approx(-0.3)
    for name in ("low", "high"):
        assert results[name]["p_corrected"] / results[name]["p"] >= 2
    assert "verdict" not in results["base"]


def test_holms_correction_can_change_a_verdict():
    base, near = [0.50, 0.51, 0.52, 0.53, 0.54], [0.52, 0.52, 0.55, 0.55, 0.57]
    one = {("base", "micro_f1"): base, ("a", "micro_f1"): near}
    assert (
        records(Comparison(["micro_f1"], ["base", "a"], "base", 5, 0.25, one))["a", "micro_f1"]["verdict"] == "better"
    )
    many = {**one, **{(name, "micro_f1"): near for name in "bcdefgh"}}
    results = Comparison(["micro_f1"], ["base", *"abcdefgh"], "base", 5, 0.25, many).results()
    assert {record.get("verdict") for record in results} == {None, Verdict.NO_DIFFERENCE}


def _masks(n_samples, n_test):
    test = np.arange(n_samples) < n_test
    return [(~test, test), (~test[::-1], test[::-1])]


@pytest.mark.parametrize(
    ("cv", "n_folds", "ratio"),
    [
        (4, 4, 1 / 3),
        (RepeatedKFold(n_splits=3, n_repeats=4, random_state=0), 12, 1 / 2),
        (ShuffleSplit(6, train_size=80, test_size=20, random_state=0), 6, 1 / 4),
        (_masks(120, 24), 2, 1 / 4),
    ],
)
def test_tests_are_corrected_for_the_overlap_of_the_folds(cv, n_folds, ratio, data):
    """The variance of the mean is s^2 (1 / n + n_test / n_train), where 1 / n is at least the fraction of a fold."""
    comparison = compare(ESTIMATORS, *data, metrics=["macro_auc"], cv=cv, random_state=0)
    assert comparison.n_folds == n_folds
    assert comparison.test_train_ratio == pytest.approx(ratio)
    results = records(comparison)
    d = np.subtract(*(results[name, "macro_auc"]["folds"] for name in ("prior", "logistic")))
    t = d.mean() / np.sqrt(d.var(ddof=1) * (max(1 / n_folds, ratio / (1 + ratio)) + ratio))
    assert results["prior", "macro_auc"]["p"] == pytest.approx(2 * stats.t.sf(abs(t), n_folds - 1))


def test_a_method_that_fails_is_listed_and_left_out(data):
    estimators = {"failing": Failing(), "prior": LabelPrior()}
    comparison = compare(estimators, *data, metrics=["macro_auc"], cv=2, random_state=0)
    assert comparison.failed == {"failing": "cannot be fitted"}
    assert list(comparison.values) == [("prior", "macro_auc"), ("prior", "seconds")]
    assert [row[0] for row in comparison.to_table().rows] == ["prior"]
    assert "verdict" not in records(comparison)["prior", "macro_auc"]  # the reference is the method that failed


def test_a_metric_without_its_input_fails_the_method(data):
    X, Y = data
    comparison = compare({"ridge": RidgeClassifier()}, X, np.nan_to_num(Y), metrics=["log_loss"], cv=2, random_state=0)
    assert comparison.failed == {"ridge": "log_loss needs probabilities, got none"}


def test_the_table_shows_means_deviations_and_signs():
    values = {
        ("base", "macro_auc"): [0.5, 0.5, 0.5],
        ("base", "ranking_loss"): [0.2, np.nan, 0.2],
        ("better", "macro_auc"): [0.7, 0.71, 0.69],
        ("better", "ranking_loss"): [np.nan] * 3,
        ("base", "seconds"): [1.0] * 3,
        ("better", "seconds"): [2.0] * 3,
    }
    comparison = Comparison(["macro_auc", "ranking_loss"], ["base", "better"], "base", 3, 0.5, values)
    table = comparison.to_table()
    assert table.columns == ["method", "macro_auc (higher)", "ranking_loss (lower)", "seconds"]
    assert [[cell.text for cell in row] for row in table.cells] == [
        ["base (reference)", "0.5000 ± 0.0000", "0.2000 ± 0.0000", "1.0000 ± 0.0000"],
        ["better", "0.7000 ± 0.0100 +", "-", "2.0000 ± 0.0000"],
    ]
    assert table.cells[1][1].mark == "good"
    assert table.to_csv().splitlines()[2].split(",")[2] == "-"
    assert "+ better, - worse, = no significant difference" in table.note
    assert "(t-test over folds at the 5% significance level, corrected for their overlap" in table.note
    assert str(comparison) == table.to_text()


def test_errors_of_the_callback_are_raised(data):
    def callback(*_):
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        compare(ESTIMATORS, *data, cv=2, random_state=0, callback=callback)


def test_the_dictionary_is_that_of_json(data):
    comparison = compare(ESTIMATORS, *data, metrics=["macro_auc", "ranking_loss"], cv=3, random_state=0)
    comparison.values["ridge", "macro_auc"][1] = np.nan
    content = comparison.to_dict()
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert next(record["folds"][1] for record in content["results"] if record["method"] == "ridge") is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimators": {}}, "estimators must be a non-empty dictionary of unfitted estimators by name"),
        ({"reference": "svm"}, "reference must be one of the estimators, logistic, prior, ridge, got 'svm'"),
        ({"metrics": []}, "metrics must be a sequence of metric names, got "),
        ({"metrics": "macro_f1"}, "metrics must be a sequence of metric names, got 'macro_f1'"),
        ({"metrics": ["luck"]}, "metric must be one of ranking_loss"),
        ({"cv": 1}, "cv must be an integer of at least 2"),
    ],
)
def test_arguments_are_validated(data, options, message):
    X, Y = data
    with pytest.raises(ValueError, match=message):
        compare(**{"estimators": ESTIMATORS, "X": X, "Y": Y, **options})


def test_names_at_k_stand_for_1_3_and_5(data):
    comparison = compare(ESTIMATORS, *data, metrics=["precision_at_k", "precision_at_3"], cv=2, random_state=0)
    assert comparison.metrics == ["precision_at_1", "precision_at_3", "precision_at_5"]

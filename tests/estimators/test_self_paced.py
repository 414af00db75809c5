"""SelfPacedClassifier: any base estimator, exact reductions, and low weights for wrong labels."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from spmld import GLOCAL, LabelPrior, MaskedLogistic, MaskedRidge, PerLabelClassifier, SelfPacedClassifier
from spmld.datasets import make_planted
from spmld.labels import corrupt_labels, hide_labels
from spmld.metrics import ranking_loss, scorer
from spmld.model_selection import cross_val_predict
from spmld.pacing import (
    DiversePacing,
    GeometricSchedule,
    GroupSparsePacing,
    HardPacing,
    LinearPacing,
    LogarithmicPacing,
    QuantileSchedule,
)

FULL = QuantileSchedule(start=0.5, stop=1.0, n_iter=3)
RULES = [cls(schedule=FULL) for cls in (HardPacing, LinearPacing, LogarithmicPacing, GroupSparsePacing, DiversePacing)]
BASE_ESTIMATORS = [
    MaskedLogistic(),
    MaskedRidge(),
    GLOCAL(n_components=3, random_state=0),
    LabelPrior(),
    LogisticRegression(),
    SGDClassifier(random_state=0),
    LinearSVC(),
    GaussianNB(),
    RandomForestClassifier(5, random_state=0),
]


def fixed(threshold):
    """A schedule with the same threshold in all iterations."""
    return GeometricSchedule(threshold=threshold, growth=1.0, diversity=0.0, decay=1.0)


def name(thing):
    return type(thing).__name__


@pytest.fixture(scope="module")
def data():
    planted = make_planted(n_samples=240, n_features=10, n_labels=5, noise=0.1, random_state=0)
    planted.wrong = corrupt_labels(planted.Y, "permute", 0.3, random_state=0)
    planted.hidden = hide_labels(planted.wrong, observed_fraction=0.8, random_state=0)
    planted.observed = ~np.isnan(planted.hidden)
    planted.error = planted.observed & (planted.wrong != planted.Y)
    return planted


@pytest.mark.parametrize("pacing", RULES, ids=name)
@pytest.mark.parametrize(
    "base", [MaskedLogistic(tol=1e-8), MaskedRidge(tol=1e-8), LogisticRegression(tol=1e-9)], ids=name
)
def test_pacing_that_ends_at_full_weights_gives_the_solution_of_the_base_estimator(base, pacing, data):
    paced = SelfPacedClassifier(base, pacing=pacing).fit(data.X, data.hidden)
    assert (paced.self_paced_weights_[data.observed] == 1).all()
    alone = base if hasattr(base, "complete") else PerLabelClassifier(base)
    expected = clone(alone).fit(data.X, data.hidden).decision_function(data.X)
    np.testing.assert_allclose(paced.decision_function(data.X), expected, atol=1e-4)


@pytest.mark.parametrize("base", BASE_ESTIMATORS, ids=name)
def test_every_base_estimator_is_fitted_with_the_final_weights(base, data):
    model = SelfPacedClassifier(base).fit(data.X, data.hidden)
    P = model.self_paced_weights_
    assert (P[~data.observed] == 0).all()
    means = [record["mean_weight_positive"] for record in model.history_]
    assert min(means) >= 0.5
    if not isinstance(base, (LabelPrior, RandomForestClassifier)):  # ties at the threshold are all selected
        assert means[-1] == pytest.approx(0.8, abs=0.05)
    np.testing.assert_array_equal(model.decision_function(data.X), model.estimator_.decision_function(data.X))
    np.testing.assert_array_equal(model.predict_proba(data.X), model.estimator_.predict_proba(data.X))
    again = clone(model.estimator_)
    if getattr(again, "warm_start", False) is False:
        again.fit(data.X, np.where(data.observed, 2 * data.wrong - 1, np.nan), entry_weight=P)
        np.testing.assert_allclose(again.decision_function(data.X), model.decision_function(data.X), atol=1e-8)


@pytest.mark.parametrize(
    "base", [MaskedLogistic(C=3.0), LogisticRegression(C=3.0), SGDClassifier(random_state=0)], ids=name
)
def test_wrong_labels_have_low_weights_and_the_fit_improves(base, data):
    model = SelfPacedClassifier(base)
    P = model.fit(data.X, data.hidden).self_paced_weights_
    right, positive = data.observed & ~data.error, data.wrong > 0
    assert P[data.error & positive].mean() < 0.6 * P[right & positive].mean()
    assert P[data.error & ~positive].mean() < 0.8 * P[right & ~positive].mean()
    plain = PerLabelClassifier(base) if not hasattr(base, "complete") else base
    loss = ranking_loss(data.Y, clone(plain).fit(data.X, data.hidden).decision_function(data.X))
    assert ranking_loss(data.Y, model.decision_function(data.X)) < loss


@pytest.mark.parametrize(
    "pacing",
    [*RULES, HardPacing(schedule=fixed(1e-6)), GroupSparsePacing(schedule=GeometricSchedule())],
    ids=repr,
)
def test_polarity_groups_keep_a_positive_of_every_label_in_every_iteration(pacing, data, monkeypatch):
    Y = data.hidden.copy()
    Y[:, 0] = np.where(np.arange(len(Y)) == 3, 1, 0)  # a single positive, which is hard
    used = []
    fitted = SelfPacedClassifier._fitted
    monkeypatch.setattr(
        SelfPacedClassifier, "_fitted", lambda self, h, X, labels, w: (used.append(w), fitted(self, h, X, labels, w))[1]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        SelfPacedClassifier(pacing=pacing, max_iter=5).fit(data.X, Y)
    assert len(used) > 3
    for weights in used:
        assert (np.where(Y == 1, weights, 0).sum(axis=0) >= 1 - 1e-12).all()
        assert (np.where(Y == 0, weights, 0).sum(axis=0) >= 1 - 1e-12).all()


def test_one_threshold_for_all_entries_drops_positives_that_polarity_groups_keep(data):
    for groups, low in (("all", True), ("label", True), ("label_polarity", False)):
        model = SelfPacedClassifier(groups=groups, pacing=HardPacing(schedule=QuantileSchedule(stop=0.6))).fit(
            data.X, data.hidden
        )
        last = model.history_[-1]
        assert (last["mean_weight_positive"] < 0.9 * last["mean_weight_negative"]) == low


def test_groups_given_by_the_user(data):
    pacing = HardPacing(schedule=QuantileSchedule(start=0.5, stop=0.5))
    rows = np.arange(len(data.X)) % 3
    # One iteration: labels that lose all positives would have a constant score, and many entries equal losses.
    model = SelfPacedClassifier(pacing=pacing, max_iter=1)
    by_row = model.fit(data.X, data.hidden, pacing_groups=rows).self_paced_weights_
    for g in range(3):
        entries = data.observed & (rows == g)[:, None]
        assert by_row[entries].mean() == pytest.approx(0.5, abs=0.01)
    words = np.where(data.wrong > 0, "positive", "negative")
    by_entry = model.fit(data.X, data.hidden, pacing_groups=words).self_paced_weights_
    for word in ("positive", "negative"):
        assert by_entry[data.observed & (words == word)].mean() == pytest.approx(0.5, abs=0.03)


def test_cross_validation_splits_pacing_groups(data):
    groups, cv = np.arange(len(data.X)) % 3, KFold(3)
    pacing = HardPacing(schedule=QuantileSchedule(start=0.5, stop=0.7))
    model = SelfPacedClassifier(MaskedLogistic(), pacing=pacing)
    predicted = cross_val_predict(
        model, data.X, data.hidden, cv=cv, method="decision_function", params={"pacing_groups": groups}
    )
    for train, test in cv.split(data.X):
        fitted = clone(model).fit(data.X[train], data.hidden[train], pacing_groups=groups[train])
        np.testing.assert_array_equal(predicted[test], fitted.decision_function(data.X[test]))
    scores = cross_validate(
        model, data.X, data.hidden, cv=cv, scoring=scorer("ranking_loss"), params={"pacing_groups": groups}
    )["test_score"]
    assert np.isfinite(scores).all()
    search = GridSearchCV(model, {"max_iter": [20, 40]}, cv=cv, scoring=scorer("ranking_loss"))
    search.fit(data.X, data.hidden, pacing_groups=groups)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    # The groups of a fit are not those of the next one.
    fitted.fit(data.X, data.hidden)
    plain = clone(model).fit(data.X, data.hidden)
    np.testing.assert_array_equal(fitted.self_paced_weights_, plain.self_paced_weights_)


def test_losses_with_cv_are_out_of_fold(data):
    """A tree memorizes its training labels, including wrong ones; out-of-fold losses reveal them."""
    base = DecisionTreeClassifier(random_state=0)
    pacing = HardPacing(schedule=QuantileSchedule(start=0.7, stop=0.7, n_iter=1))
    weights = {}
    for cv in (None, KFold(3)):
        model = SelfPacedClassifier(base, pacing=pacing, cv=cv, max_iter=1).fit(data.X, data.hidden)
        P = model.self_paced_weights_
        weights[cv is None] = P[data.error].mean() / P[data.observed & ~data.error].mean()
    assert weights[True] == 1
    assert weights[False] < 0.97
    losses = model.losses_
    train, test = next(KFold(3).split(data.X))
    fold = PerLabelClassifier(base).fit(data.X[train], data.hidden[train])
    expected = np.logaddexp(0, -(2 * data.wrong[test] - 1) * fold.decision_function(data.X[test]))
    observed = data.observed[test]
    np.testing.assert_allclose(losses[test][observed], expected[observed], rtol=1e-6)


def test_losses_are_computed_from_scores_or_probabilities(data):
    once = {"pacing": HardPacing(schedule=fixed(100.0)), "max_iter": 1}
    scores = SelfPacedClassifier(LogisticRegression(), **once).fit(data.X, data.hidden)
    margins = (2 * data.wrong - 1) * scores.decision_function(data.X)
    np.testing.assert_allclose(scores.losses_[data.observed], np.logaddexp(0, -margins)[data.observed], rtol=1e-6)
    assert np.isnan(scores.losses_[~data.observed]).all()
    squared = SelfPacedClassifier(MaskedRidge(), **once).fit(data.X, data.hidden)
    residual = 2 * data.wrong - 1 - squared.decision_function(data.X)
    np.testing.assert_allclose(squared.losses_[data.observed], residual[data.observed] ** 2 / 2)


def test_records_sum_to_the_objective(data):
    model = SelfPacedClassifier(pacing=LinearPacing(schedule=QuantileSchedule(start=0.4, stop=0.8))).fit(
        data.X, data.hidden
    )
    last, P = model.history_[-1], model.self_paced_weights_
    assert [record["iteration"] for record in model.history_] == list(range(1, model.n_iter_ + 1))
    assert last["fit"] == pytest.approx(np.nansum(P * model.losses_))
    assert last["objective"] == pytest.approx(last["fit"] + last["pacing"])
    assert last["mean_weight"] == pytest.approx(P[data.observed].mean())
    np.testing.assert_allclose(last["mean_weight_per_label"], P.sum(axis=0) / data.observed.sum(axis=0))
    assert last["mean_weight_positive"] == pytest.approx(P[data.observed & (data.wrong > 0)].mean())


def test_a_schedule_that_does_not_end_warns(data):
    model = SelfPacedClassifier(pacing=HardPacing(schedule=QuantileSchedule(start=0.2, stop=0.6, n_iter=5)))
    means = [record["mean_weight_positive"] for record in model.fit(data.X, data.hidden).history_]
    np.testing.assert_allclose(means[:5], [0.2, 0.3, 0.4, 0.5, 0.6], atol=0.03)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model.set_params(max_iter=2).fit(data.X, data.hidden)


class OnlyProbabilities(BaseEstimator):
    """A third-party estimator with entry weights and without scores."""

    def fit(self, X, y, entry_weight=None):
        self.model_ = MaskedLogistic().fit(X, y, entry_weight=entry_weight)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X):
        return self.model_.predict_proba(X)


def test_an_estimator_without_scores_is_weighted_by_its_probabilities(data):
    scores = SelfPacedClassifier(MaskedLogistic()).fit(data.X, data.hidden)
    probabilities = SelfPacedClassifier(OnlyProbabilities()).fit(data.X, data.hidden)
    np.testing.assert_array_equal(probabilities.self_paced_weights_, scores.self_paced_weights_)
    np.testing.assert_allclose(probabilities.decision_function(data.X), scores.decision_function(data.X), atol=1e-6)
    np.testing.assert_allclose(probabilities.predict_proba(data.X), scores.predict_proba(data.X), atol=1e-12)


def test_entry_weights_multiply_the_self_paced_weights(data):
    weights = np.random.default_rng(0).uniform(0.1, 2, data.Y.shape)
    model = SelfPacedClassifier(MaskedLogistic(tol=1e-9)).fit(data.X, data.hidden, entry_weight=weights)
    base = MaskedLogistic(tol=1e-9).fit(data.X, data.hidden, entry_weight=weights * model.self_paced_weights_)
    np.testing.assert_allclose(model.decision_function(data.X), base.decision_function(data.X), atol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"estimator": LabelPrior},
            "'estimator' parameter of SelfPacedClassifier must be an object implementing 'fit'",
        ),
        ({"estimator": KFold(3)}, "'estimator' parameter of SelfPacedClassifier must be an object implementing 'fit'"),
        ({"estimator": make_pipeline(LogisticRegression())}, "A Pipeline does not: make SelfPacedClassifier its last"),
        ({"estimator": KNeighborsClassifier()}, "fit accepts entry_weight or sample_weight"),
        ({"groups": "labels"}, "'groups' parameter of SelfPacedClassifier must be a str among .*'label_polarity'"),
        ({"cv": ShuffleSplit(2)}, "cv must test each sample, but leaves out"),
    ],
)
def test_invalid_parameters_raise(options, message, data):
    with pytest.raises(ValueError, match=message):
        SelfPacedClassifier(**options).fit(data.X, data.hidden)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (np.zeros(7), r"pacing_groups must have shape \(240,\) or \(240, 5\), got \(7,\)"),
        (np.array(["a", None] * 120), "pacing_groups must contain values of one type"),
    ],
)
def test_invalid_pacing_groups_raise(groups, message, data):
    with pytest.raises(ValueError, match=message):
        SelfPacedClassifier().fit(data.X, data.hidden, pacing_groups=groups)


def test_iterations_and_folds_use_the_given_weights(data, monkeypatch):
    entry_weight, weights = np.random.default_rng(0).uniform(0.5, 2, data.Y.shape), []
    fit = MaskedLogistic.fit

    def spy(self, X, y, mask=None, entry_weight=None):
        weights.append(entry_weight)
        return fit(self, X, y, mask, entry_weight)

    monkeypatch.setattr(MaskedLogistic, "fit", spy)
    SelfPacedClassifier(cv=KFold(2), max_iter=1, pacing=HardPacing(schedule=fixed(1.0))).fit(
        data.X, data.hidden, entry_weight=entry_weight
    )
    whole = np.where(data.observed, entry_weight, 0)
    train = [samples for samples, _ in KFold(2).split(data.X)]
    for actual, expected in zip(weights, (whole, whole[train[0]], whole[train[1]]), strict=False):
        np.testing.assert_array_equal(actual, expected)


def test_iteration_stops_when_the_schedule_has_ended_and_the_weights_are_constant(data):
    model = SelfPacedClassifier(
        MaskedLogistic(), pacing=HardPacing(schedule=QuantileSchedule(start=0.9, stop=1.0, n_iter=6))
    )
    model.fit(data.X, data.hidden)
    assert 6 <= model.n_iter_ <= 7
    assert model.history_[-1]["change"] <= model.tol
    full = SelfPacedClassifier(pacing=HardPacing(schedule=GeometricSchedule(threshold=1e6))).fit(data.X, data.hidden)
    assert full.n_iter_ == 1  # all weights are 1, and a later threshold cannot change that
    steady = SelfPacedClassifier(pacing=HardPacing(schedule=fixed(1e6))).fit(data.X, data.hidden)
    assert steady.n_iter_ == 1


def test_completion_is_that_of_the_base_estimator(data):
    model = SelfPacedClassifier(GLOCAL(random_state=0)).fit(data.X, data.hidden)
    confidences = model.complete(data.X, data.hidden).confidences
    expected = model.estimator_.complete(data.X, np.where(data.observed, 2 * data.wrong - 1, np.nan)).confidences
    np.testing.assert_allclose(confidences, expected)

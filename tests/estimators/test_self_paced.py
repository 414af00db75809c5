"""SelfPacedClassifier: any host, exact reductions, and wrong labels left out."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from spmld import GLOCAL, LabelPrior, MaskedLogistic, MaskedRidge, MLkNN, PerLabelClassifier, SelfPacedClassifier
from spmld.datasets import make_planted
from spmld.labels import corrupt_labels, hide_labels, read_labels
from spmld.metrics import ranking_loss
from spmld.pacing import (
    DiversePacing,
    FixedSchedule,
    GeometricSchedule,
    GroupSparsePacing,
    HardPacing,
    LinearPacing,
    LogarithmicPacing,
    QuantileSchedule,
    ReleasedPacing,
)

FULL = QuantileSchedule(start=0.5, stop=1.0, n_iter=3)
PACES = [cls(schedule=FULL) for cls in (HardPacing, LinearPacing, LogarithmicPacing, GroupSparsePacing, DiversePacing)]
HOSTS = [
    MaskedLogistic(),
    MaskedRidge(),
    GLOCAL(n_components=3, random_state=0),
    MLkNN(),
    LabelPrior(),
    LogisticRegression(),
    SGDClassifier(random_state=0),
    LinearSVC(),
    GaussianNB(),
    RandomForestClassifier(5, random_state=0),
]


def name(thing):
    return type(thing).__name__


@pytest.fixture(scope="module")
def data():
    planted = make_planted(n_samples=240, n_features=10, n_labels=5, noise=0.1, random_state=0)
    planted.wrong = corrupt_labels(planted.Y, "permute", 0.3, random_state=0)
    planted.hidden = hide_labels(planted.wrong, observed_fraction=0.8, random_state=0)
    planted.known = ~np.isnan(planted.hidden)
    planted.error = planted.known & (planted.wrong != planted.Y)
    return planted


@pytest.mark.parametrize("pacing", PACES, ids=name)
@pytest.mark.parametrize(
    "host", [MaskedLogistic(tol=1e-8), MaskedRidge(tol=1e-8), LogisticRegression(tol=1e-9)], ids=name
)
def test_a_pace_that_ends_at_full_weights_gives_the_hosts_own_solution(host, pacing, data):
    paced = SelfPacedClassifier(host, pacing=pacing).fit(data.X, data.hidden)
    assert (paced.self_paced_weights_[data.known] == 1).all()
    alone = host if hasattr(host, "complete") else PerLabelClassifier(host)
    expected = clone(alone).fit(data.X, data.hidden).decision_function(data.X)
    np.testing.assert_allclose(paced.decision_function(data.X), expected, atol=1e-4)


@pytest.mark.parametrize("host", HOSTS, ids=name)
def test_every_host_learns_what_is_easy_and_answers_as_itself(host, data):
    model = SelfPacedClassifier(host).fit(data.X, data.hidden)
    P = model.self_paced_weights_
    assert (P[~data.known] == 0).all()
    shares = [record["mean_weight_positive"] for record in model.history_]
    assert min(shares) >= 0.5
    if not isinstance(host, (MLkNN, LabelPrior, RandomForestClassifier)):  # ties at the threshold are taken together
        assert shares[-1] == pytest.approx(0.8, abs=0.05)
    np.testing.assert_array_equal(model.decision_function(data.X), model.estimator_.decision_function(data.X))
    np.testing.assert_array_equal(model.predict_proba(data.X), model.estimator_.predict_proba(data.X))
    again = clone(model.estimator_)
    if getattr(again, "warm_start", False) is False:
        again.fit(data.X, np.where(data.known, 2 * data.wrong - 1, np.nan), entry_weight=P)
        np.testing.assert_allclose(again.decision_function(data.X), model.decision_function(data.X), atol=1e-8)


@pytest.mark.parametrize(
    "host", [MaskedLogistic(C=3.0), LogisticRegression(C=3.0), SGDClassifier(random_state=0)], ids=name
)
def test_wrong_labels_lose_their_weight_and_the_fit_gains(host, data):
    model = SelfPacedClassifier(host)
    P = model.fit(data.X, data.hidden).self_paced_weights_
    right, positive = data.known & ~data.error, data.wrong > 0
    assert P[data.error & positive].mean() < 0.6 * P[right & positive].mean()
    assert P[data.error & ~positive].mean() < 0.8 * P[right & ~positive].mean()
    plain = PerLabelClassifier(host) if not hasattr(host, "complete") else host
    loss = ranking_loss(data.Y, clone(plain).fit(data.X, data.hidden).decision_function(data.X))
    assert ranking_loss(data.Y, model.decision_function(data.X)) < loss


@pytest.mark.parametrize(
    "pacing",
    [*PACES, HardPacing(schedule=FixedSchedule(threshold=1e-6)), GroupSparsePacing(schedule=GeometricSchedule())],
    ids=repr,
)
def test_polarity_groups_keep_a_positive_of_every_label_in_every_round(pacing, data, monkeypatch):
    Y = data.hidden.copy()
    Y[:, 0] = np.where(np.arange(len(Y)) == 3, 1, 0)  # a single positive, and not an easy one
    seen = []
    fitted = SelfPacedClassifier._fitted
    monkeypatch.setattr(
        SelfPacedClassifier, "_fitted", lambda self, h, X, labels, w: (seen.append(w), fitted(self, h, X, labels, w))[1]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        SelfPacedClassifier(pacing=pacing, max_iter=5).fit(data.X, Y)
    assert len(seen) > 3
    for weights in seen:
        assert (np.where(Y == 1, weights, 0).sum(axis=0) >= 1 - 1e-12).all()
        assert (np.where(Y == 0, weights, 0).sum(axis=0) >= 1 - 1e-12).all()


def test_one_threshold_for_all_deletes_positives_where_polarity_keeps_them(data):
    for groups, low in (("all", True), ("label", True), ("label_polarity", False)):
        model = SelfPacedClassifier(groups=groups, pacing=HardPacing(schedule=QuantileSchedule(stop=0.6))).fit(
            data.X, data.hidden
        )
        last = model.history_[-1]
        assert (last["mean_weight_positive"] < 0.9 * last["mean_weight_negative"]) == low


def test_groups_by_cluster_and_by_the_user(data):
    pacing = HardPacing(schedule=QuantileSchedule(start=0.5, stop=0.5))
    rows = np.arange(len(data.X)) % 3
    by_row = SelfPacedClassifier(groups=rows, pacing=pacing).fit(data.X, data.hidden).self_paced_weights_
    for g in range(3):
        entries = data.known & (rows == g)[:, None]
        assert by_row[entries].mean() == pytest.approx(0.5, abs=0.01)
    words = np.where(data.wrong > 0, "positive", "negative")
    by_entry = SelfPacedClassifier(groups=words, pacing=pacing).fit(data.X, data.hidden).self_paced_weights_
    for word in ("positive", "negative"):
        assert by_entry[data.known & (words == word)].mean() == pytest.approx(0.5, abs=0.03)
    clusters = SelfPacedClassifier(groups="cluster", n_clusters=2, pacing=pacing, random_state=0).fit(
        data.X, data.hidden
    )
    everything = SelfPacedClassifier(groups="all", pacing=pacing).fit(data.X, data.hidden)
    assert clusters.history_[0]["mean_weight"] == pytest.approx(0.5, abs=0.01)
    assert (clusters.self_paced_weights_ != everything.self_paced_weights_).any()


def test_cross_fitted_losses_are_of_learners_that_have_not_seen_the_sample(data):
    """A tree learns its training labels by heart, wrong ones included; held-out samples show its mistakes."""
    host = DecisionTreeClassifier(random_state=0)
    pacing = HardPacing(schedule=QuantileSchedule(start=0.7, stop=0.7, n_iter=1))
    weights = {}
    for cv in (None, KFold(3)):
        model = SelfPacedClassifier(host, pacing=pacing, cv=cv, max_iter=1).fit(data.X, data.hidden)
        P = model.self_paced_weights_
        weights[cv is None] = P[data.error].mean() / P[data.known & ~data.error].mean()
    assert weights[True] == 1
    assert weights[False] < 0.97
    seen = model.losses_
    train, test = next(KFold(3).split(data.X))
    fold = PerLabelClassifier(host).fit(data.X[train], data.hidden[train])
    expected = np.logaddexp(0, -(2 * data.wrong[test] - 1) * fold.decision_function(data.X[test]))
    known = data.known[test]
    np.testing.assert_allclose(seen[test][known], expected[known], rtol=1e-6)


def test_losses_come_from_scores_or_from_probabilities(data):
    one_round = {"pacing": HardPacing(schedule=FixedSchedule(threshold=100.0)), "max_iter": 1}
    scores = SelfPacedClassifier(LogisticRegression(), **one_round).fit(data.X, data.hidden)
    chances = SelfPacedClassifier(LogisticRegression(), response_method="predict_proba", **one_round).fit(
        data.X, data.hidden
    )
    np.testing.assert_allclose(scores.losses_, chances.losses_, rtol=1e-6)
    assert np.isnan(scores.losses_[~data.known]).all()
    squared = SelfPacedClassifier(MaskedRidge(), **one_round).fit(data.X, data.hidden)
    residual = 2 * data.wrong - 1 - squared.decision_function(data.X)
    np.testing.assert_allclose(squared.losses_[data.known], residual[data.known] ** 2 / 2)


def test_history_adds_up(data):
    model = SelfPacedClassifier(pacing=LinearPacing(schedule=QuantileSchedule(start=0.4, stop=0.8))).fit(
        data.X, data.hidden
    )
    last, P = model.history_[-1], model.self_paced_weights_
    assert [record["iteration"] for record in model.history_] == list(range(1, model.n_iter_ + 1))
    assert last["fit"] == pytest.approx(np.nansum(P * model.losses_))
    assert last["objective"] == pytest.approx(last["fit"] + last["pacing"])
    assert last["mean_weight"] == pytest.approx(P[data.known].mean())
    np.testing.assert_allclose(last["mean_weight_per_label"], P.sum(axis=0) / data.known.sum(axis=0))
    assert last["mean_weight_positive"] == pytest.approx(P[data.known & (data.wrong > 0)].mean())


def test_the_schedule_runs_to_its_end_and_a_short_one_is_told(data):
    model = SelfPacedClassifier(pacing=HardPacing(schedule=QuantileSchedule(start=0.2, stop=0.6, n_iter=5)))
    shares = [record["mean_weight_positive"] for record in model.fit(data.X, data.hidden).history_]
    np.testing.assert_allclose(shares[:5], [0.2, 0.3, 0.4, 0.5, 0.6], atol=0.03)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model.set_params(max_iter=2).fit(data.X, data.hidden)


def test_unobserved_entries_are_never_read(data):
    clean = SelfPacedClassifier(cv=3, random_state=0).fit(data.X, data.hidden)
    for poison in (0.0, 1.0, np.inf):
        poisoned = SelfPacedClassifier(cv=3, random_state=0)
        poisoned.fit(data.X, np.where(data.known, data.wrong, poison), mask=data.known)
        np.testing.assert_array_equal(poisoned.self_paced_weights_, clean.self_paced_weights_)
        np.testing.assert_array_equal(poisoned.decision_function(data.X), clean.decision_function(data.X))


def test_permuting_samples_or_labels_permutes_weights_and_answers(data):
    rows, labels = np.random.default_rng(0).permutation(240), np.random.default_rng(1).permutation(5)
    model = SelfPacedClassifier(MaskedLogistic(tol=1e-9)).fit(data.X, data.hidden)
    moved = SelfPacedClassifier(MaskedLogistic(tol=1e-9)).fit(data.X[rows], data.hidden[rows][:, labels])
    np.testing.assert_array_equal(moved.self_paced_weights_, model.self_paced_weights_[rows][:, labels])
    expected = model.decision_function(data.X)[:, labels]
    np.testing.assert_allclose(moved.decision_function(data.X), expected, atol=1e-5)


def test_clusters_of_sparse_features_with_long_indices(data):
    X = sp.csr_array(data.X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    options = {"groups": "cluster", "n_clusters": 3, "random_state": 0}
    dense = SelfPacedClassifier(**options).fit(data.X, data.hidden)
    np.testing.assert_array_equal(
        SelfPacedClassifier(**options).fit(X, data.hidden).self_paced_weights_, dense.self_paced_weights_
    )


class OnlyProbabilities(BaseEstimator):
    """A learner of somebody else's, with entry weights and no scores."""

    def fit(self, X, y, entry_weight=None):
        self.model_ = MaskedLogistic().fit(X, y, entry_weight=entry_weight)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X):
        return self.model_.predict_proba(X)


def test_a_learner_with_probabilities_alone_is_paced_as_with_scores(data):
    mine = SelfPacedClassifier(MaskedLogistic()).fit(data.X, data.hidden)
    theirs = SelfPacedClassifier(OnlyProbabilities()).fit(data.X, data.hidden)
    np.testing.assert_array_equal(theirs.self_paced_weights_, mine.self_paced_weights_)
    np.testing.assert_allclose(theirs.decision_function(data.X), mine.decision_function(data.X), atol=1e-6)
    np.testing.assert_allclose(theirs.predict_proba(data.X), mine.predict_proba(data.X), atol=1e-12)


def test_sparse_and_torch_features_give_the_same(data):
    host = MaskedLogistic(tol=1e-9)
    expected = SelfPacedClassifier(host).fit(data.X, data.hidden)
    sparse = SelfPacedClassifier(host).fit(sp.csr_array(data.X), data.hidden)
    np.testing.assert_array_equal(sparse.self_paced_weights_, expected.self_paced_weights_)
    tensor = torch.from_numpy(data.X)
    found = SelfPacedClassifier(host).fit(tensor, data.hidden)
    np.testing.assert_array_equal(found.self_paced_weights_, expected.self_paced_weights_)
    assert isinstance(found.decision_function(tensor), torch.Tensor)


def test_given_weights_stay_in_force(data):
    given = np.random.default_rng(0).uniform(0.1, 2, data.Y.shape)
    model = SelfPacedClassifier(MaskedLogistic(tol=1e-9)).fit(data.X, data.hidden, entry_weight=given)
    host = MaskedLogistic(tol=1e-9).fit(data.X, data.hidden, entry_weight=given * model.self_paced_weights_)
    np.testing.assert_allclose(model.decision_function(data.X), host.decision_function(data.X), atol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": MLkNN}, "estimator of SelfPacedClassifier must be None or an estimator"),
        ({"estimator": KFold(3)}, "estimator of SelfPacedClassifier must be None or an estimator"),
        ({"groups": "labels"}, "groups of SelfPacedClassifier must be 'label_polarity' or 'label'"),
        ({"groups": np.zeros(7)}, r"groups of SelfPacedClassifier must have shape \(240,\) or \(240, 5\), got \(7,\)"),
        ({"groups": np.array(["a", None] * 120)}, "groups of SelfPacedClassifier must be of one type"),
        ({"estimator": make_pipeline(LogisticRegression())}, "a Pipeline does not: put this one at its end"),
        ({"pacing": ReleasedPacing()}, "the released rule has columns for groups"),
        (
            {"pacing": HardPacing(schedule=QuantileSchedule(stop=()))},
            r"stop of QuantileSchedule must be in \(0, 1\], got \(\)",
        ),
        ({"response_method": "proba"}, "response of SelfPacedClassifier must be 'auto'"),
        ({"pacing": HardPacing}, "pacing of SelfPacedClassifier must be None or a pacing"),
        (
            {"pacing": HardPacing(schedule=QuantileSchedule(stop=1.5))},
            r"stop of QuantileSchedule must be in \(0, 1\], got 1.5",
        ),
        (
            {"pacing": HardPacing(schedule=QuantileSchedule(stop=(0.5, 0.0)))},
            r"stop of QuantileSchedule must be in \(0, 1\], got \(0.5",
        ),
        ({"pacing": LogarithmicPacing(softness=1.0)}, r"softness of LogarithmicPacing must be in \(0, 1\)"),
        ({"cv": ShuffleSplit(2)}, "cv of SelfPacedClassifier must test each sample once"),
        ({"max_iter": 0}, "max_iter of SelfPacedClassifier must be an integer of 1 or more"),
        ({"tol": -1.0}, "tol of SelfPacedClassifier must be 0 or more"),
    ],
)
def test_wrong_parameters_are_named(options, message, data):
    with pytest.raises(ValueError, match=message):
        SelfPacedClassifier(**options).fit(data.X, data.hidden)


def test_a_host_without_weights_is_refused(data):
    from sklearn.neighbors import KNeighborsClassifier

    with pytest.raises(ValueError, match="fit takes entry_weight or sample_weight"):
        SelfPacedClassifier(KNeighborsClassifier()).fit(data.X, data.hidden)


def test_iterations_and_folds_use_the_given_weights(data, monkeypatch):
    entry_weight, weights = np.random.default_rng(0).uniform(0.5, 2, data.Y.shape), []
    fit = MaskedLogistic.fit

    def spy(self, X, y, mask=None, entry_weight=None):
        weights.append(entry_weight)
        return fit(self, X, y, mask, entry_weight)

    monkeypatch.setattr(MaskedLogistic, "fit", spy)
    SelfPacedClassifier(cv=KFold(2), max_iter=1, pacing=HardPacing(schedule=FixedSchedule())).fit(
        data.X, data.hidden, entry_weight=entry_weight
    )
    whole = np.where(data.known, entry_weight, 0)
    train = [samples for samples, _ in KFold(2).split(data.X)]
    for actual, expected in zip(weights, (whole, whole[train[0]], whole[train[1]]), strict=False):
        np.testing.assert_array_equal(actual, expected)


def test_it_stops_when_the_schedule_has_ended_and_the_weights_stand(data):
    model = SelfPacedClassifier(
        MaskedLogistic(), pacing=HardPacing(schedule=QuantileSchedule(start=0.9, stop=1.0, n_iter=6))
    )
    model.fit(data.X, data.hidden)
    assert 6 <= model.n_iter_ <= 7
    assert model.history_[-1]["change"] <= model.tol
    full = SelfPacedClassifier(pacing=HardPacing(schedule=GeometricSchedule(threshold=1e6))).fit(data.X, data.hidden)
    assert full.n_iter_ == 1  # all weights are 1, and a later threshold cannot change that
    steady = SelfPacedClassifier(pacing=HardPacing(schedule=FixedSchedule(threshold=1e6))).fit(data.X, data.hidden)
    assert steady.n_iter_ == 1


def test_without_polarity_the_default_leaves_out_a_fifth(data):
    model = SelfPacedClassifier(groups="label").fit(data.X, data.hidden)
    assert [record["mean_weight"] for record in model.history_][:4] == pytest.approx([0.5, 0.6, 0.7, 0.8], abs=0.02)


def test_clusters_are_as_many_as_asked_for_and_hold_whole_samples(data):
    labels = read_labels(data.hidden)
    for count in (2, 5):
        model = SelfPacedClassifier(groups="cluster", n_clusters=count)
        numbers = [model._members(data.X, labels, np.random.RandomState(seed)).numbers[0] for seed in (0, 0)]
        assert len(np.unique(numbers[0][data.known])) == count
        np.testing.assert_array_equal(numbers[0], numbers[1])
        for row in np.where(data.known, numbers[0], -1):
            assert len(np.unique(row[row >= 0])) <= 1


def test_completion_is_the_hosts(data):
    model = SelfPacedClassifier(GLOCAL(random_state=0)).fit(data.X, data.hidden)
    found = model.complete(data.X, data.hidden).confidences
    expected = model.estimator_.complete(data.X, np.where(data.known, 2 * data.wrong - 1, np.nan)).confidences
    np.testing.assert_allclose(found, expected)

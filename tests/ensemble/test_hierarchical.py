"""HierarchicalClassifier: coherent predictions, and the base estimator without a hierarchy."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from spmld import (
    HierarchicalClassifier,
    MaskedLogistic,
    MaskedRidge,
    SelfPacedClassifier,
    SelfPacedEnsemble,
    load,
    save,
)
from spmld.core.losses import logistic
from spmld.ensemble import hierarchical_ensemble
from spmld.estimators import ThresholdClassifier
from spmld.labels import Hierarchy, read_labels
from spmld.labels.hierarchy import inference_weights
from spmld.metrics import hierarchical_f1, micro_f1

EDGES = [(0, 1), (0, 2), (1, 3), (2, 3), (4, 5)]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(250, 6))
    Y = (Hierarchy(EDGES).project(X + rng.normal(size=X.shape)) > 0).astype(float)
    return X, np.where(rng.random(Y.shape) < 0.6, Y, np.nan), Y


def coherent(values):
    parents, children = np.array(EDGES).T
    return (values[:, children] <= values[:, parents]).all()


def small_ensemble():
    return SelfPacedEnsemble(views=["linear"], Cs=(3.0,), random_state=0)


@pytest.mark.parametrize("base", [MaskedLogistic(), MaskedRidge(), small_ensemble()])
def test_without_a_hierarchy_predictions_are_those_of_the_base_estimator(base, data):
    X, Y, _ = data
    flat, fitted = HierarchicalClassifier(base).fit(X, Y), clone(base).fit(X, Y)
    assert np.allclose(flat.predict_proba(X), fitted.predict_proba(X), atol=1e-12)
    assert (flat.predict(X) == fitted.predict(X)).all()
    assert (flat.complete(X, Y).labels == fitted.complete(X, Y).labels).all()


@pytest.mark.parametrize("base", [MaskedLogistic(), MaskedRidge(), small_ensemble()])
def test_predictions_are_coherent(base, data):
    X, Y, _ = data
    model = HierarchicalClassifier(base, EDGES).fit(X, Y)
    assert not coherent(clone(base).fit(X, Y).predict_proba(X))
    values = model.predict_proba(X), model.decision_function(X), model.predict(X), model.complete(X, Y).labels
    assert all(coherent(value) for value in values)


def thresholds(base, **options):
    return ThresholdClassifier(base, **{"cv": 3, "random_state": 0, **options})


def hierarchical(base):
    return HierarchicalClassifier(base, EDGES)


@pytest.mark.parametrize("decision", ["f1", "macro_f1", 0.3, 2, {3: 0.1, 0: 0.9}])
@pytest.mark.parametrize(
    "make",
    [
        lambda base, **options: hierarchical(thresholds(base, **options)),
        lambda base, **options: thresholds(hierarchical(base), **options),
        lambda base, **options: thresholds(SelfPacedClassifier(hierarchical(base)), **options),
        lambda base, **options: thresholds(thresholds(hierarchical(base)), **options),
        lambda base, **options: thresholds(make_pipeline(StandardScaler(), hierarchical(base)), **options),
        lambda base, **options: thresholds(
            GridSearchCV(hierarchical(base), {"estimator__C": [1.0]}, cv=KFold(2)), **options
        ),
    ],
    ids=["hierarchy of thresholds", "thresholds of hierarchy", "self-paced", "twice", "pipeline", "search"],
)
def test_calibrated_decisions_are_coherent_in_every_order(make, decision, data):
    X, Y, truth = data
    model = make(MaskedLogistic(), decision=decision).fit(X, Y)
    completion = model.complete(X, Y)
    for values in (model.predict_proba(X), model.decision_function(X), model.predict(X), completion.labels):
        assert coherent(values)
    assert micro_f1(truth, model.predict(X)) > 0.6
    inferred = Hierarchy(EDGES).infer(Y)
    implied = ~np.isnan(inferred)
    assert (completion.labels[implied] == inferred[implied]).all()
    flat = thresholds(MaskedLogistic(), decision=decision).fit(X, Y)
    assert not coherent(flat.predict(X))


@pytest.mark.parametrize(
    "wrap", [lambda base: hierarchical(thresholds(base)), lambda base: thresholds(hierarchical(base))]
)
def test_calibration_is_not_biased_by_inferred_labels(wrap):
    """Inferred positives are those of general labels, and inferred negatives those of specific ones."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 6))
    truth = (Hierarchy(EDGES).project(X + rng.normal(size=X.shape)) > 0).astype(float)
    model = wrap(MaskedLogistic()).fit(X, np.where(rng.random(truth.shape) < 0.4, truth, np.nan))
    assert np.allclose(model.predict_proba(X).mean(axis=0), truth.mean(axis=0), atol=0.03)


def test_without_a_hierarchy_calibrated_decisions_are_those_of_the_flat_classifier(data):
    X, Y, _ = data
    flat = thresholds(MaskedRidge()).fit(X, Y)
    for model in (HierarchicalClassifier(thresholds(MaskedRidge())), thresholds(HierarchicalClassifier(MaskedRidge()))):
        model.fit(X, Y)
        assert (model.predict(X) == flat.predict(X)).mean() > 0.95
    wrapped = HierarchicalClassifier(thresholds(MaskedRidge())).fit(X, Y)
    assert np.allclose(wrapped.predict_proba(X), flat.predict_proba(X), atol=1e-12)
    assert (wrapped.predict(X) == flat.predict(X)).all()


def test_calibrated_hierarchies_keep_names_and_model_files(data, tmp_path):
    X, Y, _ = data
    names = list("abcdef")
    frame = pd.DataFrame(Y, columns=names)
    edges = [(names[i], names[j]) for i, j in EDGES]
    for model in (
        HierarchicalClassifier(thresholds(MaskedLogistic(), decision={"f": 0.2}), edges),
        thresholds(HierarchicalClassifier(MaskedLogistic(), edges), decision={"f": 0.2}),
    ):
        model.fit(X, frame)
        assert model.label_names_ == names
        save(model, tmp_path / "model.skops")
        loaded = load(tmp_path / "model.skops")
        assert (loaded.predict_proba(X) == model.predict_proba(X)).all()
        assert (loaded.complete(X, frame).labels == model.complete(X, frame).labels).all(axis=None)


def test_the_base_estimator_is_fitted_to_inferred_labels(data):
    X, Y, _ = data
    model = HierarchicalClassifier(MaskedLogistic(), EDGES).fit(X, Y)
    inferred = Hierarchy(EDGES).infer(Y)
    weights = inference_weights(read_labels(Y), read_labels(inferred))
    expected = MaskedLogistic().fit(X, inferred, entry_weight=weights)
    assert np.allclose(model.estimator_.predict_proba(X), expected.predict_proba(X))


def test_decisions_have_the_largest_sum_of_margins(data):
    X, Y, _ = data
    model = HierarchicalClassifier(small_ensemble(), EDGES).fit(X, Y)
    sets = np.array([s for s in np.ndindex(*[2] * 6) if coherent(np.array([s]))])
    margins = model.estimator_._margins(model.decision_function(X))
    assert np.allclose((margins * model.predict(X)).sum(axis=1), (margins @ sets.T).max(axis=1))


def test_completion_keeps_implied_labels(data):
    X, Y, _ = data
    inferred = Hierarchy(EDGES).infer(Y)
    completed = HierarchicalClassifier(MaskedLogistic(), EDGES).fit(X, Y).complete(X, Y).labels
    implied = ~np.isnan(inferred)
    assert (completed[implied] == inferred[implied]).all()


def test_labels_without_names_are_completed_by_a_model_of_named_labels(data):
    X, Y, _ = data
    names = list("abcdef")
    model = HierarchicalClassifier(MaskedLogistic(), [(names[i], names[j]) for i, j in EDGES])
    model.fit(X, pd.DataFrame(Y, columns=names))
    assert (model.complete(X, Y).labels == model.complete(X, pd.DataFrame(Y, columns=names)).labels.to_numpy()).all()


def test_out_of_fold_scores_are_projected(data):
    X, Y, _ = data
    model = HierarchicalClassifier(small_ensemble(), EDGES).fit(X, Y)
    p, base = logistic(model.out_of_fold_scores_), logistic(model.estimator_.out_of_fold_scores_)
    assert not coherent(base)
    assert np.allclose(p, Hierarchy(EDGES).project(base))


def test_the_default_has_a_kernel_ridge_regression_and_more_trees(data):
    X, Y, _ = data
    model = HierarchicalClassifier(hierarchy=EDGES).fit(X[:100], Y[:100])
    base = model.estimator_
    assert set(base.view_weights_) == {"linear", "kernel", "boosting", "kernel ridge"}
    assert (base.keep_fraction_, base.scoring, max(base.n_trees)) == (1.0, "micro_average_precision", 800)
    assert coherent(model.predict_proba(X))
    assert hierarchical_ensemble(n_trees=(5,), decision=2).get_params()["n_trees"] == (5,)


def test_model_files_keep_the_hierarchy(data, tmp_path):
    X, Y, _ = data
    model = HierarchicalClassifier(MaskedLogistic(), Hierarchy(EDGES)).fit(X, Y)
    save(model, tmp_path / "model.skops")
    assert (load(tmp_path / "model.skops").predict_proba(X) == model.predict_proba(X)).all()


def test_hierarchical_f1_counts_ancestors(data):
    _, _, Y = data
    rng, above = np.random.default_rng(0), Hierarchy(EDGES).ancestors(range(6))
    predicted = (rng.random(Y.shape) < 0.3).astype(int)
    closures = [
        [{int(a) for label in np.flatnonzero(row) for a in np.flatnonzero(above[label])} for row in rows]
        for rows in (Y, predicted)
    ]
    both = sum(len(true & guess) for true, guess in zip(*closures, strict=True))
    size = sum(len(true) + len(guess) for true, guess in zip(*closures, strict=True))
    assert np.isclose(hierarchical_f1(Y, predicted, hierarchy=Hierarchy(EDGES)), 2 * both / size)
    assert hierarchical_f1(Y, Y, hierarchy=Hierarchy(EDGES)) == micro_f1(Y, Y) == 1

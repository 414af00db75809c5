"""Random forests for each label: probabilities, missing entries, noise rates, and the view of the ensemble."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.ensemble import RandomForestClassifier

import spmld
from spmld import MaskedForest, SelfPacedEnsemble
from spmld.datasets import make_planted
from spmld.inspection import explain
from spmld.labels import hide_labels
from spmld.metrics import macro_auc

DATA = make_planted(300, 10, 4, random_state=0)
Y = hide_labels(DATA.Y, observed_fraction=0.6, random_state=0)
FOREST = MaskedForest(n_estimators=20, random_state=0).fit(DATA.X, Y)
ENSEMBLE = SelfPacedEnsemble(views=("linear", "forest"), Cs=(3.0,), cv=2, random_state=0).fit(DATA.X, Y)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_probabilities_are_those_of_scikit_learn_and_the_frequency_as_another_tree(n_jobs):
    p = MaskedForest(n_estimators=20, n_jobs=n_jobs, random_state=0).fit(DATA.X, Y).predict_proba(DATA.X)
    for j, y in enumerate(Y.T):
        observed = ~np.isnan(y)
        forest = RandomForestClassifier(20, random_state=0).fit(DATA.X[observed], y[observed])
        frequency = (1 + y[observed].sum()) / (2 + observed.sum())
        expected = (20 * forest.predict_proba(DATA.X)[:, 1] + frequency) / 21
        np.testing.assert_allclose(p[:, j], expected, rtol=1e-9)


def test_noise_rates_invert_the_noise():
    """p is the probability of a label that is observed as positive with probability (1 - a - b) p + a."""
    noisy = MaskedForest(n_estimators=20, false_positive_rate=0.05, false_negative_rate=0.2, random_state=0)
    p, q = noisy.fit(DATA.X, Y).predict_proba(DATA.X), FOREST.predict_proba(DATA.X)
    inner = (q > 0.1) & (q < 0.75)
    np.testing.assert_allclose((0.75 * p + 0.05)[inner], q[inner], rtol=1e-9)
    assert inner.sum() > 200
    assert ((p > 0) & (p < 1)).all()


def test_a_label_with_one_observed_class_has_a_constant_score():
    one = Y.copy()
    one[:, 1] = np.where(one[:, 1] == 1, np.nan, one[:, 1])
    p = MaskedForest(n_estimators=5, random_state=0).fit(DATA.X, one).predict_proba(DATA.X)[:, 1]
    assert np.ptp(p) < 1e-12
    assert p[0] < 0.05


def test_the_view_ranks_better_than_a_linear_model_where_features_interact():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 4))
    truth = (rng.random((1500, 2)) < expit(4 * X[:, [0, 2]] * X[:, [1, 3]])).astype(float)
    shown = hide_labels(truth[:1000], observed_fraction=0.5, random_state=0)
    auc = {}
    for views in (("linear",), ("linear", "forest")):
        model = SelfPacedEnsemble(views=views, Cs=(3.0,), cv=2, random_state=0).fit(X[:1000], shown)
        auc[views] = macro_auc(truth[1000:], model.decision_function(X[1000:]))
    assert auc["linear",] < 0.6 < 0.75 < auc["linear", "forest"]


def test_the_view_is_saved_explained_and_exported(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    X = DATA.X[:50].astype(np.float32).astype(float)
    spmld.save(ENSEMBLE, tmp_path / "model.skops")
    np.testing.assert_array_equal(spmld.load(tmp_path / "model.skops").predict_proba(X), ENSEMBLE.predict_proba(X))
    explanation = explain(ENSEMBLE, X, label=2)
    total = explanation.contributions.sum(axis=1) + explanation.base_value
    np.testing.assert_allclose(total, ENSEMBLE.decision_function(X)[:, 2], atol=1e-8)
    spmld.export_onnx(FOREST, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    exported = session.run(["probabilities"], {"X": X.astype(np.float32)})[0]
    np.testing.assert_allclose(exported, FOREST.predict_proba(X), atol=1e-5)


def test_thresholds_between_values_keep_the_decisions_and_labels_without_trees():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (80, 3)).astype(np.float32)  # the middle of two values may be a third one
    labels = np.column_stack([X[:, 0] > X[:, 1], np.full(80, np.nan)])
    model = MaskedForest(n_estimators=5, random_state=0).fit(X, labels)
    trees = model.trees_[0]
    assert (np.modf(trees.threshold[trees.left != np.arange(len(trees.left))])[0] == 0.5).all()
    assert len(model.trees_[1].roots) == 0
    expected = RandomForestClassifier(5, random_state=0).fit(X, labels[:, 0]).predict_proba(X)[:, 1]
    np.testing.assert_allclose(model.mean_probabilities(X)[:, 0], expected)
    np.testing.assert_array_equal(trees.between(np.sort(X, axis=0)).threshold, trees.threshold)

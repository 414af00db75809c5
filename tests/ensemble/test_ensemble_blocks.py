"""Fits of the ensemble to row blocks equal fits in memory."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import KFold

from spmld import GLOCAL, PerLabelClassifier, RowBlocks, SelfPacedEnsemble
from spmld.core.lazy_matrix import SelectedRows
from spmld.datasets import make_planted
from spmld.ensemble import View
from spmld.ensemble import training_data as training_data_module
from spmld.ensemble import views as views_module
from spmld.estimators import FeatureScaler, scaling
from spmld.estimators.scaling import LandmarkFeatures
from spmld.export import Checkpoint
from spmld.labels import Labels
from spmld.scale.block_data import BlockData

DATA = make_planted(n_samples=300, n_features=15, n_labels=6, observed_fraction=0.6, random_state=0)
X, Y = DATA.X, DATA.Y


@pytest.fixture(autouse=True)
def double_precision(monkeypatch):
    """Let fits in memory and in blocks differ by rounding errors of double precision only."""
    monkeypatch.setattr(views_module, "PRECISION", None)


SMALL = {"random_state": 0, "n_landmarks": 40, "Cs": (1.0, 10.0), "alphas": (0.1, 1.0), "n_trees": (20,)}


def model(**params):
    return SelfPacedEnsemble(**{**SMALL, **params})


def assert_same_fit(a, b, X=X, tol=1e-8):
    scores = a.decision_function(X)
    np.testing.assert_allclose(b.decision_function(X), scores, rtol=0, atol=tol * abs(scores).max())
    np.testing.assert_allclose(b.predict_proba(X), a.predict_proba(X), atol=tol)
    assert (b.params_, b.keep_fraction_) == (a.params_, a.keep_fraction_)
    np.testing.assert_allclose([r["loss"] for r in b.cv_results_], [r["loss"] for r in a.cv_results_], rtol=tol)


def assert_same_in_blocks(model, X=X, Y=Y, block_rows=97, memory=None, **options):
    a = clone(model).fit(X, Y, **options)
    b = clone(model).fit(RowBlocks(X, Y, block_rows=block_rows, memory=memory), **options)
    assert_same_fit(a, b, X)
    return a, b


def test_the_default_views():
    in_memory, in_blocks = assert_same_in_blocks(model(), block_rows=110, memory=0)
    assert not hasattr(in_blocks, "out_of_fold_scores_")
    shown = np.where(np.random.default_rng(0).random(Y.shape) < 0.5, DATA.Y, np.nan)
    expected = in_memory.complete(X, shown).confidences
    np.testing.assert_allclose(in_blocks.complete(X, shown).confidences, expected, atol=1e-8)


def test_the_default_views_in_single_precision(monkeypatch):
    monkeypatch.undo()
    in_memory = model().fit(X, Y)
    for estimator in in_memory.estimators_.values():
        assert getattr(estimator, "coef_", np.zeros(0, np.float32)).dtype == np.float32
    assert_same_fit(in_memory, model().fit(RowBlocks(X, Y, block_rows=110, memory=0)), tol=1e-4)


def test_views_with_latent_labels_are_fitted_to_the_rows_of_their_fold():
    """Rows outside the training samples would change the groups, and the penalties that depend on their number."""
    scaled = View("scaled", FeatureScaler(), GLOCAL(random_state=0, max_iter=2, tol=None, n_groups=3))
    assert_same_in_blocks(model(views=("latent", scaled), keep_fraction=0.9, cv=3), block_rows=160, memory=0)


def test_wrong_labels_entry_weights_and_other_decisions():
    wrong = np.where(np.random.default_rng(0).random(Y.shape) < 0.2, 1 - Y, Y)
    weights = np.random.default_rng(1).random(Y.shape)
    options = {"decision": "micro_f1", "scoring": "macro_auc", "views": ("linear", "ridge")}
    assert_same_in_blocks(model(**options), Y=wrong, entry_weight=weights)


def test_sparse_features_and_dense_ones_that_are_mostly_zero():
    """The landmarks of dense features subtract the means, also if the blocks are stored as sparse matrices."""
    S = sp.random_array((300, 250), density=0.05, random_state=0, format="csr")
    labels = np.where(S[:, :40] @ np.random.default_rng(0).normal(size=(40, 4)) > 0.05, 1, 0)
    for features in (S, S.toarray()):
        assert_same_in_blocks(model(views=("linear", "kernel"), cv=2), features, labels, block_rows=110)


def test_samples_beyond_the_limits_are_the_same_in_memory_and_in_blocks(monkeypatch):
    for module, name, limit in (
        (training_data_module, "MAX_CALIBRATED", 120),
        (training_data_module, "MAX_SCORED", 140),
        (scaling, "MAX_LANDMARK_SAMPLES", 150),
        (training_data_module, "MAX_STRATIFIED", 110),
    ):
        monkeypatch.setattr(module, name, limit)
    a, b = assert_same_in_blocks(model(views=("linear", "kernel")), block_rows=110)
    assert b.decision_rule_.common_threshold_ == pytest.approx(a.decision_rule_.common_threshold_)


def test_parts_of_many_samples_are_stratified(monkeypatch):
    labels = Labels(np.where(np.arange(600)[:, None] % 10 < [1, 5], 1, -1).astype(np.int8), [-1, 1])
    monkeypatch.setattr(training_data_module, "MAX_STRATIFIED", 200)
    data = BlockData.in_memory(np.zeros((600, 1)), labels, labels.observed)
    folds = training_data_module.stratified_folds(data, 3, 0)
    for train, test in folds:
        assert len(test) == pytest.approx(200, abs=3)
        assert sorted([*train, *test]) == list(range(600))
        np.testing.assert_allclose((labels.signs[test] > 0).sum(axis=0), [20, 100], atol=3)


def test_a_vector_of_labels_folds_of_a_splitter_and_given_folds():
    y = np.where(Y[:, 0] == 1, "yes", "no").astype(object)
    given = [(np.flatnonzero(np.arange(300) % 3 == i), np.flatnonzero(np.arange(300) % 3 != i)) for i in (1,)]
    given += [(np.arange(100), np.flatnonzero(np.arange(300) % 3 == 1))]
    for cv in (KFold(3), given):
        assert_same_in_blocks(model(views=("linear",), cv=cv), Y=y)


def test_labels_with_one_class_in_a_fold():
    rare = Y.copy()
    rare[:, 0], rare[5, 0] = 0, 1
    assert_same_in_blocks(model(views=("linear",)), Y=rare)


def test_views_and_options_that_need_features_in_memory_are_named():
    per_label = View("per label", FeatureScaler(), PerLabelClassifier())
    with pytest.raises(TypeError, match="PerLabelClassifier requires X in memory"):
        model(views=(per_label,)).fit(RowBlocks(X, Y))
    with pytest.raises(ValueError, match="trusted is not supported"):
        model().fit(RowBlocks(X, Y), trusted=~np.isnan(Y))
    with pytest.raises(ValueError, match="cv must be at most the number of samples"):
        model(cv=301).fit(RowBlocks(X, Y))
    repeated = [(np.repeat(np.arange(150), 2), np.arange(150, 300)), (np.arange(150, 300), np.arange(150))]
    for samples in (X, RowBlocks(X)):
        with pytest.raises(ValueError, match="cv must not repeat training samples"):
            model(cv=repeated).fit(samples, Y)


def test_stored_fits_are_not_repeated(tmp_path):
    expected = model(views=("ridge", "latent")).fit(RowBlocks(X, Y))

    def stop(record):
        if record["part"] == "latent":
            raise KeyboardInterrupt

    with Checkpoint(tmp_path, min_seconds=0) as first, pytest.raises(KeyboardInterrupt):
        model(views=("ridge", "latent"), callback=stop).fit(RowBlocks(X, Y))
    with Checkpoint(tmp_path, min_seconds=0) as second:
        resumed = model(views=("ridge", "latent")).fit(RowBlocks(X, Y))
    assert_same_fit(expected, resumed)
    assert second.n_loaded == first.n_stored > 0
    with Checkpoint(tmp_path, min_seconds=0) as third:
        model(views=("ridge", "latent")).fit(RowBlocks(X, Y))
        model(views=("ridge", "latent")).fit(RowBlocks(X, 1 - Y))
    assert third.n_loaded == 1
    assert third.n_stored > 0


def test_products_of_selected_rows_are_those_of_a_copy():
    rng = np.random.default_rng(0)
    chosen, B = rng.random(300) < 0.6, rng.normal(size=(15, 2))
    for matrix in (X, sp.csr_array(X)):
        rows = SelectedRows(matrix, chosen)
        np.testing.assert_allclose(rows @ B, X[chosen] @ B)
        np.testing.assert_allclose(rows.T @ Y[chosen], X[chosen].T @ Y[chosen])
        assert rows.load().shape == rows.shape == (chosen.sum(), 15)


def test_landmarks_of_sparse_rows_subtract_the_means_of_dense_training_samples():
    landmarks = LandmarkFeatures(20, random_state=0).fit(X + 1)
    np.testing.assert_allclose(landmarks.transform(sp.csr_array(X + 1)), landmarks.transform(X + 1), atol=1e-12)

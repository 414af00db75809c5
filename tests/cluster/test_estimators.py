"""Fits on a Dask cluster with processes equal fits in memory."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from spmld import GLOCAL, LEML, MLLRC, SPMLD, LabelPrior, MaskedLogistic, MaskedRidge, SelfPacedEnsemble
from spmld.cluster import cluster_samples, engine
from spmld.datasets import make_planted
from spmld.metrics import evaluate
from spmld.pacing import DiversePacing, GroupSparsePacing, HardPacing, QuantileSchedule

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")

DATA = make_planted(n_samples=240, n_features=12, n_labels=5, observed_fraction=0.6, random_state=0)
X, Y = DATA.X, DATA.Y


def collections(X=X, Y=Y, chunks=50):
    return da.from_array(X, chunks=(chunks, -1), asarray=False), da.from_array(Y, chunks=(chunks, -1))


def assert_same_fit(local, remote, X=X):
    scores = local.decision_function(X)
    np.testing.assert_allclose(remote.decision_function(X), scores, rtol=0, atol=1e-6 * abs(scores).max())
    if hasattr(local, "history_"):
        np.testing.assert_allclose(remote.history_[-1]["objective"], local.history_[-1]["objective"], rtol=1e-8)


class Ranked(HardPacing):
    """A rule of a user, with weights that depend on all losses."""

    def weights(self, losses, threshold, diversity=0.0):
        return (losses <= np.median(losses, axis=0)).astype(float)


OPTIONS = {"random_state": 0, "max_iter": 1, "tol": None, "n_warmup_iter": 1}
MODELS = [
    MaskedLogistic(tol=0.2),
    MaskedRidge(label_graph_penalty=0.1),
    SPMLD(**OPTIONS),
    SPMLD(pacing=GroupSparsePacing(schedule=QuantileSchedule(diversity=0.5)), **OPTIONS),
    SPMLD(pacing=DiversePacing(), **OPTIONS),
    SPMLD(pacing=Ranked(), **OPTIONS),
    GLOCAL(init="random", **OPTIONS),
    LEML(random_state=0, max_iter=1),
    MLLRC(max_iter=5),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_fit_on_workers_equals_a_fit_in_memory(client, model):
    assert_same_fit(clone(model).fit(X, Y), clone(model).fit(*collections()))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", [MaskedLogistic(tol=1e-9), *MODELS[:2]], ids=["converged", "logistic", "ridge"])
def test_slices_of_chunks_do_not_change_a_fit(client, monkeypatch, model):
    monkeypatch.setattr(engine, "SLICE_BYTES", 1)  # a slice has then as many rows as there are features
    assert_same_fit(clone(model).fit(X, Y), clone(model).fit(*collections()))


@pytest.mark.parametrize("scale", [1e-60, 1.0, 1e60])
def test_scales_of_features_beyond_single_precision_do_not_change_a_fit(client, scale):
    scales = np.where(np.arange(12) < 6, scale, 1.0)
    model = MaskedLogistic(C=1e3, tol=1e-6)
    assert_same_fit(clone(model).fit(X * scales, Y), clone(model).fit(*collections(X * scales)), X * scales)


def test_rounded_arrays_are_in_single_precision_if_all_values_are_in_its_range():
    for value in (0.0, 1 / 3, -1e30, 1e-30):
        assert engine.DaskEngine.rounded(np.array([1.0, value])).dtype == np.float32
    for value in (1e-60, -1e60, np.nan, np.inf):
        A = np.array([1.0, value])
        assert engine.DaskEngine.rounded(A) is A


@pytest.mark.parametrize("more", [0, 1])
def test_collections_with_few_values_are_loaded(client, monkeypatch, more):
    monkeypatch.setattr(cluster_samples, "MAX_LOADED", X.size + Y.size - more)
    local, remote = SPMLD(**OPTIONS).fit(X, Y), SPMLD(**OPTIONS).fit(*collections())
    assert hasattr(remote, "latent_labels_") == (not more)
    assert_same_fit(local, remote)


OF_A_SAMPLE = {"random_state": 0, "Cs": (3.0, 10.0), "n_landmarks": 20, "n_trees": (20,), "max_search_samples": 120}


@pytest.mark.parametrize("keep_fraction", [1.0, 0.8])
def test_an_ensemble_that_searches_a_sample_is_the_same_on_workers_and_in_memory(client, keep_fraction):
    views = ("linear", "ridge", "kernel")
    local = SelfPacedEnsemble(views=views, keep_fraction=keep_fraction, **OF_A_SAMPLE).fit(X, Y)
    remote = clone(local).fit(*collections(chunks=(0, 1, 150, 0, 88, 1)))
    scores = local.decision_function(X)  # views are fitted in single precision
    np.testing.assert_allclose(remote.decision_function(X), scores, rtol=0, atol=1e-5 * abs(scores).max())
    assert remote.cv_results_ == local.cv_results_
    for rows in ("search_samples_", "held_out_samples_"):
        np.testing.assert_array_equal(getattr(remote, rows), getattr(local, rows))
    scores = local.out_of_fold_scores_[local.held_out_samples_]
    np.testing.assert_allclose(remote.out_of_fold_scores_, scores, rtol=0, atol=1e-4)
    weights = local.self_paced_weights_[local.search_samples_]
    np.testing.assert_array_equal(remote.self_paced_weights_, weights)


def test_views_that_need_samples_in_memory_are_fitted_to_the_search_sample_of_a_collection(client):
    model = SelfPacedEnsemble(views=("boosting",), keep_fraction=1.0, **OF_A_SAMPLE).fit(*collections())
    rows = model.search_samples_
    features = model.transformers_["boosting"].transform(X[rows]).astype(np.float32)
    expected = clone(model.estimators_["boosting"]).fit(features, Y[rows])
    scores = model.estimators_["boosting"].decision_function(features)
    np.testing.assert_allclose(scores, expected.decision_function(features))


def test_an_ensemble_that_searches_all_samples_is_fitted_in_memory(client):
    options = OF_A_SAMPLE | {"max_search_samples": 240}
    local, remote = SelfPacedEnsemble(**options).fit(X, Y), SelfPacedEnsemble(**options).fit(*collections())
    np.testing.assert_array_equal(remote.decision_function(X), local.decision_function(X))


def test_a_collection_is_not_kept_for_updates(client):
    with pytest.raises(ValueError, match="keep_data=True requires X in memory, got a Dask collection"):
        SelfPacedEnsemble(keep_data=True, **OF_A_SAMPLE).fit(*collections())


def test_uneven_empty_and_single_row_chunks_and_other_chunks_of_labels(client):
    chunks = (0, 1, 150, 0, 88, 1)
    model = MaskedLogistic(tol=0.2).fit(da.from_array(X, chunks=(chunks, 5)), da.from_array(Y, chunks=(100, 2)))
    assert_same_fit(MaskedLogistic(tol=0.2).fit(X, Y), model)
    other = clone(model).fit(*collections(chunks=240))
    np.testing.assert_allclose(other.coef_, model.coef_, atol=1e-6)


def test_predictions_are_lazy_and_blockwise(client):
    blocks = collections()
    model = MaskedLogistic(tol=0.2).fit(*blocks)
    for method in ("decision_function", "predict_proba", "predict"):
        result = getattr(model, method)(blocks[0])
        assert result.chunks == ((50, 50, 50, 50, 40), (5,))
        np.testing.assert_allclose(result.compute(), getattr(model, method)(X))


def test_completions_of_collections_are_computed(client):
    features, missing = collections()
    model = MaskedLogistic(tol=0.2).fit(features, missing)
    for result, array in zip(model.complete(features, missing), model.complete(X, Y), strict=True):
        np.testing.assert_allclose(result, array)


def test_metrics_of_lazy_predictions(client):
    features, labels = collections(chunks=(0, 1, 100, 0, 139))
    model = MaskedLogistic(tol=0.2).fit(X, Y)
    methods = "decision_function", "predict", "predict_proba"
    expected = evaluate(Y, *(getattr(model, method)(X) for method in methods))
    assert evaluate(labels, *(getattr(model, method)(features) for method in methods)) == expected


def test_data_frames_with_unknown_sizes(client):
    names = [f"x{i}" for i in range(12)], ["a", "b", "c", "d", "e"]
    features, labels = (pd.DataFrame(A, columns=c) for A, c in zip((X, Y), names, strict=True))
    keep = features["x0"] > 0
    frame = dd.from_pandas(pd.concat([features, labels], axis=1), npartitions=4)
    frame = frame[frame["x0"] > 0]
    model = MaskedLogistic(tol=0.2).fit(frame[names[0]], frame[names[1]])
    local = MaskedLogistic(tol=0.2).fit(features[keep], labels[keep])
    np.testing.assert_allclose(model.coef_, local.coef_, atol=1e-6)
    assert list(model.feature_names_in_) == names[0]
    expected = local.set_output(predict="pandas").predict(features[keep])
    pd.testing.assert_frame_equal(model.predict(frame[names[0]]).compute(), expected)


def test_sparse_blocks_labels_in_memory_and_entry_weights(client):
    S = sp.random_array((200, 30), density=0.2, random_state=0, format="csr")
    labels = np.random.default_rng(0).integers(0, 2, (200, 3))
    weights = np.random.default_rng(1).random(200)
    blocks = da.from_array(np.zeros((200, 30)), chunks=(60, -1)).map_blocks(
        lambda block, block_info=None: S[slice(*block_info[0]["array-location"][0])], dtype=float
    )
    model = MaskedLogistic(tol=0.2).fit(blocks, labels, entry_weight=weights)
    assert_same_fit(MaskedLogistic(tol=0.2).fit(S, labels, entry_weight=weights), model, S)


def test_a_vector_of_labels(client):
    y = np.where(Y[:, 0] == 1, "yes", "no").astype(object)
    features, labels = da.from_array(X, chunks=(70, -1)), da.from_array(y, chunks=70)
    model = MaskedLogistic(tol=0.2).fit(features, labels)
    np.testing.assert_array_equal(model.predict(features).compute(), MaskedLogistic(tol=0.2).fit(X, y).predict(X))
    assert model.predict_proba(features).compute().shape == (240, 2)


def test_bad_collections_raise_errors_that_name_the_cause(client):
    features, labels = collections()
    with pytest.raises(TypeError, match="LabelPrior requires X in memory"):
        LabelPrior().fit(features, labels)
    with pytest.raises(ValueError, match="same number of samples"):
        SPMLD().fit(features, labels[:100])
    with pytest.raises(ValueError, match="y is required"):
        LEML().fit(features)
    bad = da.where(features > 2, np.nan, features)
    with pytest.raises(ValueError, match="NaN or infinity"):
        MaskedLogistic(tol=0.2).fit(bad, labels)


def test_positive_only_labels_raise_an_error(client):
    features, labels = collections()
    with pytest.raises(ValueError, match="Missing entries are used as weak negatives only if X is in memory"):
        MaskedLogistic().fit(features, da.where(labels == 0, np.nan, labels))

"""Fits to row blocks equal fits in memory, whatever the blocks and wherever they are stored."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from spmld import GLOCAL, LEML, SPMLD, MaskedLogistic, MaskedRidge, RowBlocks, SelfPacedClassifier, SelfPacedEnsemble
from spmld.datasets import make_planted
from spmld.labels import LabelWarning
from spmld.pacing import DiversePacing, GroupSparsePacing, QuantileSchedule
from spmld.scale.streaming import StreamEngine

DATA = make_planted(n_samples=300, n_features=15, n_labels=6, observed_fraction=0.6, random_state=0)
X, Y = DATA.X, DATA.Y
MODELS = [
    MaskedLogistic(),
    MaskedLogistic(label_graph_penalty=0.3, C=0.5),
    MaskedLogistic(false_positive_rate=0.1, false_negative_rate=0.2),
    MaskedRidge(),
    SPMLD(random_state=0),
    SPMLD(random_state=0, standardize=False, fit_intercept=False, pacing=DiversePacing()),
    SPMLD(pacing=GroupSparsePacing(schedule=QuantileSchedule(diversity=0.5)), random_state=0),
    GLOCAL(loss="squared", random_state=0),
    GLOCAL(init="random", n_components=3, random_state=0),
    LEML(random_state=0),
    LEML(loss="logistic", fit_intercept=True, random_state=0),
]


def assert_same_fit(a, b, X=X, rtol=1e-6):
    scores = a.decision_function(X)
    np.testing.assert_allclose(b.decision_function(X), scores, rtol=0, atol=rtol * abs(scores).max())
    if hasattr(a, "history_"):
        np.testing.assert_allclose(b.history_[-1]["objective"], a.history_[-1]["objective"], rtol=1e-8)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize(("block_rows", "memory"), [(300, None), (41, 0)])
def test_a_fit_to_blocks_equals_a_fit_in_memory(model, block_rows, memory):
    blocks = RowBlocks(X, Y, block_rows=block_rows, memory=memory)
    assert_same_fit(clone(model).fit(X, Y), clone(model).fit(blocks))


@pytest.mark.parametrize("model", [MaskedLogistic(), SPMLD(random_state=0)], ids=lambda model: type(model).__name__)
def test_uneven_empty_and_single_row_blocks_are_accepted(model, tmp_path):
    frame = pd.DataFrame(np.hstack([X, Y])).add_prefix("c")
    for i, (a, b) in enumerate(pairwise([0, 0, 1, 2, 150, 150, 290, 300])):
        frame[a:b].to_parquet(tmp_path / f"{i}.parquet")
    blocks = RowBlocks(tmp_path, list(frame.columns[-Y.shape[1] :]))
    assert blocks.counts == (1, 1, 148, 140, 10)
    assert_same_fit(clone(model).fit(X, Y), clone(model).fit(blocks))


def save_npy(folder):
    np.save(folder / "X.npy", X)
    np.save(folder / "Y.npy", Y)
    return RowBlocks(folder / "X.npy", folder / "Y.npy", block_rows=70)


def save_memmap(folder):
    np.save(folder / "X.npy", X)
    return RowBlocks(np.load(folder / "X.npy", mmap_mode="r"), Y, block_rows=70)


def save_zarr(folder):
    zarr = pytest.importorskip("zarr")
    zarr.create_array(str(folder / "X"), data=X, chunks=(64, 15))
    zarr.create_array(str(folder / "Y"), data=Y, chunks=(300, 6))
    return RowBlocks(folder / "X", folder / "Y")


def save_parquet(folder):
    names = [f"x{i}" for i in range(X.shape[1])], [f"y{i}" for i in range(Y.shape[1])]
    frame = pd.DataFrame(np.hstack([Y, X]), columns=names[1] + names[0])
    (folder / "parts").mkdir()
    frame[:120].to_parquet(folder / "parts" / "0.parquet", row_group_size=50)
    frame[120:].to_parquet(folder / "parts" / "1.parquet", index=False)
    return RowBlocks(folder / "parts", names[1])


@pytest.mark.parametrize("save", [save_npy, save_memmap, save_zarr, save_parquet])
def test_blocks_of_files_are_those_of_the_array(save, tmp_path):
    blocks = save(tmp_path)
    assert blocks.shape == X.shape
    in_memory, in_blocks = MaskedLogistic().fit(X, Y), MaskedLogistic().fit(blocks)
    np.testing.assert_allclose(in_blocks.coef_, in_memory.coef_, atol=1e-10)
    np.testing.assert_array_equal(in_blocks.predict(blocks), in_memory.predict(X))
    np.testing.assert_allclose(in_blocks.predict_proba(blocks), in_memory.predict_proba(X), atol=1e-10)


def test_sparse_features_stay_sparse_and_few_observed_entries_are_used():
    rng = np.random.default_rng(0)
    S = sp.random_array((400, 60), density=0.05, random_state=1, format="csr")
    labels = np.where(rng.random((400, 30)) < 0.05, rng.integers(0, 2, (400, 30)), np.nan)
    labels[:2] = [[0] * 30, [1] * 30]
    for model in (MaskedLogistic(), SPMLD(n_components=4, random_state=0), LEML(n_components=3, random_state=0)):
        assert_same_fit(clone(model).fit(S, labels), clone(model).fit(RowBlocks(S, labels, block_rows=90)), S)


@pytest.mark.parametrize("shape", [(300,), (300, 6)])
def test_entry_weights(shape):
    weights = np.random.default_rng(0).random(shape) * 1e5
    for model in (MaskedLogistic(C=1e-4), SPMLD(random_state=0)):
        a = clone(model).fit(X, Y, entry_weight=weights)
        assert_same_fit(a, clone(model).fit(RowBlocks(X, Y, block_rows=80), entry_weight=weights))


def test_the_encoding_of_labels_is_that_of_all_blocks():
    signs = np.where(Y == 0, -1, Y)
    signs[:100] = np.where(signs[:100] > 0, 1, np.nan)  # the first block looks like 0/1
    signs[100:120] = np.nan
    model = MaskedLogistic().fit(RowBlocks(X, signs, block_rows=20))
    assert model.classes_.tolist() == [-1, 1]
    np.testing.assert_allclose(model.coef_, MaskedLogistic().fit(X, signs).coef_, atol=1e-10)
    words = np.array(["no", "yes"], dtype=object)[(DATA.Y[:, 0] == 1).astype(int)]
    vector = MaskedLogistic().fit(RowBlocks(X, words, block_rows=20))
    np.testing.assert_array_equal(vector.predict(X), MaskedLogistic().fit(X, words).predict(X))


def test_bad_blocks_raise_errors_that_name_the_cause(tmp_path):
    bad = X.copy()
    bad[250, 3] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity"):
        MaskedLogistic().fit(RowBlocks(bad, Y, block_rows=100))
    with pytest.raises(ValueError, match="same number of samples"):
        RowBlocks(X, Y[:10])
    with pytest.raises(ValueError, match="y is required"):
        SPMLD().fit(RowBlocks(X))
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": Y[:, 0]})
    frame.to_parquet(tmp_path / "0.parquet")
    frame[["a", "y"]].to_parquet(tmp_path / "1.parquet")
    with pytest.raises(ValueError, match="same features"):
        MaskedLogistic().fit(RowBlocks(tmp_path, ["y"]))
    with pytest.raises(TypeError, match="requires X in memory"):
        SelfPacedClassifier().fit(RowBlocks(X, Y))


def test_values_above_the_memory_limit_are_stored_and_deleted():
    engine = StreamEngine(memory=5000)
    values = engine.map(lambda n: np.full(500, float(n)), range(3))
    assert [value.stored for value in values] == [False, True, True]
    assert engine.sum(np.sum, values) == 1500
    files = list(engine.file().parent.iterdir())
    assert len(files) == 2
    del values
    assert engine.used == 0
    assert not any(file.exists() for file in files)


def test_predictions_of_blocks_as_data_frames_have_the_index_of_all_samples(tmp_path):
    names = [f"x{i}" for i in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names, index=[f"song {i}" for i in range(len(X))])
    model = MaskedLogistic().set_output(predict="pandas").fit(frame, pd.DataFrame(Y, columns=list("abcdef")))
    vector = MaskedLogistic().set_output(predict="pandas").fit(frame, DATA.Y[:, 0])
    for fitted, method in [
        (model, "predict"),
        (model, "predict_proba"),
        (model, "decision_function"),
        (vector, "predict"),
    ]:
        predict = getattr(fitted, method)
        pd.testing.assert_index_equal(predict(RowBlocks(frame, block_rows=70)).index, frame.index)
        expected = predict(frame).reset_index(drop=True)
        for blocks in (RowBlocks(frame, block_rows=70), RowBlocks(X, block_rows=70), RowBlocks(X, block_rows=1000)):
            result = predict(blocks).reset_index(drop=True) if blocks.counts[0] == 70 else predict(blocks)
            testing = pd.testing.assert_series_equal if result.ndim == 1 else pd.testing.assert_frame_equal
            testing(result, expected)
    assert predict(RowBlocks(X, block_rows=70)).index.equals(pd.RangeIndex(len(X)))


@pytest.mark.parametrize(
    "model",
    [MaskedLogistic(), SPMLD(random_state=0), SelfPacedEnsemble(random_state=0, n_trees=(20,), cv=2)],
    ids=lambda m: type(m).__name__,
)
@pytest.mark.parametrize("block_rows", [70, 1000])
def test_top_labels_score_and_completion_of_blocks(model, block_rows):
    labels = Y.copy()
    labels[70:140] = np.nan  # a block without an observed label
    model = clone(model).fit(X, labels)
    blocks, without_labels = RowBlocks(X, labels, block_rows=block_rows), RowBlocks(X, block_rows=block_rows)
    expected = model.top_labels(X, k=3)
    np.testing.assert_array_equal(model.top_labels(blocks, k=3).labels, expected.labels)
    np.testing.assert_allclose(model.top_labels(blocks, k=3).scores, expected.scores)
    assert model.score(blocks) == model.score(without_labels, labels) == model.score(X, labels)
    mask = np.random.default_rng(0).random(Y.shape) < 0.5
    assert model.score(blocks, mask=mask) == model.score(X, labels, mask)
    for completion in (model.complete(blocks), model.complete(without_labels, labels)):
        for values, complete in zip(completion, model.complete(X, labels), strict=True):
            np.testing.assert_allclose(values, complete, atol=1e-4)
    masked = model.complete(blocks, mask=mask)
    np.testing.assert_array_equal(masked.labels, model.complete(X, labels, mask).labels)


def test_completions_of_blocks_have_the_form_of_the_labels(tmp_path):
    blocks = save_parquet(tmp_path)
    frame = pd.DataFrame(Y, columns=[f"y{i}" for i in range(6)], index=np.arange(1000, 1300))
    model = MaskedLogistic().fit(blocks)
    of_file, of_frame = model.complete(blocks), model.complete(blocks, frame)
    for values, expected in zip(of_frame, MaskedLogistic().fit(X, frame).complete(X, frame), strict=True):
        pd.testing.assert_frame_equal(values, expected)
    pd.testing.assert_frame_equal(of_file.labels, of_frame.labels.reset_index(drop=True))
    vector = MaskedLogistic().fit(X, DATA.Y[:, 0])
    gaps = np.where(np.arange(300) < 150, DATA.Y[:, 0], np.nan)
    in_blocks, in_memory = vector.complete(RowBlocks(X, block_rows=70), gaps), vector.complete(X, gaps)
    np.testing.assert_array_equal(in_blocks.labels, in_memory.labels)
    np.testing.assert_allclose(in_blocks.confidences, in_memory.confidences)


def test_labels_of_blocks_are_required_and_checked():
    model = MaskedLogistic().fit(X, Y)
    for method in (model.score, model.complete):
        with pytest.raises(ValueError, match="requires y to be passed"):
            method(RowBlocks(X, block_rows=70))
        with pytest.raises(ValueError, match="6 labels, as in fit, got 5"):
            method(RowBlocks(X, block_rows=70), Y[:, :5])
        with pytest.raises(ValueError, match="300 and 299"):
            method(RowBlocks(X, block_rows=70), Y[1:])


POSITIVES = np.where(Y == 0, np.nan, Y)


@pytest.mark.parametrize("model", [MaskedLogistic(), SelfPacedEnsemble(views=("ridge",))], ids=["linear", "ensemble"])
@pytest.mark.parametrize("weights", [None, np.ones(len(Y)), np.ones((len(Y), 1))], ids=["plain", "vector", "column"])
def test_positive_only_labels_raise_an_error_that_says_what_to_do(model, weights):
    some = pd.DataFrame(Y, columns=list("abcdef"))
    some["b"] = POSITIVES[:, 1]
    message = "Label b: .* used as weak negatives only if X is in memory: load X.*write 0.*pass entry_weight"
    with pytest.raises(ValueError, match=message):
        clone(model).fit(RowBlocks(X), some, entry_weight=weights)


def test_positive_only_labels_with_a_weight_for_each_entry_are_fitted_as_in_memory():
    weights = np.ones(Y.shape)
    with pytest.warns(LabelWarning, match="Missing entries are ignored, so that only positives can be learned"):
        in_blocks = MaskedLogistic().fit(RowBlocks(X, block_rows=70), POSITIVES, entry_weight=weights)
    with pytest.warns(LabelWarning, match="Missing entries are ignored, so that only positives can be learned"):
        assert_same_fit(MaskedLogistic().fit(X, POSITIVES, entry_weight=weights), in_blocks)

"""Columns of vectors, and .npy files with a row for each sample."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

import spmld
from spmld.datasets import from_frame, read_dataset
from spmld.tables import TableEncoder, TableError, TableWarning
from tests.app.commands.songs import run

RNG = np.random.default_rng(0)
VECTORS = RNG.normal(2, 3, size=(40, 4))
Y = (VECTORS[:, :2] > 2).astype(int)
FRAME = pd.DataFrame({"image": list(VECTORS), "key": ["minor", "major"] * 20, "label_a": Y[:, 0], "label_b": Y[:, 1]})


def encode(column, **options):
    return TableEncoder(vectors=["image"], **options).fit_transform(FRAME[["key"]].assign(image=column))


def test_vectors_have_mean_square_norm_1_in_every_form():
    expected = encode(FRAME.image)
    np.testing.assert_allclose(expected[:, :4].mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose((expected[:, :4] ** 2).sum(axis=1).mean(), 1)
    np.testing.assert_allclose((expected[:, 4:] ** 2).sum(axis=1), 1)
    for column in (VECTORS.tolist(), [str(row.tolist()) for row in VECTORS], [tuple(row) for row in VECTORS]):
        np.testing.assert_allclose(encode(column), expected)


def test_missing_vectors_are_the_mean():
    for missing in (None, np.nan, "", "n/a"):
        np.testing.assert_allclose(encode([missing, *VECTORS[1:].tolist()])[0, :4], 0, atol=1e-12)
    encoder = TableEncoder(vectors="image", allow_missing=True).fit(FRAME[["image", "key"]])
    with pytest.warns(TableWarning, match="lacks 1 of the 2 columns, image"):
        X = encoder.transform(FRAME[["key"]])
    np.testing.assert_allclose(X[:, :4], 0, atol=1e-12)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1.0, 2.0], [1.0]], "must have vectors of one length, got lengths 1 and 2"),
        ([None, None], "must have vectors of one length, got no vector"),
        ([[1.0], "loud"], r"must have vectors, such as \[0.5, 0.1\], of finite numbers, got 'loud'"),
        ([[1.0], [np.inf]], r"of finite numbers, got '\[inf\]'"),
        ([[1.0], {"a": 1}], "of finite numbers, got "),
        ([1.5, 2.5], "of finite numbers, got '1.5'"),
        ([[1.0], []], "of finite numbers, got '\\[\\]'"),
    ],
)
def test_other_columns_are_named(values, message):
    frame = pd.DataFrame({"image": pd.Series(values, dtype=object), "label_a": [0, 1]})
    with pytest.raises(TableError, match=f"column 'image' {message if message[0] == 'm' else '.*' + message}"):
        from_frame(frame, vectors="image")
    model = TableEncoder(vectors="image").fit(FRAME)
    with pytest.raises(ValueError, match="lengths 3 and 4"):
        model.transform(FRAME.assign(image=[[1.0, 2.0, 3.0]] * 40))


def test_lists_are_ignored_with_a_note_that_names_the_option():
    with pytest.warns(TableWarning, match=r"'image' contains lists or objects .* \(vectors='image'\)"):
        assert from_frame(FRAME).columns["image"] == "nested (not used)"


def test_pipelines_of_vectors_are_saved(tmp_path):
    features = FRAME[["image", "key"]]
    model = make_pipeline(TableEncoder(vectors="image"), spmld.MaskedLogistic()).fit(features, Y)
    spmld.save(model, tmp_path / "m.skops")
    np.testing.assert_array_equal(
        spmld.load(tmp_path / "m.skops").predict_proba(features), model.predict_proba(features)
    )


def test_commands_read_columns_and_files_alike(tmp_path):
    FRAME.to_parquet(tmp_path / "column.parquet")
    FRAME.drop(columns="image").to_csv(tmp_path / "songs.csv", index=False)
    np.save(tmp_path / "images.npy", VECTORS)
    np.save(tmp_path / "fewer.npy", VECTORS[:30])
    np.save(tmp_path / "flat.npy", VECTORS[:, 0])
    fit = ("-o", "m.skops", "--method", "MaskedLogistic", "--no-held-out", "--force", "--vectors")
    status, _, err = run(tmp_path, "fit", "column.parquet", *fit, "image")
    assert (status, "vectors (4 numbers): image" in err) == (0, True), err
    expected = run(tmp_path, "predict", "m.skops", "column.parquet")[1]
    status, _, err = run(tmp_path, "fit", "songs.csv", *fit, "images.npy")
    assert (status, "vectors (4 numbers): vectors" in err) == (0, True), err
    status, out, err = run(tmp_path, "predict", "m.skops", "songs.csv", "--vectors", "images.npy")
    assert (status, out, err) == (0, expected, "")
    for option, message in (
        ("fewer.npy", "must have one row for each sample of songs.csv, at least 40, got 30"),
        ("flat.npy", "must be a .npy file with a matrix of numbers, one row for each sample"),
        ("none.npy", "file none.npy does not exist"),
    ):
        status, _, err = run(tmp_path, "predict", "m.skops", "songs.csv", "--vectors", option)
        assert (status, message in err) == (2, True), err
    np.save(tmp_path / "more.npy", np.vstack([VECTORS, VECTORS]))
    for command in (("predict", "m.skops", "songs.csv", "--vectors"), ("fit", "songs.csv", *fit)):
        status, _, err = run(tmp_path, *command, "more.npy")
        assert (status, "must have one row for each sample of songs.csv, 40, got 80" in err) == (2, True), err
    status, _, err = run(tmp_path, "predict", "m.skops", "songs.csv")
    assert (status, "lacks 1 of the 2 features, vectors" in err, "--vectors FILE.npy" in err) == (2, True, True), err


def test_read_dataset_has_the_option(tmp_path):
    FRAME.assign(image=[str(row.tolist()) for row in VECTORS]).to_csv(tmp_path / "songs.csv", index=False)
    data = read_dataset(tmp_path / "songs.csv", vectors="image")
    assert data.feature_names[:4] == [f"image[{i}]" for i in range(4)]

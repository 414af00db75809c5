"""CSV, Parquet, NumPy archives and DataFrames."""

import numpy as np
import pandas as pd
import pytest

from spmld.datasets import Dataset, from_frame, read_dataset, write_dataset
from spmld.datasets.frames import numeric_columns

TEXT = "id,pitch,label_sad,label_calm\na,0.5,1,0\nb,,,1\n"


def write(folder, text, name="file.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_labels_by_prefix_and_by_list(tmp_path):
    file = write(tmp_path, TEXT)
    data = read_dataset(file, drop=["id"])
    assert (data.feature_names, data.label_names) == (["pitch", "pitch (missing)"], ["sad", "calm"])
    np.testing.assert_array_equal(data.Y, [[1, 0], [np.nan, 1]])
    named = read_dataset(file, drop=["id"], labels=["label_calm"])
    assert (list(named.encoder.feature_names_in_), named.label_names) == (["pitch", "label_sad"], ["label_calm"])
    tabs = write(tmp_path, TEXT.replace(",", "\t"), "file.tsv")
    np.testing.assert_array_equal(read_dataset(tabs, drop=["id"]).Y, data.Y)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (TEXT, {"drop": ["ID"]}, r"column 'ID' of drop does not exist; did you mean 'id'\?"),
        (TEXT, {"drop": ["volume"]}, "does not exist; the columns are id, pitch, label_sad, label_calm"),
        (TEXT, {"drop": ["id"], "prefix": "y_"}, "no column starts with 'y_'"),
        (TEXT, {"drop": ["id"], "labels": ["sad"]}, "column 'sad' of labels does not exist"),
        (TEXT, {"drop": ["id", "pitch"]}, "at least one feature column is required"),
        (TEXT[:-3], {"drop": ["id"]}, "line 3 has 3 values, but there are 4 columns"),
        (
            TEXT.replace("0.5,1,0", "0.5,2,0"),
            {"drop": ["id"]},
            "'label_sad' contains 2; accepted: yes/no",
        ),
        (TEXT.replace("0.5,1,0", "0.5,maybe,0"), {"drop": ["id"]}, "column 'label_sad' contains 'maybe'"),
        (TEXT.splitlines()[0] + "\n", {"drop": ["id"]}, "the table has no samples"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\xff", {}, "is not utf-8 text"),
        (TEXT.replace("pitch", "Tonhöhe").encode("latin-1"), {}, r"byte 0xf6 .*cp1252"),
    ],
)
def test_invalid_tables_raise_with_the_reason(text, options, message, tmp_path):
    with pytest.raises(ValueError, match=rf"file\.csv.*{message}"):
        read_dataset(write(tmp_path, text), **options)


def test_frames_with_truth_values_in_several_forms():
    frame = pd.DataFrame(
        {
            0: pd.array([1, None], dtype="Int64"),
            "label_a": [True, False],
            "label_b": pd.Categorical(["TRUE", "FALSE"]),
            "label_c": ["yes", None],
        }
    )
    np.testing.assert_array_equal(from_frame(frame).Y, [[1, 1, 1], [0, 0, np.nan]])


def test_features_of_a_model_without_an_encoder_must_be_numbers():
    frame = pd.DataFrame(
        {
            "n": pd.array([1, None], dtype="Int64"),
            "comma": ["1,5", "1.234,0"],
            "unclear": ["1,234", "2"],
            "unit": ["5 kg", "6 kg"],
            "word": ["fast", "2"],
            "when": pd.to_datetime(["2020-01-01", "2020-01-02"]),
        }
    )
    np.testing.assert_array_equal(numeric_columns(frame, ["n", "comma"]), [[1, 1.5], [np.nan, 1234]])
    np.testing.assert_array_equal(numeric_columns(frame, ["unclear"], decimal=","), [[1.234], [2]])
    for name, value in {"unclear": "'1,234'", "unit": "'5 kg'", "word": "'fast'", "when": "Timestamp"}.items():
        with pytest.raises(ValueError, match=f"column '{name}' contains {value}.* is not a number, or could be two"):
            numeric_columns(frame, [name])


@pytest.mark.parametrize("fraction", [0.0, 0.5, 0.95])
def test_truncated_archives_raise(fraction, tmp_path):
    for name in ("file.parquet", "file.npz"):
        file = tmp_path / name
        write_dataset(Dataset(np.ones((50, 3)), np.ones((50, 2))), file)
        content = file.read_bytes()
        file.write_bytes(content[: int(fraction * len(content))])
        with pytest.raises(ValueError, match=r"file\.(parquet|npz)"):
            read_dataset(file)


def test_other_archives_raise(tmp_path):
    np.savez(tmp_path / "file.npz", X=[[1.0]], labels=[[1]])
    with pytest.raises(ValueError, match="has no array 'Y'; it has X, labels"):
        read_dataset(tmp_path / "file.npz")
    np.savez(tmp_path / "file.npz", X=[[1.0]], Y=[[1], [0]])
    with pytest.raises(ValueError, match=r"same number of samples, got .*: 1 and 2"):
        read_dataset(tmp_path / "file.npz")
    np.savez(tmp_path / "file.npz", X=np.array([[print]], dtype=object), Y=[[1]])
    with pytest.raises(ValueError, match="allow_pickle=False"):
        read_dataset(tmp_path / "file.npz")
    with pytest.raises(ValueError, match=r"file\.npz cannot be read as a Parquet file"):
        read_dataset(tmp_path / "file.npz", format="parquet")


def test_a_feature_that_would_be_read_as_a_label_raises(tmp_path):
    with pytest.raises(ValueError, match="the feature 'label_x' would be read as a label"):
        write_dataset(Dataset([[1.0]], [[1]], feature_names=["label_x"]), tmp_path / "file.csv")

"""Predictions of large files are made in blocks; the output does not depend on their size."""

import json

import numpy as np
import pandas
import pytest

from spmld import MaskedLogistic, save
from spmld.app.commands import main
from spmld.datasets import Dataset, make_planted, write_dataset
from tests.datasets.text_files import write_libsvm

DATA = make_planted(n_samples=50, n_features=4, n_labels=3, random_state=0)
COPIES = 402
"""Copies of the samples, of which the last ones are in the second block of 20,000."""


def predict(*arguments):
    with pytest.raises(SystemExit) as ended:
        main(["predict", *map(str, arguments), "--force"])
    return ended.value.code


def write(folder, name, copies):
    """Write copies of the samples in every format."""
    X, Y = (np.tile(A, (copies, 1)) for A in (DATA.X, DATA.Y))
    data = Dataset(X, Y)
    for extension in ("csv", "parquet", "npz"):
        write_dataset(data, folder / f"{name}.{extension}")
    write_libsvm(X, Y, folder / f"{name}.svm")
    write_libsvm(X, Y, folder / f"{name}.txt", sizes=True)
    return data


@pytest.fixture
def folder(tmp_path):
    data = write(tmp_path, "data", 1)
    write(tmp_path, "many", COPIES)
    names = {"feature_names": data.feature_names, "label_names": data.label_names}
    save(MaskedLogistic().fit(DATA.X, DATA.Y), tmp_path / "model.skops", **names)
    return tmp_path


@pytest.mark.parametrize("source", ["csv", "parquet", "npz", "svm", "txt"])
def test_the_second_block_of_a_file_is_predicted_as_the_first(folder, source):
    options = ["--top-k", "2"] if source == "npz" else []
    tables = []
    for name in ("data", "many"):
        out = folder / f"predicted_{name}.csv"
        assert predict(folder / "model.skops", folder / f"{name}.{source}", "-o", out, *options) == 0
        tables.append(pandas.read_csv(out).drop(columns="sample", errors="ignore"))
    single, many = tables
    for rows in (many[: len(single)], many[-len(single) :]):
        pandas.testing.assert_frame_equal(rows.reset_index(drop=True), single)


@pytest.mark.parametrize("out", ["json", "parquet"])
def test_blocks_are_joined_in_every_format(folder, out):
    file = folder / f"predicted.{out}"
    assert predict(folder / "model.skops", folder / "many.csv", "-o", file) == 0
    table = pandas.read_parquet(file) if out == "parquet" else pandas.DataFrame(json.loads(file.read_text()))
    expected = MaskedLogistic().fit(DATA.X, DATA.Y).predict_proba(DATA.X)[:, 0]
    np.testing.assert_allclose(table["probability_y0"], np.tile(expected, COPIES), atol=1e-4)


def test_a_block_with_an_empty_feature_raises_with_the_number_of_its_sample(folder, capsys):
    lines = (folder / "many.csv").read_text().splitlines()
    lines[20_031] = "," + lines[20_031].split(",", 1)[1]
    (folder / "many.csv").write_text("\n".join(lines))
    before = folder / "predicted.csv"
    before.write_text("good")
    assert predict(folder / "model.skops", folder / "many.csv", "-o", before) == 2
    assert "the first in sample 20030, feature x0" in capsys.readouterr().err
    assert before.read_text() == "good"

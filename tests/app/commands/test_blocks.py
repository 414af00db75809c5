"""Predictions of large files are made in blocks; the output does not depend on their size."""

import numpy as np
import pytest

from spmld import MaskedLogistic, save
from spmld.app.commands import main, matching
from spmld.datasets import Dataset, make_planted, write_dataset
from tests.datasets.text_files import write_libsvm

DATA = make_planted(n_samples=50, n_features=4, n_labels=3, random_state=0)


def predict(*arguments):
    with pytest.raises(SystemExit) as ended:
        main(["predict", *map(str, arguments), "--force"])
    return ended.value.code


@pytest.fixture
def folder(tmp_path):
    data = Dataset(DATA.X, DATA.Y)
    for extension in ("csv", "parquet", "npz"):
        write_dataset(data, tmp_path / f"data.{extension}")
    write_libsvm(DATA.X, DATA.Y, tmp_path / "data.svm")
    write_libsvm(DATA.X, DATA.Y, tmp_path / "data.txt", sizes=True)
    names = {"feature_names": data.feature_names, "label_names": data.label_names}
    save(MaskedLogistic().fit(DATA.X, DATA.Y), tmp_path / "model.skops", **names)
    return tmp_path


@pytest.mark.parametrize("source", ["csv", "parquet", "npz", "svm", "txt"])
@pytest.mark.parametrize("out", ["csv", "json", "parquet"])
def test_the_output_does_not_depend_on_the_size_of_the_blocks(folder, monkeypatch, source, out):
    import pandas

    contents, options = [], ["--top-k", "2"] if source == "npz" else []
    for n_rows in (7, 1000):
        monkeypatch.setattr(matching, "BLOCK_ROWS", n_rows)
        file = folder / f"predicted.{out}"
        assert predict(folder / "model.skops", folder / f"data.{source}", "-o", file, *options) == 0
        contents.append(pandas.read_parquet(file).to_csv() if out == "parquet" else file.read_text())
    assert contents[0] == contents[1]


def test_a_block_with_an_empty_feature_raises_with_the_number_of_its_sample(folder, monkeypatch, capsys):
    monkeypatch.setattr(matching, "BLOCK_ROWS", 7)
    lines = (folder / "data.csv").read_text().splitlines()
    lines[31] = "," + lines[31].split(",", 1)[1]
    (folder / "data.csv").write_text("\n".join(lines))
    before = folder / "predicted.csv"
    before.write_text("good")
    assert predict(folder / "model.skops", folder / "data.csv", "-o", before) == 2
    assert "the first in sample 30, feature x0" in capsys.readouterr().err
    assert before.read_text() == "good"


def test_json_of_several_blocks_is_one_list(folder, monkeypatch, capsys):
    import json

    monkeypatch.setattr(matching, "BLOCK_ROWS", 20)
    assert predict(folder / "model.skops", folder / "data.csv", "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == 50
    expected = MaskedLogistic().fit(DATA.X, DATA.Y).predict_proba(DATA.X)[:, 0]
    np.testing.assert_allclose([row["probability_y0"] for row in rows], expected, atol=1e-4)

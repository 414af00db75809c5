"""``spmld monitor``: exit status, JSON and page."""

import json

import numpy as np
import pandas as pd


def write(name, n, seed, shift=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    Y = (X[:, :2] + rng.normal(size=(n, 2)) > 0.5).astype(int)
    X[:, 4] += shift
    frame = pd.DataFrame(X).add_prefix("x")
    frame = frame if name != "train.csv" else frame.join(pd.DataFrame(Y, columns=["label_a", "label_b"]))
    frame.to_csv(name, index=False)


def test_the_exit_status_is_3_after_an_alarm(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("train.csv", 400, 0)
    write("new.csv", 300, 1)
    write("shifted.csv", 300, 1, shift=1.0)
    assert cli("fit", "train.csv", "-o", "m.skops", "--no-held-out", "--param", 'views=["linear"]')[0] == 0
    status, out, err = cli("monitor", "m.skops", "new.csv")
    assert status == 0
    assert "number of zeros" in out
    assert "No shift was found in 300 samples" in err
    status, out, err = cli("monitor", "m.skops", "shifted.csv", "--json", "--report", "page.html")
    assert status == 3
    result = json.loads(out)
    assert result["alarm"]
    assert [row["name"] for row in result["features"] if row["alarm"]] == ["x4"]
    assert "x4" in (tmp_path / "page.html").read_text()
    status, _, err = cli("monitor", "m.skops", "new.csv", "--report", "page.html")
    assert status == 2
    assert "page.html already exists; use --force to overwrite it" in err


def test_few_samples_raise_no_alarm_and_the_labels_that_are_not_tested_are_counted(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("train.csv", 400, 0)
    write("new.csv", 3, 1)
    assert cli("fit", "train.csv", "-o", "m.skops", "--no-held-out", "--param", 'views=["linear"]')[0] == 0
    status, out, err = cli("monitor", "m.skops", "new.csv")
    assert status == 0
    assert "label frequencies" in out
    assert "Label frequencies that are not tested: 2, with fewer than 10 expected positives" in err


def test_a_method_without_a_reference_says_what_to_do(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("train.csv", 200, 0)
    assert cli("fit", "train.csv", "-o", "m.skops", "--no-held-out", "--method", "LabelPrior")[0] == 0
    status, _, err = cli("monitor", "m.skops", "train.csv")
    assert status == 2
    assert "without a summary of its training data" in err

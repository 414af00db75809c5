"""``spmld export``: the graphs predict as the model, and errors name the cause."""

import json
import sys

import numpy as np
import onnxruntime
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import spmld
from spmld.tables import TableEncoder
from tests.app.commands.songs import FEATURES, LABELS


def test_the_graph_predicts_as_the_model(cli, model):
    X = pd.read_csv("test.csv")[FEATURES]
    assert cli("export", "songs.skops", "-o", "songs.onnx") == (0, "", "songs.onnx: MaskedLogistic with 4 labels\n")
    session = onnxruntime.InferenceSession("songs.onnx", providers=["CPUExecutionProvider"])
    (P,) = session.run(["probabilities"], {"X": X.to_numpy(dtype=np.float32)})
    np.testing.assert_allclose(P, model.predict_proba(X), atol=1e-5)
    assert json.loads(session.get_modelmeta().custom_metadata_map["label_names"]) == LABELS
    assert json.loads(session.get_modelmeta().custom_metadata_map["feature_names"]) == FEATURES


def test_a_table_model_begins_with_its_columns(cli):
    table = pd.DataFrame({"review": ["slow rain", "fast sun"] * 20, "tempo": np.tile([90.5, 91.0, 120.0, 121.5], 10)})
    tags = np.column_stack([table.review == "slow rain", table.tempo > 100]).astype(int)
    model = make_pipeline(TableEncoder(text=["review"]), spmld.MaskedLogistic()).fit(table, tags)
    spmld.save(model, "table.skops")
    assert cli("export", "table.skops", "-o", "table.onnx", "--force")[0] == 0
    session = onnxruntime.InferenceSession("table.onnx", providers=["CPUExecutionProvider"])
    feed = {"review": table[["review"]].to_numpy(object), "tempo": table[["tempo"]].to_numpy(np.float32)}
    np.testing.assert_array_equal(session.run(["labels"], feed)[0], model.predict(table))


def test_errors_name_the_cause_and_leave_no_file(cli, monkeypatch, tmp_path):
    cases = {
        ("songs.skops", "-o", "songs.txt"): "unknown file extension '.txt' of songs.txt; supported: .onnx",
        ("absent.skops", "-o", "songs.onnx"): "absent.skops does not exist",
        ("songs.skops", "-o", "test.csv"): "test.csv already exists; use --force",
        ("songs.skops",): "Missing option '-o'",
    }
    for arguments, message in cases.items():
        status, _, err = cli("export", *arguments)
        assert (status, message in err) == (2, True), err
    data = pd.read_csv("test.csv")
    classifier = spmld.PerLabelClassifier(SVC()).fit(data[FEATURES], data[[f"label_{name}" for name in LABELS]])
    spmld.save(classifier, "svc.skops")
    status, _, err = cli("export", "svc.skops", "-o", "model.onnx")
    assert status == 2
    assert "cannot be exported to ONNX, got SVC" in err
    assert not list(tmp_path.glob("*model*"))
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    status, _, err = cli("export", "songs.skops", "-o", "songs.onnx")
    assert status == 1
    assert 'skl2onnx is not installed; install it with: pip install "spmld[onnx]"' in err

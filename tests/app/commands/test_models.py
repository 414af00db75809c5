"""Commands on a model: output, and matching of columns by name."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LinearRegression, RidgeClassifier

import spmld
from spmld.datasets import Dataset, read_dataset, write_dataset
from spmld.estimators import ThresholdClassifier
from tests.app.commands.songs import FEATURES, LABELS, TEST, songs


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_columns_are_matched_by_name(cli):
    _, expected, _ = cli("predict", "songs.skops", "test.csv", "--probabilities")
    frame = pd.read_csv("test.csv")
    other = frame[[f"label_{name}" for name in reversed(LABELS)] + FEATURES[::-1]]
    other.insert(2, "title", "a song")  # text is ignored
    other.to_csv("other.csv", index=False)
    status, out, err = cli("predict", "songs.skops", "other.csv", "--probabilities")
    assert (status, out, err) == (0, expected, "")
    assert cli("evaluate", "songs.skops", "other.csv")[1] == cli("evaluate", "songs.skops", "test.csv")[1]
    frame[FEATURES].to_parquet("bare.parquet")  # new samples have no labels
    assert cli("predict", "songs.skops", "bare.parquet", "--probabilities")[1] == expected
    frame.rename(columns=lambda name: name.removeprefix("label_")).to_csv("plain.csv", index=False)
    assert cli("evaluate", "songs.skops", "plain.csv")[1] == cli("evaluate", "songs.skops", "test.csv")[1]


def test_other_formats_are_matched_by_name(cli):
    data = songs(TEST)
    reordered = Dataset(sp.csr_array(data.X[:, ::-1]), data.Y[:, ::-1], FEATURES[::-1], LABELS[::-1], "reordered")
    write_dataset(reordered, "reordered.npz")
    expected = json.loads(cli("evaluate", "songs.skops", "test.csv", "--json")[1])["metrics"]
    metrics = json.loads(cli("evaluate", "songs.skops", "reordered.npz", "--json")[1])["metrics"]
    assert [row["value"] for row in metrics] == pytest.approx([row["value"] for row in expected])


def test_predict_returns_labels_probabilities_and_top_labels(cli, model):
    X = pd.read_csv("test.csv")[FEATURES]
    P = model.predict_proba(X)
    rows = table(cli("predict", "songs.skops", "test.csv", "--probabilities")[1])
    np.testing.assert_allclose([[float(row[name]) for name in LABELS] for row in rows], P, atol=5.1e-5)
    rows = table(cli("predict", "songs.skops", "test.csv")[1])
    assert list(rows[0]) == LABELS + [f"probability_{name}" for name in LABELS]
    assert [float(rows[0][f"probability_{name}"]) for name in LABELS] == np.round(P[0], 4).tolist()
    rows = table(cli("predict", "songs.skops", "test.csv", "--threshold", "0.2")[1])
    np.testing.assert_array_equal([[int(row[name]) for name in LABELS] for row in rows], P > 0.2)
    rows = table(cli("predict", "songs.skops", "test.csv", "--top-k", "2")[1])
    best = np.argsort(-P, axis=1)[:, :2]
    assert [row["label"] for row in rows] == [LABELS[j] for j in best.ravel()]
    assert [int(row["sample"]) for row in rows[:4]] == [0, 0, 1, 1]
    assert [float(row["probability"]) for row in rows[:2]] == np.round(P[0, best[0]], 4).tolist()
    assert len(table(cli("predict", "songs.skops", "test.csv", "--top-k", "9")[1])) == 4 * len(P)


@pytest.mark.parametrize("name", ["tags.csv", "tags.tsv", "tags.parquet", "tags.json"])
def test_predict_writes_by_the_file_extension(name, cli, model):
    status, out, err = cli("predict", "songs.skops", "test.csv", "-o", name)
    assert (status, out, err) == (0, "", f"{name}: 120 samples, 4 labels\n")
    readers = {"tags.csv": pd.read_csv, "tags.tsv": pd.read_table, "tags.parquet": pd.read_parquet}
    predicted = readers.get(name, pd.read_json)(name)[LABELS]
    np.testing.assert_array_equal(predicted, model.predict(pd.read_csv("test.csv")[FEATURES]))
    assert cli("predict", "songs.skops", "test.csv", "-o", name)[0] == 2
    assert cli("predict", "songs.skops", "test.csv", "-o", name, "--force")[0] == 0


def test_predictions_as_json_have_the_same_columns(cli):
    rows = json.loads(cli("predict", "songs.skops", "test.csv", "--json")[1])
    assert set(rows[0]) == {*LABELS, *(f"probability_{name}" for name in LABELS)}


def test_complete_lists_the_most_confident_missing_labels(cli, model):
    status, out, err = cli("complete", "train.csv", "--model", "songs.skops", "--top", "5", "--min-confidence", "0.6")
    assert status == 0
    rows, data = table(out), read_dataset("train.csv")
    P = model.predict_proba(pd.DataFrame(data.X, columns=FEATURES))
    P[~np.isnan(data.Y)] = 0
    confidences = np.sort(P[P >= 0.6])[::-1]
    assert [float(row["confidence"]) for row in rows] == confidences[:5].round(4).tolist()
    for row in rows:
        assert np.isnan(data.Y[int(row["sample"]), LABELS.index(row["label"])])
    assert err == f"listed 5 of {len(confidences)} suggested labels; {np.isnan(data.Y).sum()} entries are missing\n"
    fitted = cli("complete", "train.csv", "--method", "MaskedLogistic", "--json")
    assert fitted[0] == 0
    assert set(json.loads(fitted[1])[0]) == {"sample", "label", "confidence"}
    assert table(cli("complete", "test.csv", "--model", "songs.skops")[1]) == []  # nothing is missing


def test_a_model_fitted_on_arrays_is_matched_by_position(cli):
    data = songs(TEST)
    spmld.save(spmld.MaskedLogistic().fit(data.X, data.Y), "bare.skops")
    assert cli("evaluate", "bare.skops", "test.csv")[0] == 0
    status, out, _ = cli("predict", "bare.skops", "test.csv")
    assert (status, out.splitlines()[0].split(",")[:4]) == (0, ["y0", "y1", "y2", "y3"])
    write_dataset(Dataset(data.X[:, :5], data.Y, FEATURES[:5], LABELS), "five.csv")
    assert cli("predict", "bare.skops", "five.csv")[::2] == (
        2,
        "spmld: five.csv has 5 features, but bare.skops was fitted on 6\n",
    )
    write_dataset(Dataset(data.X, data.Y[:, :3], FEATURES, LABELS[:3]), "three.csv")
    assert "three.csv has 3 labels, but bare.skops was fitted on 4" in cli("evaluate", "bare.skops", "three.csv")[2]


def test_one_label_as_a_vector(cli):
    data = songs(TEST)
    words = np.where(data.Y[:, 0] > 0, "yes", "no")
    spmld.save(spmld.MaskedLogistic().fit(data.X, words), "one.skops", feature_names=FEATURES, label_names=["sad"])
    status, out, _ = cli("predict", "one.skops", "test.csv", "--no-probabilities")
    assert (status, set(out.split())) == (0, {"sad", "0", "1"})
    output = json.loads(cli("evaluate", "one.skops", "test.csv", "--metric", "macro_auc", "--json")[1])
    assert output["metrics"][0]["value"] > 0.8


def test_a_model_without_probabilities(cli):
    data = songs(TEST)
    spmld.save(RidgeClassifier().fit(data.X, data.Y), "ridge.skops", label_names=LABELS, feature_names=FEATURES)
    assert cli("predict", "ridge.skops", "test.csv")[0] == 0
    assert "score" in cli("predict", "ridge.skops", "test.csv", "--top-k", "1")[1].splitlines()[0]
    for args in (["--threshold", "0.3"], ["--probabilities"]):
        status, _, err = cli("predict", "ridge.skops", "test.csv", *args)
        assert (status, err) == (
            2,
            "spmld: ridge.skops contains RidgeClassifier, which does not predict probabilities\n",
        )
    assert (
        "--metric log_loss needs probabilities" in cli("evaluate", "ridge.skops", "test.csv", "--metric", "log_loss")[2]
    )
    assert "cannot complete labels" in cli("complete", "train.csv", "--model", "ridge.skops")[2]


def test_a_model_with_decisions(cli):
    data = songs(TEST)
    model = ThresholdClassifier(spmld.MaskedLogistic(), cv=2, random_state=0).fit(data.X, data.Y)
    spmld.save(model, "tuned.skops", label_names=LABELS, feature_names=FEATURES)
    for args, expected in (([], model.predict(data.X)), (["--probabilities"], model.predict_proba(data.X))):
        printed = pd.read_csv(io.StringIO(cli("predict", "tuned.skops", "test.csv", *args)[1]))
        np.testing.assert_allclose(printed[LABELS], expected, atol=1e-4)


def test_prefix_and_drop_are_needed_for_the_fit_only(cli):
    frame = pd.read_csv("train.csv").rename(columns=lambda name: name.replace("label_", "is_"))
    frame.insert(0, "id", [f"song {i}" for i in range(len(frame))])
    frame.to_csv("other.csv", index=False)
    args = ("--prefix", "is_", "--drop", "id", "--method", "MaskedLogistic")
    assert cli("fit", "other.csv", "-o", "other.skops", *args)[0] == 0
    assert cli("evaluate", "other.skops", "other.csv")[0] == 0


def test_the_official_split_is_used(cli):
    both = songs(np.arange(240))
    split = Dataset(both.X, both.Y, FEATURES, LABELS, "split", np.arange(0, 240, 2), np.arange(1, 240, 2))
    write_dataset(split, "split.npz")
    out = cli("fit", "split.npz", "-o", "split.skops", "--method", "LabelPrior", "--json")[1]
    assert json.loads(out)["n_samples"] == 120
    assert len(table(cli("predict", "split.skops", "split.npz")[1])) == 120
    assert len(table(cli("predict", "split.skops", "split.npz", "--part", "all")[1])) == 240


def test_a_model_without_scores_has_no_top_labels(cli):
    data = songs(TEST)
    spmld.save(LinearRegression().fit(data.X, data.Y), "plain.skops", label_names=LABELS, feature_names=FEATURES)
    status, _, err = cli("predict", "plain.skops", "test.csv", "--top-k", "2")
    assert (status, err) == (2, "spmld: plain.skops contains LinearRegression, which does not predict scores\n")


def test_missing_features_are_replaced_by_models_that_were_fitted_on_some(cli, tmp_path):
    lines = (tmp_path / "train.csv").read_text().splitlines()
    cells = lines[3].split(",")
    cells[lines[0].split(",").index("tempo")] = ""
    (tmp_path / "incomplete.csv").write_text("\n".join([*lines[:3], ",".join(cells), *lines[4:]]) + "\n")
    status, out, err = cli("predict", "songs.skops", "incomplete.csv")
    assert (status, out) == (2, "")
    assert "incomplete.csv: features must be finite numbers" in err
    assert "1 are empty or infinite, the first in sample 2, feature tempo" in err
    assert "fit the model on a table with empty fields" in err
    assert cli("fit", "incomplete.csv", "-o", "imputed.skops", "--method", "MaskedLogistic")[0] == 0
    assert cli("predict", "imputed.skops", "incomplete.csv")[0] == 0
    assert cli("complete", "incomplete.csv", "--model", "imputed.skops")[0] == 0
    for command in ("complete", "compare", "audit"):
        options = [] if command == "audit" else ["--method", "MaskedLogistic"]
        assert cli(command, "incomplete.csv", *options)[0] == 0, command


def test_predict_reads_the_sheet_and_the_encoding_of_the_fit(cli):
    frame = pd.read_csv("train.csv").rename(columns={"tempo": "tempö"})
    with pd.ExcelWriter("train.xlsx") as book:
        pd.DataFrame({"note": ["nothing"]}).to_excel(book, sheet_name="Notes", index=False)
        frame.to_excel(book, sheet_name="Songs", index=False)
    frame.to_csv("train.txt", index=False, encoding="latin-1", sep="|")
    fit = ["--method", "LabelPrior", "-o", "m.skops", "--force"]
    assert cli("fit", "train.xlsx", "--sheet", "Songs", *fit)[0] == 0
    assert cli("predict", "m.skops", "train.xlsx")[0] == 0
    assert cli("evaluate", "m.skops", "train.xlsx")[0] == 0
    assert cli("complete", "train.xlsx", "--model", "m.skops", "-o", "filled.xlsx")[0] == 0
    assert cli("predict", "m.skops", "train.xlsx", "--sheet", "Notes")[0] == 2
    frame.to_excel("other.xlsx", sheet_name="May", index=False)
    status, _, err = cli("predict", "m.skops", "other.xlsx")
    assert (status, "Songs" in err, "--sheet" in err) == (2, True, True), err
    assert cli("predict", "m.skops", "other.xlsx", "--sheet", "May")[0] == 0
    frame.to_csv("new.csv", index=False)  # in UTF-8; the sheet does not apply to other formats
    assert cli("predict", "m.skops", "new.csv")[0] == 0
    assert cli("fit", "train.txt", "--from", "csv", "--encoding", "latin-1", "--sep", "|", *fit)[0] == 0
    assert cli("predict", "m.skops", "train.txt", "--from", "csv")[0] == 0
    assert cli("predict", "m.skops", "new.csv", "--encoding", "utf-8", "--sep", ",")[0] == 0

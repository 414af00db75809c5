"""Values of label columns: numbers and thresholds as labels in every format, notes and errors."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from spmld.datasets import from_frame, read_dataset
from spmld.tables import TableError, TableRoles
from spmld.tables.label_columns import read_label_column
from spmld.tables.roles import read_label_columns
from tests.commands import run_command

NAN = np.nan
X = [0.5, 0.1, 0.7, 0.3, 0.9]
SIGNS = {"x": X, "label_a": [-1, 0, 1, 1, -1], "label_b": [1, 1, 0, -1, 0]}
VOTES = {"x": X, "label_a": [0, 1, 2, 3, 0], "label_b": [3, 0, None, 1, 2]}


def labels(content, **roles):
    return read_label_columns(pd.DataFrame(content), TableRoles(**roles))


def test_messages_about_long_names_and_values_are_short():
    name = "label_" + "x" * 10**5
    with pytest.raises(TableError) as caught:
        from_frame(pd.DataFrame({"x": X, name: ["1" + "y" * 10**5] * 5}))
    for message in (str(caught.value), caught.value.describe()):
        assert len(message) < 4000
        assert re.search(r"label_xxx.* \[\.\.\.\] .*(positive|--positive)", message)


@pytest.mark.parametrize("extension", ["csv", "xlsx", "parquet", "jsonl", "json"])
def test_numbers_are_labels_in_every_format(tmp_path, extension):
    file, frame = tmp_path / f"songs.{extension}", pd.DataFrame(VOTES)
    if extension in ("json", "jsonl"):
        frame.to_json(file, orient="records", lines=extension == "jsonl")
    else:
        getattr(frame, {"csv": "to_csv", "xlsx": "to_excel", "parquet": "to_parquet"}[extension])(file, index=False)
    with pytest.warns(match="numbers 0, 1 of label columns label_a, label_b are negative, since only positive numbers"):
        data = read_dataset(file, positive=">=2")
    np.testing.assert_array_equal(data.Y, [[0, 1], [0, 0], [1, NAN], [1, 0], [0, 1]])
    np.testing.assert_array_equal(read_dataset(file, positive=[2, "3.0"], negative=[0, 1]).Y, data.Y)


def test_quoted_and_padded_numbers(tmp_path):
    file = tmp_path / "songs.csv"
    file.write_text('x,label_a,label_b\n0.5,"-1", 1\n0.1, 1.0,"0 "\n0.7,"1","no"\n0.3,0,-1.0\n')
    data = read_dataset(file, missing="-1")
    np.testing.assert_array_equal(data.Y, [[NAN, 1], [1, 0], [1, 0], [0, NAN]])


@pytest.mark.parametrize(
    ("missing", "expected"),
    [
        (-1, [[NAN, 1], [0, 1], [1, 0], [1, NAN], [NAN, 0]]),
        ("0", [[0, 1], [NAN, 1], [1, NAN], [1, 0], [0, NAN]]),
    ],
)
def test_one_of_the_numbers_is_missing(missing, expected):
    np.testing.assert_array_equal(from_frame(pd.DataFrame(SIGNS), missing=missing).Y, expected)


def test_ambiguous_numbers_raise_with_the_option():
    with pytest.raises(TableError, match="contain -1, 0 and 1, and -1 occurs in label_a, label_b; pass") as error:
        from_frame(pd.DataFrame(SIGNS))
    assert error.value.describe().endswith("the number that means missing, -1 or 0 (--missing 0)")


def test_notes_state_the_meaning_of_other_numbers():
    def note(**roles):
        return [note.describe(command_line=True) for note in labels(VOTES, **roles).notes]

    shown = "numbers 0, 1 of label columns label_a, label_b are negative, since only positive numbers are passed"
    assert note(positive=">=2") == [f"{shown} (--negative '<=0')"]
    (positive,) = note(negative="<=1")
    assert positive.endswith("are positive, since only negative numbers are passed (--positive '>=3')")
    missing = "number 1 of label columns label_a, label_b is missing, neither positive nor negative"
    assert note(positive=">=2", negative="<=0") == [missing]
    assert note(positive=[2, 3], negative="<=1") == []


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({}, "label column 'label_a' contains 2, 3; accepted: .*--positive '>=2' or --negative 2 or --missing 2 or"),
        ({"positive": "2", "negative": "0"}, "label column 'label_a' contains 1, 3; accepted"),
        ({"positive": ">=1", "negative": "<2"}, r"label column 'label_a': 1 is both positive \(>=1\) and negative"),
    ],
)
def test_errors_name_the_column_the_value_and_the_option(roles, message):
    with pytest.raises(TableError) as error:
        from_frame(pd.DataFrame({"x": X, "label_a": VOTES["label_a"]}), **roles)
    assert re.search(message, error.value.describe())


def test_single_precision_and_truth_values_are_read_as_they_are_written():
    single = pd.Series(np.array([0.7, 0.3, NAN], dtype="float32"), name="a")
    np.testing.assert_array_equal(read_label_column(single, TableRoles(positive=">=0.7"), []), [1, 0, NAN])
    truth = pd.Series([True, False, None], name="a")
    np.testing.assert_array_equal(read_label_column(truth, TableRoles(missing="false"), []), [1, NAN, NAN])


def test_thresholds_do_not_apply_to_verified_samples():
    with pytest.warns(match="are negative"):
        data = from_frame(pd.DataFrame({**VOTES, "checked": [1, 0, 1, 0, 0]}), positive=">=2", trusted="checked")
    assert data.trusted.any(axis=1).tolist() == [True, False, True, False, False]


def test_a_model_stores_the_thresholds(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=40), "label_a": rng.integers(0, 4, 40), "label_b": [0, 3, 1, 2] * 10})
    frame.to_csv(tmp_path / "songs.csv", index=False)
    fit = ["fit", "songs.csv", "--positive", ">=2", "--method", "LabelPrior", "--no-held-out", "-o", "m.skops"]
    status, _, err = run_command(tmp_path, *fit)
    assert (status, "numbers 0, 1 of label columns label_a, label_b are negative" in err) == (0, True)
    status, out, _ = run_command(tmp_path, "evaluate", "m.skops", "songs.csv", "--json")
    positives = {row["label"]: row["positives"] for row in json.loads(out)["per label"]}
    assert (status, positives) == (0, {"a": int((frame.label_a >= 2).sum()), "b": 20})


def test_labels_are_written_back_in_the_numbers_of_the_column(tmp_path):
    (tmp_path / "songs.csv").write_text("id,x,label_a\ns1,0.5,0\ns2,0.1,3\ns3,0.7,3\ns4,0.3,0\ns5,0.9,2\n")
    (tmp_path / "answers.csv").write_text("id,label,answer\ns1,a,present\ns2,a,absent\n")
    options = ["--positive", ">=2", "--negative", "<=1", "--id", "id", "-o", "new.csv"]
    assert run_command(tmp_path, "correct", "songs.csv", "answers.csv", *options)[0] == 0
    lines = (tmp_path / "new.csv").read_text().splitlines()
    assert lines == ["id,x,label_a", "s1,0.5,3", "s2,0.1,0", "s3,0.7,3", "s4,0.3,0", "s5,0.9,2"]

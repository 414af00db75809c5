"""Hierarchies in files, and of tags in data frames."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from spmld.annotators import read_annotators
from spmld.datasets import Dataset, from_frame, read_hierarchy
from spmld.datasets.hierarchies import resolve_contradictions, with_hierarchy
from spmld.labels import Hierarchy
from spmld.tables import TableRoles

EDGES = {("01", "01.10"), ("01", "01.20"), ("01.20", "x")}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "parent,child\n01,01.10\n01,01.20\n01.20,x\n"),
        ("a.txt", " Parent ;CHILD;note\n;01;root\n01; 01.10;\n01;01.20;\n01.20;x;\n"),
        ("a.json", '{"01": ["01.10", "01.20"], "01.20": "x"}'),
        ("b.json", '{"01": {"01.10": {}, "01.20": ["x"]}}'),
        (
            "c.json",
            '[{"parent": "01", "child": "01.10"}, {"parent": "01", "child": "01.20"}, '
            '{"parent": "01.20", "child": "x"}]',
        ),
    ],
)
def test_formats_of_a_hierarchy(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    assert set(read_hierarchy(tmp_path / name).edges) == EDGES


def test_labels_in_json_must_be_text(tmp_path):
    (tmp_path / "a.json").write_text('{"rock": [1, 2]}')
    with pytest.raises(ValueError, match="labels must be text, got 1; write the children as a list of text"):
        read_hierarchy(tmp_path / "a.json")


def test_paths_of_tags_and_of_label_columns_have_a_hierarchy():
    tags = pd.DataFrame({"x": [1.0, 2.0, 3.0], "tags": ["Rock/metal", "rock", "rock; mood/sad"]})
    data = from_frame(tags, tags="tags", path_sep="/")
    assert set(data.hierarchy.edges) == {("rock", "Rock/metal"), ("mood", "mood/sad")}
    columns = pd.DataFrame({"x": [1.0, 2.0], "label_rock": [1, 0], "label_rock>metal>doom": [1, 0]})
    assert from_frame(columns, path_sep=">").hierarchy.edges == (("rock", "rock>metal>doom"),)


def test_added_labels_are_missing_where_all_tags_are():
    Y = [[1, 0], [0, 0], [None, None], [0, 1]]
    data = Dataset(np.zeros((4, 1)), Y, label_names=["metal", "sad"], roles=TableRoles(tags="t"), trusted=[1, 0, 0, 0])
    added = with_hierarchy(data, Hierarchy([("music", "rock"), ("rock", "METAL")]))
    assert added.label_names == ["metal", "sad", "music", "rock"]
    assert np.array_equal(added.Y[:, 2:], [[1, 1], [0, 0], [np.nan] * 2, [0, 0]], equal_nan=True)
    assert added.trusted.sum() == 2
    with pytest.raises(ValueError, match=r"2 unknown labels: 'rock', 'mettal'; .* did you mean 'metal'"):
        with_hierarchy(data, Hierarchy([("rock", "mettal")]))
    answers = replace(data, answers=read_annotators(np.ones((4, 1, 2))))
    with pytest.raises(ValueError, match="'rock' must be tags to be used with several annotators"):
        with_hierarchy(answers, Hierarchy([("rock", "metal")]))


def test_contradictions_are_resolved_and_missing_labels_stay_missing():
    with pytest.warns(UserWarning, match=r"1 negative label .*sample s2: 'metal' without 'rock'"):
        Y = resolve_contradictions(Hierarchy({"rock": ["metal"]}), [[None, 1], [0, 1]], ["rock", "metal"], ["s1", "s2"])
    assert np.array_equal(Y, [[np.nan, 1], [1, 1]], equal_nan=True)

"""Roles of columns: which columns are labels, what empty fields mean, and which columns are suggested."""

import numpy as np
import pandas as pd
import pytest

from spmld.datasets import from_frame
from spmld.tables import TableError, TableRoles
from spmld.tables.roles import read_label_columns

X = np.arange(30) / 7


def test_empty_fields_are_negatives_in_the_encoding_of_the_column():
    frame = pd.DataFrame({"label_a": [1, -1, None], "label_b": [-1, None, 1]})
    Y = read_label_columns(frame, TableRoles(empty_is="negative")).Y
    np.testing.assert_array_equal(Y, [[1, -1], [-1, -1], [-1, 1]])
    zeros = read_label_columns(frame.replace(-1, 0), TableRoles(empty_is="negative")).Y
    np.testing.assert_array_equal(zeros, np.maximum(Y, 0))


def test_the_labels_of_a_model_are_the_columns_with_the_prefix():
    frame = pd.DataFrame({"sad": [5, 6], "label_sad": [1, 0], "calm": [0, 1]})  # a feature has the name of a label
    labels = read_label_columns(frame, TableRoles(), ["calm", "sad"])
    assert labels.columns == ["calm", "label_sad"]
    np.testing.assert_array_equal(labels.Y, [[0, 1], [1, 0]])


def test_a_column_has_one_role():
    frame = pd.DataFrame({"x": X, "text": "a b", "label_a": [0, 1] * 15})
    with pytest.raises(TableError, match="column 'text' has two roles, id and text; pass one"):
        from_frame(frame, id="text", text="text")


def test_dropped_columns_are_not_labels():
    frame = pd.DataFrame({"x": X, "label_a": [0, 1] * 15, "label_note": "maybe"})
    assert from_frame(frame, drop="label_note").label_names == ["a"]


def test_empty_label_columns_raise():
    with pytest.raises(TableError, match="all fields of the label columns are empty: label_a, label_b"):
        from_frame(pd.DataFrame({"x": X, "label_a": None, "label_b": ""}))


def test_suggested_columns_have_labels_or_repeated_tags():
    frame = pd.DataFrame(
        {
            "stars": [1, 2, 3] * 10,
            "notes": [f"a note, with word{i}, and {i}" for i in range(30)],
            "name": ["Ann, Bob and Eve went out to the city", "nobody, as far as we could see"] * 15,
            "mood": ["sad, slow", "slow", "sad"] * 10,
            "good": ["ja", "nein", None] * 10,
        }
    )
    with pytest.raises(TableError) as error:
        from_frame(frame)
    assert str(error.value).endswith("look like labels or tags: good, mood (tags='mood' or labels='good')")


def test_notes_name_spellings_that_are_merged_and_tags_that_may_be_the_same():
    frame = pd.DataFrame({"x": [1.5, 2.5, 3.5, 4.5], "tags": ["Sad", "sad; hip hop", "sad\u200b", "hip-hop"]})
    notes = [note.text for note in read_label_columns(frame, TableRoles(tags="tags")).notes]
    assert notes == [
        "tags that look the same are merged: 'sad\\u200b' is read as 'sad'",
        "tags that differ only in case or width are merged: 'Sad' is read as 'sad'",
        "tags 'hip hop' and 'hip-hop' are different labels; if they are the same, use one spelling",
    ]


def test_a_missing_label_column_beside_an_existing_one_is_named():
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "warm": ["yes", "", "no"]})
    with pytest.raises(ValueError, match="column 'wram' of labels does not exist; did you mean 'warm'"):
        from_frame(frame, labels=["warm", "wram"])


TAGS = ["rock;pop", "pop,jazz", "rock/folk", "folk+pop", "jazz", "rock", "pop"]
GENRES = ["folk", "jazz", "pop", "rock"]


@pytest.mark.parametrize("tag_sep", [";,/+", [";", ",", "/", "+"], ";+,/"])
def test_several_separators_of_tags_give_no_combinations(tag_sep):
    labels = read_label_columns(pd.DataFrame({"tags": TAGS}), TableRoles(tags="tags", tag_sep=tag_sep))
    assert (labels.names, labels.notes, labels.problems) == (GENRES, [], [])


def test_notes_name_tags_that_contain_another_separator():
    labels = read_label_columns(pd.DataFrame({"tags": TAGS}), TableRoles(tags="tags", tag_sep=";"))
    notes = [note.describe(command_line=True) for note in labels.notes]
    read = "tags of 'tags' are read with the separator ';', but the tag"
    assert notes == [
        f"{read} 'pop,jazz' contains ',' (--tag-sep ';' --tag-sep ,)",
        f"{read} 'rock/folk' contains '/' (--tag-sep ';' --tag-sep /)",
        f"{read} 'folk+pop' contains '+' (--tag-sep ';' --tag-sep +)",
    ]
    assert labels.notes[0].describe().endswith("(tag_sep=[';', ','])")


def test_a_separator_that_does_not_occur_raises():
    for tag_sep, signs in ((";:", "';' does (tag_sep=';')"), ("/->", "'/' does (tag_sep='/')")):
        roles = TableRoles(tags="tags", tag_sep=tag_sep)
        (problem,) = read_label_columns(pd.DataFrame({"tags": TAGS}), roles).problems
        assert problem.describe() == f"tag_sep {tag_sep!r} occurs in no value of column 'tags', but {signs}"
    roles = TableRoles(tags="tags", tag_sep="->")
    assert read_label_columns(pd.DataFrame({"tags": ["rock->pop", "jazz"]}), roles).names == ["jazz", "pop", "rock"]
    new = read_label_columns(pd.DataFrame({"tags": ["hip-hop"]}), roles, ["jazz", "pop"])  # for a model
    assert new.problems == []


def test_notes_count_words_that_are_not_tags():
    frame = pd.DataFrame({"tags": ["a;b", "-", "-", "none", "n/a", "c;none", "a"]})
    notes = [note.describe(command_line=True) for note in read_label_columns(frame, TableRoles(tags="tags")).notes]
    assert notes == [
        "1 of 7 samples have an empty field 'tags': their labels are missing (--empty-is negative)",
        "2 samples have '-' in 'tags', which is not a tag and means no tags (--missing - or --positive -)",
        "1 sample has 'n/a' in 'tags', which is not a tag and means an empty field (--negative n/a or --positive n/a)",
        "'none' is a tag of 'tags', since it occurs beside other tags, as in 'c, none' (--negative none or "
        "--missing none)",
    ]
    roles = TableRoles(tags="tags", negative=["none", "-"], missing="n/a")
    passed = read_label_columns(frame, roles)
    assert (passed.names, len(passed.notes)) == (["a", "b", "c"], 1)


def test_suggested_labels_have_no_other_role():
    frame = pd.DataFrame({"x": X, "is_new": [0, 1] * 15, "is_sad": [1, 0] * 15, "is_checked": [1, 0, 0] * 10})
    for roles, options in (
        ({}, "(prefix='is_')"),
        ({"trusted": "is_checked"}, "(labels=['is_new', 'is_sad'])"),  # the prefix would make a label of is_checked
        ({"id": "is_checked", "number": "is_new"}, "(labels='is_sad')"),
    ):
        with pytest.raises(TableError, match="no column starts with 'label_'") as error:
            from_frame(frame, **roles)
        assert str(error.value).endswith(options)

"""Tables in any format are read as the same DataFrame, and their columns get roles."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

from spmld.datasets import TableError, TableProblem, TableRoles, TableWarning, from_frame, read_dataset, read_table
from tests.journeys.songs import TAGS, make_songs, tag_lists

FRAME, Y = make_songs(60)
SONGS = FRAME.assign(tags=tag_lists(Y))


@pytest.mark.parametrize("sep", [",", ";", "\t", "|"])
@pytest.mark.parametrize("decimal", [".", ","])
def test_separators_are_guessed(sep, decimal, tmp_path):
    if sep == decimal:
        return
    frame = FRAME.assign(review="slow, sad; and|long")
    frame.to_csv(tmp_path / "songs.csv", sep=sep, decimal=decimal, index=False)
    pd.testing.assert_frame_equal(read_table(tmp_path / "songs.csv"), frame, check_dtype=False)


def test_separators_can_be_passed(tmp_path):
    (tmp_path / "file.csv").write_text("a#b\n1,5#2\n")
    frame = read_table(tmp_path / "file.csv", sep="#", decimal=",")
    assert frame.to_dict("list") == {"a": [1.5], "b": [2]}


def test_texts_of_a_folder_are_joined_with_its_table(tmp_path):
    for name, text in (("one", "slow and sad"), ("two", "loud")):
        (tmp_path / f"{name}.txt").write_text(text)
    (tmp_path / "labels.csv").write_text("document,tags\ntwo.txt,rock\none,sad\nthree,folk\n")
    frame = read_table(tmp_path)
    assert frame.to_dict("list") == {
        "file": ["two.txt", "one"],
        "text": ["loud", "slow and sad"],
        "tags": ["rock", "sad"],
    }
    assert read_dataset(tmp_path).label_names == ["rock", "sad"]


def test_roles(tmp_path):
    SONGS.to_parquet(tmp_path / "songs.parquet")
    options = {"text": "review", "tags": "tags", "id": "song_id", "drop": "format", "empty_is": "negative"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        data = read_dataset(tmp_path / "songs.parquet", **options)
    np.testing.assert_array_equal(data.Y, Y)
    assert (data.label_names, data.sample_names) == (TAGS, FRAME["song_id"].tolist())
    assert list(data.encoder.feature_names_in_) == ["review", "tempo", "released"]
    assert data.roles.tag_sep == ";"
    assert TableRoles.from_dict(data.roles.to_dict()) == data.roles


def test_labels_are_never_features():
    """A column of random numbers in the place of the labels does not change the features."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        first = from_frame(SONGS, tags="tags", text="review")
        second = from_frame(SONGS.assign(tags=SONGS["tags"].to_numpy()[::-1]), tags="tags", text="review")
    assert (first.X != second.X).nnz == 0
    assert not any("tags" in name for name in first.feature_names)


def test_complete_numbers_are_unchanged():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3)) * [1, 100, 1e-3]
    frame = pd.DataFrame(X, columns=list("abc")).assign(label_d=rng.random(30) < 0.5)
    data = from_frame(frame)
    np.testing.assert_array_equal(data.X, X)
    assert data.encoder is None


def test_notes_name_the_column_and_the_option():
    frame = SONGS.assign(index_nr=np.arange(60) * 3, price=["about 4", *["5"] * 59])
    with pytest.warns(TableWarning) as notes:
        from_frame(frame, tags="tags")
    texts = [str(note.message) for note in notes]
    for text in (
        "column 'song_id' looks like an identifier and is not used as a feature (id='song_id')",
        "column 'index_nr' looks like an identifier and is not used as a feature (id='index_nr')",
        "column 'review' is encoded as text (text='review' or drop='review')",
        "1 values of column 'price' are not numbers, such as 'about 4'; they are treated as missing",
    ):
        assert text in texts


def test_all_problems_are_in_one_error():
    frame = FRAME.assign(label_a="maybe", label_b=3)
    with pytest.raises(TableError) as error:
        from_frame(frame, text="revew", id="song", source="songs.csv")
    assert len(error.value.problems) == 4
    assert str(error.value).startswith("songs.csv has 4 problems: ")
    assert error.value.describe().count("\n  - ") == 4
    with pytest.raises(TableError, match="look like labels or tags: tags"):
        from_frame(SONGS)
    with pytest.raises(TableError, match=r"labels=\['rock', 'sad'\]"):
        from_frame(FRAME.assign(rock="yes", sad=1))
    with pytest.raises(TableError, match=r"is_rock, is_sad \(prefix='is_'\)"):
        from_frame(FRAME.assign(is_rock="yes", is_sad=1))


def test_errors_and_warnings_of_tables_can_be_sent_to_other_processes():
    problems = [TableProblem("no samples"), TableProblem("no labels", (("tags", "mood"),))]
    for error in (TableError(problems, "songs.csv"), TableWarning(problems[1])):
        assert str(pickle.loads(pickle.dumps(error))) == str(error)

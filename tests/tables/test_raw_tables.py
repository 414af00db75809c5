"""Tables in any format are read as the same DataFrame, and their columns get roles."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

from spmld.datasets import from_frame, read_dataset
from spmld.tables import TableError, TableRoles, TableWarning, read_table
from spmld.tables.errors import TableProblem
from spmld.tables.reading import read_table_blocks
from tests.journeys.songs import TAGS, make_songs, tag_lists

FRAME, Y = make_songs(60)
SONGS = FRAME.assign(tags=tag_lists(Y))


def test_roles(tmp_path):
    SONGS.to_parquet(tmp_path / "songs.parquet")
    options = {"text": "review", "tags": "tags", "id": "song_id", "drop": "format", "empty_is": "negative"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        data = read_dataset(tmp_path / "songs.parquet", **options)
    np.testing.assert_array_equal(data.Y, Y)
    assert (data.label_names, data.sample_names) == (TAGS, FRAME["song_id"].tolist())
    assert list(data.encoder.feature_names_in_) == ["review", "tempo", "released"]
    assert data.roles.tag_sep == (";",)
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
        "column 'song_id' looks like an identifier and is not used as a feature (id='song_id' or category='song_id')",
        "column 'index_nr' looks like an identifier and is not used as a feature (id='index_nr' or number='index_nr')",
        "column 'review' is encoded as text (text='review' or drop='review')",
        "1 of 60 values of column 'price' cannot be read as numbers, such as 'about 4'; they are treated as missing "
        "(category='price')",
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


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
@pytest.mark.parametrize("extension", [".csv", ".csv.gz"])
def test_byte_order_marks_name_the_encoding(encoding, extension, tmp_path):
    frame = pd.DataFrame({"Größe": [1.5, 2.5], "Notiz": ['er sagte "ja"\nund ging', "nein; doch"]})
    path = tmp_path / f"file{extension}"
    frame.to_csv(path, index=False, encoding=encoding)
    passed = {"encoding": encoding} if encoding in ("cp1252", "utf-16-le") else {}  # those without a mark
    pd.testing.assert_frame_equal(read_table(path, **passed), frame)
    if encoding == "cp1252":
        with pytest.raises(ValueError, match=r"is not utf-8 text .*--encoding cp1252"):
            read_table(path)


def test_sheets_of_an_excel_file(tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "songs.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"about": ["a note"]}).to_excel(book, sheet_name="Info", index=False)
        FRAME.to_excel(book, sheet_name="Songs 2024", index=False)
        pd.DataFrame().to_excel(book, sheet_name="Empty", index=False)
    with pytest.warns(TableWarning, match="sheet 'Info' is used; the other sheets are 'Songs 2024', 'Empty' .*sheet="):
        assert read_table(path).columns.tolist() == ["about"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        songs = read_table(path, sheet="Songs 2024")
    pd.testing.assert_frame_equal(songs, FRAME, check_dtype=False)
    with pytest.raises(ValueError, match=r"'Songs 2023' does not exist; did you mean 'Songs 2024'\?"):
        read_table(path, sheet="Songs 2023")
    with pytest.raises(ValueError, match="sheet 'Empty' is empty"):
        read_table(path, sheet="Empty")
    with pytest.raises(ValueError, match=r"read as csv, which accepts encoding, sep, decimal, got sheet"):
        read_table(tmp_path / "songs.csv", sheet="a")


@pytest.mark.parametrize("name", ["file.csv", "file.xlsx"])
def test_columns_of_the_same_name_are_noted(name, tmp_path):
    frame = pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"])
    (frame.to_excel if name.endswith("xlsx") else frame.to_csv)(tmp_path / name, index=False)
    with pytest.warns(TableWarning, match=r"several columns are named 'a'; the second is used as 'a\.1'"):
        assert read_table(tmp_path / name).to_dict("list") == {"a": [1], "b": [2], "a.1": [3]}


def test_ambiguous_dates_are_noted():
    frame = pd.DataFrame({"date": ["03/04/2021", "05/06/2022", "07/08/2020"] * 9, "label_a": [0, 1, 1] * 9})
    frame["x"] = np.arange(27) / 7
    with pytest.warns(TableWarning, match=r"'date', such as '03/04/2021', are read as month/day/year \(day_first=True"):
        from_frame(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert from_frame(frame, day_first=True).encoder.date_formats_ == {"date": (["%d/%m/%Y"], False)}
        from_frame(frame.assign(date=["03/04/2021", "05/06/2022", "27/08/2020"] * 9))


def test_numbers_and_dates_are_not_suggested_as_tags():
    columns = {"price": ["1,5", "2,5", "1,5"] * 9, "date": ["03/04/2021", "05/06/2022", "05/06/2022"] * 9}
    for more, message in (({}, r"The columns are price, date"), ({"mood": ["sad; slow", "sad", "slow"] * 9}, "mood")):
        with pytest.raises(TableError) as error:
            from_frame(pd.DataFrame(columns | more))
        assert message in str(error.value)
        assert "tags='price'" not in str(error.value)
        assert ("tags='mood'" in str(error.value)) == bool(more)


def test_a_value_may_continue_after_the_lines_from_which_the_separator_is_guessed(tmp_path):
    # The commas are in the same places of all lines, too; the cut record has fewer fields only with semicolons.
    rows = [f"{i},5;{i};x" for i in range(198)] + ['198,5;"one', 'two";x', "199,5;2;x"]
    (tmp_path / "file.csv").write_text("\n".join(["price, net;b;c", *rows]) + "\n")
    frame = read_table(tmp_path / "file.csv")
    assert (frame.shape, frame["b"].iloc[-2], frame["price, net"].iloc[-1]) == ((200, 3), "one\ntwo", 199.5)


def test_decimal_commas_are_guessed_by_the_majority(tmp_path):
    (tmp_path / "file.csv").write_text("a;b\n1.5;1,2\n2.5;x\n3.5;y\n")
    assert read_table(tmp_path / "file.csv").to_dict("list") == {"a": [1.5, 2.5, 3.5], "b": ["1,2", "x", "y"]}


def test_names_of_columns_are_stripped_and_blank_lines_are_ignored(tmp_path):
    (tmp_path / "file.csv").write_text(" a ,b \n1,2\n\n3,4\n")
    (tmp_path / "file.jsonl").write_text('{"a": 1, "b": 2}\n\n{"a": 3, "b": 4}\n')
    for name in ("file.csv", "file.jsonl"):
        assert read_table(tmp_path / name).to_dict("list") == {"a": [1, 3], "b": [2, 4]}


@pytest.mark.parametrize(("name", "columns"), [("file.tsv", ["a,b", "c"]), ("file.csv", ["a", "b\tc"])])
def test_the_extension_decides_between_separators_that_both_fit(name, columns, tmp_path):
    (tmp_path / name).write_text("a,b\tc\n1,2\t3\n")
    assert read_table(tmp_path / name).columns.tolist() == columns


def test_identifiers_keep_their_zeros_and_whole_numbers_stay_whole(tmp_path):
    """Digits after a zero are a code as an identifier, and still a number as a feature."""
    path = tmp_path / "codes.csv"
    path.write_text("sid,hour,tags\n0400,05,a\n0007,10,b\n7,15,a\n0012,20,b\n")
    data = read_dataset(path, id="sid", tags="tags")
    assert data.sample_names == ["0400", "0007", "7", "0012"]
    assert data.columns == {"hour": "number"}
    blocks = list(read_table_blocks(path, n_rows=2))
    assert [value for block in blocks for value in block["sid"]] == ["0400", "0007", "7", "0012"]
    path.write_text("sid,hour,tags\n400,05,a\n8,10,b\n,15,a\n12,20,b\n")
    assert list(map(str, read_dataset(path, id="sid", tags="tags").sample_names)) == ["400", "8", "", "12"]
    path.write_text("sid,hour,tags\n4e20,05,a\n8,10,b\n,15,a\ninf,20,b\n")
    assert read_dataset(path, id="sid", tags="tags").sample_names == [4e20, 8.0, "", np.inf]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("file.jsonl", '{"a": 1}\n\n{"a": 1, "sad": 1, "sad": 0}\n', "line 3: an object has 2 values of the key 'sad'"),
        ("file.jsonl", '{"a": {"b": 1, "b": 2}}\n', "line 1: an object has 2 values of the key 'b'"),
        ("file.json", '[\n{"a": "]},{"},\n{"b": 2, "b": 3}]', "item 2, which begins in line 3: .* of the key 'b'"),
    ],
)
def test_repeated_keys_raise_with_the_line(name, text, message, tmp_path):
    """Python would use the last value."""
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        read_table(tmp_path / name)


def test_lists_are_read_with_any_space(tmp_path):
    (tmp_path / "file.json").write_text(' [ {"a": "],["} ,\n\t{"a": [1, 2]}\n]\n')
    assert read_table(tmp_path / "file.json").to_dict("list") == {"a": ["],[", [1, 2]]}


@pytest.mark.parametrize("text", ['{"a": 1}\n{"a": "\\ud800"}\n', '{"a": 1}\n{"a": [{"b\\udc00": 1}]}\n'])
def test_half_of_a_character_raises_with_the_line(text, tmp_path):
    (tmp_path / "file.jsonl").write_text(text)
    with pytest.raises(ValueError, match=r"line 2 has '\\ud[8c]00', which is half of a character"):
        read_table(tmp_path / "file.jsonl")
    (tmp_path / "file.jsonl").write_text('{"a": "\\ud83d\\uDE00"}')
    assert read_table(tmp_path / "file.jsonl").to_dict("list") == {"a": ["\U0001f600"]}


def test_truth_values_are_counted_beside_numbers_with_units():
    frame = pd.DataFrame({"weight": [True, "5 kg", "<6 kg", False] * 3, "label_a": [0, 1, 1, 0] * 3})
    with pytest.warns(TableWarning) as notes:
        from_frame(frame)
    texts = [str(note.message) for note in notes]
    assert any("'weight' has the unit 'kg': '5 kg' is read as 5, and 6 values have no unit" in text for text in texts)


@pytest.mark.parametrize("n_rows", [None, 2])
def test_bytes_of_a_parquet_file_are_text(n_rows, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    names, path = pyarrow.array([b"a", None, "\u00e9".encode()]), tmp_path / "file.parquet"
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table({"name": names, "x": [1, 2, 3]}), path)
    frame = pd.concat(read_table_blocks(path, n_rows=n_rows))
    assert frame["name"].fillna("").tolist() == ["a", "", "\u00e9"]
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table({"name": [b"a", b"\xff"]}), path)
    with pytest.raises(ValueError, match="column 'name' has bytes that are not UTF-8 text"):
        list(read_table_blocks(path, n_rows=n_rows))


def test_short_floats_with_gaps_are_numbers():
    x = pd.Series([0.5, None, 1.5, 2.0], dtype="float16")
    frame = pd.DataFrame({"nr": x, "x": x, "y": x.astype(float), "label_a": [0, 1, 1, 0]})
    data = from_frame(frame, id="nr")
    np.testing.assert_array_equal(data.X[:, 0], data.X[:, 1])
    assert data.sample_names == [0.5, "", 1.5, 2.0]


def test_nested_columns_do_not_look_like_labels():
    frame = pd.DataFrame({"x": [1.0, 2.0], "places": [{"a": 1}, {"a": 2}], "sad": [0, 1]})
    with pytest.raises(TableError, match=r"Columns that look like labels or tags: sad \(labels='sad'\)"):
        from_frame(frame)

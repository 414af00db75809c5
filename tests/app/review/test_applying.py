"""Files: fields change in place, and annotations are written in the form of the file."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from spmld.app.commands.review_data import label_form
from spmld.app.review import Annotation, apply_annotations, open_table
from spmld.app.review.editable_tables import CsvTable
from spmld.app.review.table_samples import TableSamples, sample_keys
from spmld.tables import TableRoles
from spmld.tables.roles import find_label_columns

VALUES = st.text(alphabet="ab1 \",;\n\té'", max_size=6)
FIELDS = st.tuples(VALUES, st.booleans())  # and whether it is quoted without need
ROWS = st.integers(2, 4).flatmap(lambda n: st.lists(st.lists(FIELDS, min_size=n, max_size=n), min_size=1, max_size=6))


@given(
    rows=ROWS,
    separator=st.sampled_from(",;\t"),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    mark=st.sampled_from(["", "\ufeff"]),
    value=VALUES,
    data=st.data(),
)
def test_one_field_changes_and_all_other_bytes_stay(rows, separator, end, mark, value, data):
    def write(field):
        text, quoted = field
        special = any(sign in text for sign in (separator, '"', "\r", "\n"))
        return '"' + text.replace('"', '""') + '"' if quoted or special else text

    def content(rows):
        lines = [separator.join(header), *(separator.join(map(write, row)) for row in rows)]
        return (mark + end.join([*lines, ""])).encode()

    header = [f"c{i}" for i in range(len(rows[0]))]
    table = CsvTable(content(rows).decode(), separator=separator)
    assert table.columns == header
    filled = [i for i, row in enumerate(rows) if any(text for text, _ in row)]  # others are no samples
    assert [table.row(i) for i in range(len(table))] == [[text for text, _ in rows[i]] for i in filled]
    assert table.content() == content(rows)
    assume(filled)
    i, j = data.draw(st.integers(0, len(filled) - 1)), data.draw(st.integers(0, len(header) - 1))
    table.set(i, header[j], value)
    assert table.row(i)[j] == value
    row = rows[filled[i]]
    row[j] = value, write(row[j]).startswith('"')
    assert table.content() == content(rows)


def test_odd_lines_stay(tmp_path):
    content = 'name;size;label_sad\r\n\r\na;5" disk;ja\n"b ""x""";;nein\n c ;1,5;'
    (tmp_path / "odd.csv").write_bytes(content.encode("latin-1"))
    table = open_table(tmp_path / "odd.csv", encoding="latin-1")
    assert [table.row(i) for i in range(3)] == [["a", '5" disk', "ja"], ['b "x"', "", "nein"], [" c ", "1,5", ""]]
    table.set(2, "label_sad", "ja")
    assert table.content() == content.encode("latin-1") + b"ja"


def test_keys_follow_samples_and_ignore_labels():
    keys = sample_keys(["a", "b", "a", "c"])
    assert len(set(keys)) == 4
    assert sorted(sample_keys(["c", "a", "b", "a"])) == sorted(keys)
    one, two = (CsvTable(f"x,label_sad\n1,{a}\n2,{b}\n") for a, b in ((0, 1), (1, "")))
    assert TableSamples(one, ["label_sad"]).keys == TableSamples(two, ["label_sad"]).keys


def make_table(words, n=40, seed=0):
    rng = np.random.default_rng(seed)
    lines = ["id,x,label_sad,label_calm"]
    lines += [f'{i},"{rng.random():.3f}",{rng.choice(words)},{rng.choice(words)}' for i in range(n)]
    return CsvTable("\n".join(lines) + "\n")


@pytest.mark.parametrize("words", [["1", "0", ""], ["yes", "no", ""], ["True", "False", ""], ["1.0", "0.0", ""]])
def test_decisions_are_written_in_the_words_of_the_column(words):
    table = make_table(words)
    columns = find_label_columns(["sad", "calm"], table.columns)
    keys = TableSamples(table, list(columns.values())).keys
    rng = np.random.default_rng(1)
    answers = {(i, name): rng.choice(["present", "absent"]) for i in range(0, 40, 3) for name in columns}
    applied = apply_annotations(table, [Annotation(keys[i], name, a) for (i, name), a in answers.items()], columns)
    read = CsvTable(applied.content.decode())
    for i in range(40):
        for j, name in enumerate(columns):
            old, new = (dict(zip(t.columns, t.row(i), strict=True))[columns[name]] for t in (table, read))
            answer = answers.get((i, name))
            assert new == (old if answer is None else words[0] if answer == "present" else words[1])
            assert applied.trusted[i, j] == (answer is not None)
    assert applied.changed + applied.confirmed + applied.added == len(answers)


def test_decisions_follow_reordered_samples():
    table = make_table(["1", "0"])
    columns = find_label_columns(["sad", "calm"], table.columns)
    keys = TableSamples(table, list(columns.values())).keys
    lines = table.content().decode().splitlines()
    reordered = CsvTable("\n".join([lines[0], *reversed(lines[1:])]))
    annotations = [Annotation(keys[3], "sad", "present"), Annotation(keys[5], "calm", "absent")]
    applied = apply_annotations(reordered, annotations, columns)
    assert np.argwhere(applied.trusted).tolist() == [[34, 1], [36, 0]]


def test_conflicts_unsure_and_unknown_entries_change_nothing():
    table = make_table(["1", "0"])
    columns = find_label_columns(["sad", "calm"], table.columns)
    key = TableSamples(table, list(columns.values())).keys[0]
    annotations = [Annotation(key, "sad", "present", "ann"), Annotation(key, "sad", "absent", "bob")]
    annotations += [Annotation(key, "calm", "unsure", "ann"), Annotation("gone", "calm", "present", "ann")]
    before = table.content()
    applied = apply_annotations(table, annotations, columns)
    assert applied.content == before
    assert not applied.trusted.any()
    assert (applied.conflicts, applied.unsure, applied.unmatched) == (1, 1, annotations[3:])


def test_label_columns_that_do_not_exist():
    with pytest.raises(ValueError, match="the table lacks 1 of the 2 labels, calm; the columns are x, label_sad"):
        label_form(CsvTable("x,label_sad\n1,1\n"), TableRoles(), ["sad", "calm"], None)

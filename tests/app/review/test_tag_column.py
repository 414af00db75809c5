"""Annotations in a column of tags: only decided tags change, in the form of the column."""

import gzip
import io
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spmld.app.review import Annotation, apply_annotations, open_table
from spmld.app.review.applying import LabelFields, TagColumn
from spmld.app.review.editable_tables import CsvTable, JsonTable
from spmld.app.review.table_samples import TableSamples
from spmld.labels import read_tags

TAGS = ["calm", "folk song", "rock", "sad"]
LISTS = st.lists(st.lists(st.sampled_from(TAGS), unique=True), min_size=2, max_size=12)
ANSWERS = st.dictionaries(st.tuples(st.integers(0, 11), st.sampled_from(TAGS)), st.sampled_from(["present", "absent"]))


def csv_table(texts):
    return CsvTable(pd.DataFrame({"x": range(len(texts)), "tags": texts, "z": 1}).to_csv(index=False))


def annotations(answers, n):
    return [Annotation("", label, answer, sample=i) for (i, label), answer in answers.items() if i < n]


@given(lists=LISTS, answers=ANSWERS, glue=st.sampled_from([";", "; ", "|", " | ", ", "]), quoted=st.booleans())
def test_decided_tags_change_and_others_keep_their_order(lists, answers, glue, quoted):
    lists = [["rock", "sad"], *lists]
    texts = [glue.join(f"'{tag}'" if quoted else tag for tag in tags) for tags in lists]
    texts = [f"[{text}]" if quoted else text for text in texts]
    table, form = csv_table(texts), TagColumn("tags", TAGS)
    applied = apply_annotations(table, annotations(answers, len(lists)), form)
    new = CsvTable(applied.content.decode())
    before, after = (read_tags(t.column("tags"), sep=glue.strip(), names=TAGS).Y for t in (table, new))
    for i, (old_tags, text) in enumerate(zip(lists, new.column("tags"), strict=True)):
        mine = {label: answer for (row, label), answer in answers.items() if row == i}
        kept = [tag for tag in old_tags if mine.get(tag) != "absent"]
        added = [tag for tag in TAGS if mine.get(tag) == "present" and tag not in old_tags]
        if text:
            inside = text[1:-1] if quoted or text == "[]" else text
            parts = [part.strip("'") for part in inside.split(glue)] if inside else []
            assert parts == kept + added  # the separator and its spaces, too
        else:
            assert not old_tags  # an empty field stays, unless a tag is added or all are decided
            assert not added
        for j, tag in enumerate(TAGS):
            if applied.trusted[i, j]:
                assert after[i, j] == (mine[tag] == "present")
            elif tag not in mine and not np.isnan(before[i, j]):
                assert after[i, j] == before[i, j]
    counted = applied.changed + applied.confirmed + applied.added + applied.unwritten
    assert counted == sum(i < len(lists) for i, _ in answers)
    assert applied.trusted.sum() == counted - applied.unwritten


def test_all_other_bytes_stay():
    text = 'id;words;tags\r\n\r\n1;"a; ""b""";sad|calm\n2; c ;"calm | rock"\n3;d;sad\r\n'
    answers = [Annotation("", "calm", "absent", sample=0), Annotation("", "sad", "present", sample=1)]
    answers += [Annotation("", "sad", "unsure", sample=2)]
    applied = apply_annotations(CsvTable(text, separator=";"), answers, TagColumn("tags", ["calm", "rock", "sad"]))
    assert applied.content.decode() == text.replace("sad|calm", "sad").replace("calm | rock", "calm | rock | sad")
    assert applied.unsure == 1


@pytest.mark.parametrize(
    ("empty_is", "untagged", "text"),
    [("missing", "negative", "[]"), ("negative", "negative", ""), ("missing", "weak", "")],
)
def test_a_list_without_tags_does_not_become_missing_labels(empty_is, untagged, text):
    table = csv_table(["sad", "calm; sad"])
    form = TagColumn("tags", ["calm", "sad"], untagged=untagged, empty_is=empty_is)
    applied = apply_annotations(table, [Annotation("", "sad", "absent", sample=0)], form)
    assert CsvTable(applied.content.decode()).column("tags") == [text, "calm; sad"]
    assert applied.trusted[0, 1] == (untagged == "negative")
    assert applied.unwritten == (untagged == "weak")


def test_missing_labels_stay_missing_until_a_tag_is_added_or_all_are_decided():
    form = TagColumn("tags", ["calm", "sad"])
    for answers, text, counts in (
        ({"sad": "absent"}, "", (0, 1, 0)),
        ({"sad": "present"}, "sad", (1, 0, 1)),
        ({"sad": "absent", "calm": "absent"}, "[]", (2, 0, 0)),
    ):
        applied = apply_annotations(
            csv_table(["", "calm; sad"]), [Annotation("", label, a, sample=0) for label, a in answers.items()], form
        )
        assert CsvTable(applied.content.decode()).column("tags")[0] == text
        assert (applied.added, applied.unwritten, applied.implied) == counts


def test_json_lines_keep_all_other_bytes(tmp_path):
    text = (
        '{"id":1,  "tags":["sad","calm"], "é": "x\\u00e9"}\n\n {"tags" : "calm, sad", "n": {"tags": [1]}}\r\n'
        '{"n": null}\n{"tags":null,"n":2}'
    )
    (tmp_path / "t.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    table = open_table(tmp_path / "t.jsonl.gz")
    answers = [Annotation("", "calm", "absent", sample=i) for i in range(2)]
    answers += [Annotation("", "sad", "present", sample=i) for i in range(2, 4)]
    applied = apply_annotations(table, answers, TagColumn("tags", ["calm", "sad"]))
    expected = text.replace('["sad","calm"]', '["sad"]').replace('"calm, sad"', '"sad"')
    expected = expected.replace('{"n": null}', '{"n": null, "tags": ["sad"]}')
    expected = expected.replace('{"tags":null', '{"tags":["sad"]')
    assert gzip.decompress(applied.content).decode() == expected
    assert [json.loads(line) for line in expected.split("\n") if line.strip()]


def test_json_lines_with_lists_get_lists():
    table = JsonTable('{"x": 1, "tags": []}\n{"x": 2}\n{"x": 3, "tags": ["sad"]}\n')
    answers = [Annotation("", "sad", "present", sample=i) for i in range(2)] + [
        Annotation("", "sad", "absent", sample=2)
    ]
    applied = apply_annotations(table, answers, TagColumn("tags", ["calm", "sad"]))
    assert [json.loads(line)["tags"] for line in applied.content.splitlines()] == [["sad"], ["sad"], []]


@pytest.mark.parametrize("lists", [True, False])
def test_parquet_files_keep_lists_and_texts(tmp_path, lists):
    pytest.importorskip("pyarrow")
    tags = [["sad", "calm"], ["calm"], None] if lists else ["sad, calm", "calm", None]
    frame = pd.DataFrame({"x": [0.5, 1.5, 2.5], "tags": tags})
    frame.to_parquet(tmp_path / "t.parquet")
    answers = [Annotation("", "calm", "absent", sample=0), Annotation("", "sad", "present", sample=1)]
    answers += [Annotation("", "sad", "present", sample=2)]
    table = open_table(tmp_path / "t.parquet")
    applied = apply_annotations(table, answers, TagColumn("tags", ["calm", "sad"]))
    read = pd.read_parquet(io.BytesIO(applied.content))
    expected = [["sad"], ["calm", "sad"], ["sad"]] if lists else ["sad", "calm, sad", "sad"]
    assert [list(value) if lists else value for value in read["tags"]] == expected
    assert read["x"].tolist() == [0.5, 1.5, 2.5]


def test_excel_files_keep_formats_and_other_sheets(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (
        ["id", "words", "tags", "sad"],
        [1, "rain", "calm; slow", "x"],
        [2, "sun", None, None],
        [3, "sea", "slow", "x"],
    ):
        sheet.append(row)
    sheet["B2"].font = openpyxl.styles.Font(bold=True)
    book.create_sheet("notes")["A1"] = "=1+1"
    book.save(tmp_path / "t.xlsx")
    answers = [Annotation("", "calm", "absent", sample=0), Annotation("", "slow", "present", sample=1)]
    table = open_table(tmp_path / "t.xlsx")
    applied = apply_annotations(table, answers, TagColumn("tags", ["calm", "slow"]), "id")
    new = openpyxl.load_workbook(io.BytesIO(applied.content))
    assert [cell.value for cell in new.worksheets[0]["C"]] == ["tags", "slow", "slow", "slow"]
    assert new.worksheets[0]["B2"].font.bold
    assert new["notes"]["A1"].value == "=1+1"
    # Crosses, with empty fields as negatives.
    answers = [Annotation("", "sad", "absent", sample=0), Annotation("", "sad", "present", sample=1)]
    applied = apply_annotations(table, answers, LabelFields({"sad": "sad"}, [[1], [0], [1]]))
    new = openpyxl.load_workbook(io.BytesIO(applied.content))
    assert [cell.value for cell in new.worksheets[0]["D"]] == ["sad", None, "x", "x"]
    sheet["B3"], sheet["D4"] = "=A2", "=A2"
    book.save(tmp_path / "t.xlsx")
    table = open_table(tmp_path / "t.xlsx")
    applied = apply_annotations(table, [Annotation("", "sad", "present", sample=1)], {"sad": "sad"})
    new = openpyxl.load_workbook(io.BytesIO(applied.content)).worksheets[0]
    assert (new["B3"].value, new["D3"].value, new["D4"].value) == ("=A2", "x", "=A2")
    with pytest.raises(ValueError, match="cell D4 has a formula, which a new label would replace; save a copy"):
        apply_annotations(table, [Annotation("", "sad", "present", sample=2)], {"sad": "sad"})


def test_labels_of_minus_one_and_one_stay_so():
    table = CsvTable("x,label_a,label_b\n1,1,-1\n2,-1,1\n3,1,1\n")
    answers = [Annotation("", "a", "absent", sample=0), Annotation("", "b", "absent", sample=2)]
    applied = apply_annotations(table, answers, {"a": "label_a", "b": "label_b"})
    assert applied.content == b"x,label_a,label_b\n1,-1,-1\n2,-1,1\n3,1,-1\n"
    assert applied.changed == 2


def test_keys_of_identified_samples_depend_on_the_identifier_only():
    one, two = CsvTable("id,words,tags\n7,a,sad\n8,b,\n"), CsvTable("id,words,tags\n8,B,\n7,A,sad\n")
    first, second = (TableSamples(table, ["tags"], id="id") for table in (one, two))
    assert first.keys == second.keys[::-1]
    assert first.name(1) == "8"
    # Annotations of a review without --id are found, too.
    assert [first.index[key] for key in TableSamples(one, ["tags"]).keys] == [0, 1]
    same = CsvTable("id,words\n7,a\n7,b\n")
    assert TableSamples(same, [], id="id").keys == TableSamples(same, []).keys  # identifiers that are not unique


SPELLINGS = ["sad", "Sad", "SAD", "\uff53\uff41\uff44", "sad\u200b", "\ufeffsad", "s\u00adad"]


@pytest.mark.parametrize("spelling", SPELLINGS[1:])
@pytest.mark.parametrize("answer", ["present", "absent"])
def test_a_label_has_all_its_spellings_on_writing(spelling, answer):
    texts = ["sad; calm", "sad", f"calm; {spelling}", "calm"]
    table, tags = csv_table(texts), read_tags(texts)
    assert tags.names == ["calm", "sad"]
    applied = apply_annotations(
        table, [Annotation("", "sad", answer, sample=i) for i in range(4)], TagColumn("tags", tags.names)
    )
    expected = [*texts[:3], "calm; sad"] if answer == "present" else ["calm", "[]", "calm", "calm"]
    assert CsvTable(applied.content.decode()).column("tags") == expected
    assert (applied.unwritten, int(applied.trusted.sum())) == (0, 4)


def written(texts, answers, form):
    """Return the column of tags after annotations, by sample and label."""
    annotations = [Annotation("", label, answer, sample=i) for (i, label), answer in answers.items()]
    applied = apply_annotations(csv_table(texts), annotations, form)
    assert applied.unmatched == []
    return CsvTable(applied.content.decode()).column("tags")


def test_the_usual_spelling_of_the_file_is_added():
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    texts = [f"{decomposed}; calm", decomposed, composed, "calm"]
    names = read_tags(texts).names
    assert set(names) == {composed, "calm"}
    expected = [*texts[:3], f"calm; {decomposed}"]
    assert written(texts, {(3, composed): "present"}, TagColumn("tags", names)) == expected


def test_kept_cases_are_different_labels_on_writing():
    form = TagColumn("tags", ["Sad", "calm", "sad"], tag_case="keep")
    answers = {(0, "sad"): "absent", (1, "sad"): "present", (2, "sad"): "absent"}
    assert written(["sad; Sad", "Sad; calm", "sad\u200b"], answers, form) == ["Sad", "Sad; calm; sad", "[]"]


def test_rows_with_different_separators_keep_them():
    texts = ["sad; calm; rock", "rock, calm,sad", "calm", "", "rock; sad, calm"]
    answers = {(i, "calm"): "absent" for i in (0, 1, 4)} | {(i, "sad"): "present" for i in (2, 3)}
    form = TagColumn("tags", ["calm", "rock", "sad"], sep=";,")
    assert written(texts, answers, form) == ["sad; rock", "rock, sad", "calm; sad", "sad", "rock; sad"]
    for sep, expected in ((",;", "calm, sad"), ("|", "calm| sad")):  # as the column is read
        form = TagColumn("tags", ["calm", "sad"], sep=sep)
        assert written(["sad", "calm"], {(1, "sad"): "present"}, form) == ["sad", expected]


def test_decisions_about_another_spelling_of_a_label_are_written():
    answers = {(0, "Sad"): "absent", (1, "sad"): "present"}
    assert written(["sad; calm", "calm"], answers, TagColumn("tags", ["calm", "sad"])) == ["calm", "calm; sad"]


def test_tags_that_are_paths_lose_absent_labels_and_keep_their_ancestors():
    table = csv_table(["rock/metal/doom; sad", "rock / punk", "sad", "jazz"])
    names = ["jazz", "rock", "rock/metal", "rock/metal/doom", "rock/punk", "sad"]
    form, decided = TagColumn("tags", names, path_sep="/"), np.full((4, 6), np.nan)
    decided[0, 2], decided[1, 1], decided[2, 4], decided[3, 0] = 0, 1, 1, 1
    Y = form.write(table, decided)
    assert table.column("tags") == ["rock; sad", "rock / punk", "sad; rock/punk", "jazz"]
    assert Y[:, [1, 2, 3, 4]].tolist() == [[1, 0, 0, 0], [1, 0, 0, 1], [1, 0, 0, 1], [0, 0, 0, 0]]

import json

import pytest

from spmld.studies import RecordError, RecordWriter, read_records

TINY = {"kind": "data", "name": "tiny", "labels": 3}
OTHER = {"kind": "data", "name": "other", "labels": 4}


def write(path, *records):
    with RecordWriter(path) as file:
        for record in records:
            file.append(record)


def test_each_record_is_a_line_and_the_later_one_counts(tmp_path):
    path = tmp_path / "new" / "results.jsonl"
    write(path, TINY, OTHER, {**TINY, "labels": 5})
    assert len(path.read_text().splitlines()) == 3
    assert read_records(path).data["tiny"]["labels"] == 5


@pytest.mark.parametrize("left", [1, 5, 20])
def test_an_unfinished_last_line_is_dropped_when_the_file_is_continued(tmp_path, left):
    path = tmp_path / "results.jsonl"
    write(path, TINY)
    whole = path.read_bytes()
    path.write_bytes(whole + (json.dumps(OTHER) + "\n").encode()[:left])
    before = path.read_bytes()
    assert list(read_records(path).data) == ["tiny"]
    assert path.read_bytes() == before  # reading changes nothing
    write(path, OTHER)
    assert path.read_text().splitlines() == [json.dumps(TINY), json.dumps(OTHER)]


def test_a_kill_before_the_first_line_leaves_a_file_that_goes_on(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_text('{"ki')
    write(path, TINY)
    assert path.read_text() == json.dumps(TINY) + "\n"


@pytest.mark.parametrize(
    "content",
    ["some notes\n", "some notes", "[1, 2]\n", '{"kind": "poem"}\n', '{"kind": "trial", "key": "x"}\n', "{}\nrest"],
)
def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "notes.txt"
    path.write_text(content)
    with pytest.raises(RecordError, match=r"notes.txt"):
        RecordWriter(path)
    with pytest.raises(RecordError, match=r"notes.txt"):
        read_records(path)
    assert path.read_text() == content


def test_a_damaged_line_in_the_middle_is_named(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_text(json.dumps(TINY) + '\n{"kind": "da\n' + json.dumps(OTHER) + "\n")
    with pytest.raises(RecordError, match=r"results.jsonl line 2 is not a record: it is not JSON"):
        read_records(path)


def test_no_file(tmp_path):
    with pytest.raises(RecordError, match="cannot be read: No such file"):
        read_records(tmp_path / "none.jsonl")
    with pytest.raises(RecordError, match="cannot be written"):
        RecordWriter(tmp_path)


def test_two_processes_do_not_write_one_file(tmp_path):
    pytest.importorskip("fcntl")
    path = tmp_path / "results.jsonl"
    with RecordWriter(path), pytest.raises(RecordError, match="is being written by another process"):
        RecordWriter(path)
    write(path, TINY)


def test_order_does_not_depend_on_what_came_first(tmp_path):
    for name, records in {"a": (TINY, OTHER), "b": (OTHER, TINY, TINY)}.items():
        with RecordWriter(tmp_path / name) as file:
            for record in records:
                file.append(record)
            file.put_in_order()
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text()
    assert len((tmp_path / "b").read_text().splitlines()) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_nothing_that_is_not_json_is_written(tmp_path):
    with RecordWriter(tmp_path / "results.jsonl") as file, pytest.raises(ValueError, match="JSON"):
        file.append({**TINY, "labels": float("nan")})

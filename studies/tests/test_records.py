import json
import lzma

import pytest

from studies.records import RecordError, RecordWriter, read_records

TINY = {"kind": "data", "name": "tiny", "labels": 3}
OTHER = {"kind": "data", "name": "other", "labels": 4}


def write(path, *records):
    with RecordWriter(path) as file:
        for record in records:
            file.append(record)


def test_each_record_is_a_line_and_the_last_one_is_valid(tmp_path):
    path = tmp_path / "new" / "results.jsonl"
    write(path, TINY, OTHER, {**TINY, "labels": 5})
    assert len(path.read_text().splitlines()) == 3
    assert read_records(path).data["tiny"]["labels"] == 5


@pytest.mark.parametrize("left", [1, 5, 20])
def test_an_incomplete_last_line_is_dropped_when_the_file_is_continued(tmp_path, left):
    path = tmp_path / "results.jsonl"
    write(path, TINY)
    whole = path.read_bytes()
    path.write_bytes(whole + (json.dumps(OTHER) + "\n").encode()[:left])
    before = path.read_bytes()
    assert list(read_records(path).data) == ["tiny"]
    assert path.read_bytes() == before  # reading changes nothing
    write(path, OTHER)
    assert path.read_text().splitlines() == [json.dumps(TINY), json.dumps(OTHER)]


def test_a_file_without_a_complete_line_is_continued(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_text('{"ki')
    write(path, TINY)
    assert path.read_text() == json.dumps(TINY) + "\n"


@pytest.mark.parametrize(
    "content",
    ["some notes\n", "some notes", "[1, 2]\n", '{"kind": "poem"}\n', '{"kind": "trial", "key": "x"}\n', "{}\nrest"],
)
def test_other_files_raise_and_are_not_changed(tmp_path, content):
    path = tmp_path / "notes.txt"
    path.write_text(content)
    with pytest.raises(RecordError, match=r"notes.txt"):
        RecordWriter(path)
    with pytest.raises(RecordError, match=r"notes.txt"):
        read_records(path)
    assert path.read_text() == content


def test_the_error_names_a_damaged_line(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_text(json.dumps(TINY) + '\n{"kind": "da\n' + json.dumps(OTHER) + "\n")
    with pytest.raises(RecordError, match=r"results.jsonl line 2 is not a record: it is not valid JSON"):
        read_records(path)


def test_files_that_cannot_be_read_or_written(tmp_path):
    with pytest.raises(RecordError, match="cannot be read: No such file"):
        read_records(tmp_path / "none.jsonl")
    with pytest.raises(RecordError, match="cannot be written"):
        RecordWriter(tmp_path)


def test_a_file_has_one_writer(tmp_path):
    pytest.importorskip("fcntl")
    path = tmp_path / "results.jsonl"
    with RecordWriter(path), pytest.raises(RecordError, match="is being written by another process"):
        RecordWriter(path)
    write(path, TINY)


@pytest.mark.parametrize("name", ["results.jsonl", "results.jsonl.xz"])
def test_a_file_replaced_between_opening_and_locking_is_opened_again(tmp_path, name, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    path, flock, writers = tmp_path / name, fcntl.flock, []

    def late(file, flags):
        """Lock after another process has written the records in order and ended."""
        monkeypatch.setattr(fcntl, "flock", flock)
        with RecordWriter(path) as writer:
            writers.append(writer)
            writer.append(OTHER)
            writer.put_in_order()
        return flock(file, flags)

    write(path, TINY)
    monkeypatch.setattr(fcntl, "flock", late)
    with RecordWriter(path) as file:
        assert set(file.records.data) == {"tiny", "other"}
        file.append({**TINY, "labels": 7})
    assert read_records(path).data["tiny"]["labels"] == 7
    with pytest.raises(ValueError, match="closed file"):
        writers[0].append(TINY)


def test_deeply_nested_records_raise(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_text('{"kind": ' + "[" * 100_000 + "\n")
    with pytest.raises(RecordError, match="line 1 is not a record: it is not valid JSON"):
        read_records(path)


def test_put_in_order_does_not_depend_on_the_order_of_writing(tmp_path):
    for name, records in {"a": (TINY, OTHER), "b": (OTHER, TINY, TINY)}.items():
        with RecordWriter(tmp_path / name) as file:
            for record in records:
                file.append(record)
            file.put_in_order()
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text()
    assert len((tmp_path / "b").read_text().splitlines()) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_records_must_be_json(tmp_path):
    with RecordWriter(tmp_path / "results.jsonl") as file, pytest.raises(ValueError, match="JSON"):
        file.append({**TINY, "labels": float("nan")})


def compressed(path, *records):
    path.write_bytes(lzma.compress("".join(json.dumps(record) + "\n" for record in records).encode()))


def test_a_compressed_file_is_continued(tmp_path):
    path = tmp_path / "results.jsonl.xz"
    compressed(path, OTHER)
    before = path.read_bytes()
    with RecordWriter(path) as file:
        assert list(file.records.data) == ["other"]
        file.append(TINY)
    assert path.read_bytes() == before  # until the records are put in order, new ones are beside it
    assert set(read_records(path).data) == {"other", "tiny"}
    with RecordWriter(path) as file:
        file.put_in_order()
    assert lzma.decompress(path.read_bytes()).decode().splitlines() == [json.dumps(OTHER), json.dumps(TINY)]
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_a_new_compressed_file_is_written(tmp_path):
    path = tmp_path / "new.jsonl.xz"
    with RecordWriter(path) as file:
        file.append(TINY)
        file.put_in_order()
    assert read_records(path).data == {"tiny": TINY}
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("damage", [lambda b: b[:40], lambda b: b[:50] + b"x" + b[51:], lambda b: b"plain text"])
def test_a_damaged_compressed_file_raises_and_is_not_changed(tmp_path, damage):
    path = tmp_path / "results.jsonl.xz"
    compressed(path, TINY, OTHER)
    path.write_bytes(damage(path.read_bytes()))
    before = path.read_bytes()
    for use in (read_records, RecordWriter):
        with pytest.raises(RecordError, match=r"results.jsonl.xz is damaged or not an xz file"):
            use(path)
    assert path.read_bytes() == before

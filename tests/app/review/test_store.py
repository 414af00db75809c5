"""The SQLite file of a review: locked, deleted, moved, replaced and foreign files."""

import json
import sqlite3
import sys
from contextlib import closing

import pytest

from spmld.app.review import Annotation, AnnotationStore
from tests.app.review.cases import send, serve

unix = pytest.mark.skipif(sys.platform == "win32", reason="open files can be deleted on Unix only")


def decide(key):
    return Annotation(key, "sad", "present", "ann")


def keys(path):
    with AnnotationStore(path) as reader:
        return [annotation.key for annotation in reader.annotations()]


def lock(path):
    """Return a connection of another process that writes."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    return connection


def test_a_locked_file_is_not_a_full_disk(tmp_path):
    file = tmp_path / "review.sqlite"
    with AnnotationStore(file, timeout=0.1) as opened:
        other = lock(file)
        with pytest.raises(TimeoutError, match=r"review\.sqlite: another process has locked it; close the program"):
            opened.add(decide("a1"))
        other.close()
        opened.add(decide("b2"))
    assert keys(file) == ["b2"]


def test_the_page_shows_that_the_file_is_locked_and_the_review_goes_on(tmp_path):
    file = tmp_path / "review.sqlite"
    with serve(file, timeout=0.1) as server:
        other, body = lock(file), {"entry": 0, "answer": "present"}
        status, _, content = send(server.port, "POST", "/api/annotation", server.token, body)
        assert (status, "another process has locked it" in json.loads(content)["error"]) == (503, True)
        other.close()
        assert send(server.port, "POST", "/api/annotation", server.token, body)[0] == 200
    assert len(keys(file)) == 1


def delete(file):
    file.unlink()


def move(file):
    file.rename(file.with_name("moved.sqlite"))


def replace(file):
    file.unlink()
    AnnotationStore(file).close()


def delete_log(file):
    file.with_name(file.name + "-wal").unlink()


@unix
@pytest.mark.parametrize("change", [delete, move, replace, delete_log])
def test_a_file_that_is_deleted_or_replaced_raises_instead_of_losing_annotations(tmp_path, change):
    file = tmp_path / "review.sqlite"
    with AnnotationStore(file) as opened:
        opened.add(decide("a1"))
        change(file)
        for use in (lambda: opened.add(decide("b2")), lambda: opened.undo("ann"), opened.annotations):
            with pytest.raises(
                OSError, match=r"review\.sqlite-wal was deleted, moved or replaced, so that annotations"
            ):
                use()


@unix
def test_a_file_that_is_moved_back_has_all_confirmed_annotations(tmp_path):
    file = tmp_path / "review.sqlite"
    with serve(file) as server:
        body = {"entry": 0, "answer": "present"}
        assert send(server.port, "POST", "/api/annotation", server.token, body)[0] == 200
        move(file)
        for method, path, content in (("POST", "/api/annotation", {**body, "entry": 1}), ("GET", "/api/entries", None)):
            status, _, reply = send(server.port, method, path, server.token, content)
            assert (status, "was deleted, moved or replaced" in json.loads(reply)["error"]) == (507, True)
        file.with_name("moved.sqlite").rename(file)
        assert send(server.port, "POST", "/api/annotation", server.token, {**body, "entry": 2})[0] == 200
    assert len(keys(file)) == 2


def test_a_sqlite_file_of_another_program_is_not_changed(tmp_path):
    file = tmp_path / "other.sqlite"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE songs (id)")
    connection.close()
    content = file.read_bytes()
    with pytest.raises(ValueError, match=r"other\.sqlite is a SQLite file of another program; pass the name of a new"):
        AnnotationStore(file)
    assert file.read_bytes() == content


def test_a_closed_store_raises_an_error_with_its_name(tmp_path):
    with AnnotationStore(tmp_path / "review.sqlite") as opened:
        opened.add(decide("a1"))
    with pytest.raises(OSError, match=r"cannot read or write .*review\.sqlite: it is closed"):
        opened.add(decide("b2"))


@pytest.mark.parametrize("column", ["answer", "reviewer"])
def test_damaged_rows_raise_with_the_name_of_the_file(tmp_path, column):
    path = tmp_path / "review.sqlite"
    with AnnotationStore(path) as store:
        store.add(Annotation("a1", "sad", "present", "ann"))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(f"UPDATE annotation SET {column} = X'00'")
    with AnnotationStore(path) as damaged, pytest.raises(ValueError, match=r"review\.sqlite is damaged: .*restore it"):
        damaged.annotations()

"""Full and read-only disks, and damaged files: a clear error, and the previous content is still there."""

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import spmld
from spmld.app.commands import main
from spmld.app.review import Annotation, AnnotationStore, read_annotations
from spmld.datasets import make_planted
from spmld.export import Checkpoint, ModelFileError
from tests.app.review.cases import send, serve
from tests.faults.writers import WRITERS

unix = pytest.mark.skipif(sys.platform != "linux", reason="the limits need Linux")
ROOT = Path(__file__).parents[2]
DATA = make_planted(n_samples=80, random_state=0)
DECISION = Annotation("a1", "sad", "present", "ann", "2026-01-01T00:00:00Z")


def run_writers(folder, *faults):
    """Return the error of each writer under each fault."""
    program = [sys.executable, "-m", "tests.faults.writers", str(folder), *faults]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = done.stdout.splitlines()
    assert len(lines) == len(WRITERS) * len(faults)
    return lines


@unix
def test_full_disks_and_read_only_folders_raise_and_leave_the_previous_files(tmp_path):
    lines = run_writers(tmp_path, "full", "read-only")
    assert sum("File too large" in line for line in lines) == len(WRITERS) - 1  # SQLite has other words
    assert sum("permission denied" in line.lower() for line in lines) == len(WRITERS) - 1


@pytest.mark.parametrize("damage", ["truncated", "changed", "empty"])
def test_a_damaged_checkpoint_raises_an_error_that_names_the_file(tmp_path, damage):
    def fit():
        with Checkpoint(tmp_path, min_seconds=0):
            return spmld.MaskedRidge().fit(DATA.X, DATA.Y).decision_function(DATA.X)

    expected = fit()
    (file,) = tmp_path.glob("fit-*.skops")
    content = file.read_bytes()
    damaged = {"truncated": content[:-100], "changed": content[:500] + b"x" + content[501:], "empty": b""}[damage]
    file.write_bytes(damaged)
    with pytest.raises(ModelFileError, match=f"{file.name}.*delete this file of the checkpoint to repeat its fit"):
        fit()
    assert file.read_bytes() == damaged
    file.unlink()
    np.testing.assert_array_equal(fit(), expected)


def damage(file):
    """Overwrite a SQLite file except for its header."""
    content = file.read_bytes()
    file.write_bytes(content[:16] + b"\x55" * (len(content) - 16))
    return file.read_bytes()


def test_a_damaged_store_of_decisions_raises(tmp_path):
    file = tmp_path / "review.sqlite"
    with AnnotationStore(file) as store:
        store.add(DECISION)
    content = damage(file)
    for use in (AnnotationStore, read_annotations):
        with pytest.raises(ValueError, match=r"review\.sqlite is damaged: .*restore it from a copy"):
            use(file)
    assert file.read_bytes() == content


@unix
def test_the_review_page_shows_that_the_disk_is_full(tmp_path):
    from tests.faults.disks import limited_files

    with serve(tmp_path / "review.sqlite") as server:
        body = {"entry": 0, "answer": "present"}
        assert send(server.port, "POST", "/api/annotation", server.token, body)[0] == 200
        with limited_files(0):
            status, _, content = send(server.port, "POST", "/api/annotation", server.token, {**body, "entry": 1})
        assert status == 507
        assert b"review.sqlite" in content
        assert send(server.port, "POST", "/api/annotation", server.token, {**body, "entry": 2})[0] == 200
    assert len(read_annotations(tmp_path / "review.sqlite")) == 2


@pytest.mark.parametrize("command", ["fit", "tune"])
def test_a_command_with_a_checkpoint_gives_the_same_model_and_deletes_it(tmp_path, command):
    data = spmld.datasets.Dataset(DATA.X, DATA.Y)
    spmld.datasets.write_dataset(data, tmp_path / "data.csv")
    arguments = [command, str(tmp_path / "data.csv"), "--method", "MaskedLogistic"]
    arguments += ["--trials", "3"] if command == "tune" else []
    scores = []
    for name, options in (("plain", []), ("stored", ["--checkpoint", str(tmp_path / "checkpoint")])):
        with pytest.raises(SystemExit) as ended:
            main([*arguments, "-o", str(tmp_path / f"{name}.skops"), *options])
        assert ended.value.code == 0
        scores.append(spmld.load(tmp_path / f"{name}.skops").predict_proba(DATA.X))
    np.testing.assert_array_equal(*scores)
    assert not (tmp_path / "checkpoint").exists()


def test_fits_in_other_threads_are_not_stored(tmp_path):
    with Checkpoint(tmp_path, min_seconds=0) as checkpoint:
        thread = threading.Thread(target=spmld.MaskedRidge().fit, args=(DATA.X, DATA.Y))
        thread.start()
        thread.join()
    assert checkpoint.n_stored == 0

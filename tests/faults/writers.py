"""Program that overwrites good files under a fault of the disk: ``python -m tests.faults.writers FOLDER FAULT ...``.

Each writer must raise an error that names its file, and what the file contained before must still be there.
"""

import contextlib
import gc
import io
import os
import sys
import warnings
from pathlib import Path

import spmld
from spmld.app.commands import main
from spmld.app.review import Annotation, AnnotationStore
from spmld.datasets import Dataset, make_planted, write_dataset
from spmld.export import Checkpoint
from tests.faults.disks import limited_files, respect_permissions

KB = 20
"""Size of files that a full disk still accepts."""


def _data(seed, n=800):
    planted = make_planted(n_samples=n, n_features=8, n_labels=4, random_state=seed)
    return Dataset(planted.X, planted.Y)


def _dataset(extension):
    name = f"data.{extension}"
    return lambda folder, seed: write_dataset(_data(seed), folder / name), lambda folder: (folder / name).read_bytes()


def _save(folder, seed):
    data = _data(seed)
    spmld.save(spmld.GLOCAL(random_state=0).fit(data.X, data.Y), folder / "model.skops")


def _predict(folder, seed):
    name = folder / "predicted.csv"
    messages = io.StringIO()
    with contextlib.redirect_stderr(messages):
        try:
            main(["predict", str(folder / "model.skops"), str(folder / "data.csv"), "-o", str(name), "--force"])
        except SystemExit as error:
            if error.code:
                assert messages.getvalue().startswith("spmld: ")
                raise OSError(messages.getvalue()) from error


def _checkpoint(folder, seed):
    data = _data(seed)
    with Checkpoint(folder / "checkpoint", min_seconds=0):
        spmld.GLOCAL(random_state=0).fit(data.X, data.Y)


def _decide(folder, seed):
    with AnnotationStore(folder / "review.sqlite") as store:
        for i in range(100 * seed + 1):  # adding to a full file must fail at some time
            store.add(Annotation(f"key {i} of {seed} " + 500 * "x", "sad", "present", "ann", "2026-01-01T00:00:00Z"))


def _decisions(folder):
    os.chmod(folder, 0o755)
    with AnnotationStore(folder / "review.sqlite") as store:
        keys = [annotation.key for annotation in store.annotations()]
    assert keys == [key for key in keys if " of 0 " in key] + [key for key in keys if " of 1 " in key]
    return [key for key in keys if " of 0 " in key]


WRITERS = {
    **{f"data.{extension}": _dataset(extension) for extension in ("csv", "npz", "parquet")},
    "model.skops": (_save, lambda folder: (folder / "model.skops").read_bytes()),
    "predicted.csv": (_predict, lambda folder: (folder / "predicted.csv").read_bytes()),
    "checkpoint": (_checkpoint, lambda folder: sorted((folder / "checkpoint").glob("fit-*.skops"))),
    "review.sqlite": (_decide, _decisions),
}


@contextlib.contextmanager
def _fault(name, folder):
    if name == "full":
        with limited_files(KB * 1000):
            yield
    elif name == "small disk":  # the folder is one
        gc.collect()  # files that are open and deleted would free their space later
        filler = folder / "filler"
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while file.write(b"x" * 1000):
                pass
        yield
        filler.unlink()
    else:
        paths = [folder, *folder.rglob("*")]
        for path in paths:
            path.chmod(0o555 if path.is_dir() else 0o444)
        yield
        for path in paths:
            path.chmod(0o755 if path.is_dir() else 0o644)


def run(folder, *faults):
    """Write good files, then other content under each fault; print the error of each writer."""
    folder = Path(folder)
    warnings.simplefilter("ignore")
    for write, _ in WRITERS.values():
        write(folder, 0)
    before = {name: read(folder) for name, (_, read) in WRITERS.items()}
    for fault in faults:
        if fault == "read-only":
            respect_permissions()
        for name, (write, read) in WRITERS.items():
            message = _error(fault, folder, write)
            assert message is not None, f"{name}: no error"
            assert name in message, f"{name}: the error does not name the file: {message}"
            assert read(folder) == before[name], f"{name}: the content has changed"
            parts = [path.name for path in folder.rglob("*-part-*")]
            assert not parts, f"{name}: temporary files are left: {parts}"
            print(f"{fault}: {name}: {message.replace(str(folder), '')}")


def _error(fault, folder, write):
    """Return the message of the error of a writer under a fault; None if there is no error."""
    with _fault(fault, folder):
        try:
            write(folder, 1)
        except (OSError, ValueError) as error:
            return str(error).strip()
    return None


if __name__ == "__main__":
    run(*sys.argv[1:])

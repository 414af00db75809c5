"""Mixed use of the library in one process: ``python -m tests.load MINUTES``. Memory, threads and files must not grow.

A cycle generates data, fits estimators, predicts, tunes, audits, writes and reads data and models, runs commands, and
sends requests to the server of a review. The resources are read after each cycle, and the end is compared with the
first quarter after the warm-up.
"""

import contextlib
import gc
import io
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.model_selection import GridSearchCV

import spmld
from spmld.app.commands import main as command
from spmld.audit import find_label_issues
from spmld.datasets import Dataset, make_planted, read_dataset, write_dataset
from spmld.metrics import evaluate
from spmld.model_selection import MultilabelStratifiedKFold, compare
from tests.app.review.cases import send, serve
from tests.estimators.cases import ESTIMATORS, make

MAX_GROWTH_MB = 20.0
"""Growth of memory that is within the noise of the allocator."""
WARM_UP = 3
"""Number of cycles that load modules and fill caches."""


def resources():
    """Return the memory in MB, the number of threads, and the number of open files of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return (
        pages * os.sysconf("SC_PAGE_SIZE") / 1e6,
        len(os.listdir("/proc/self/task")),
        len(os.listdir("/proc/self/fd")),
    )


def _command(*arguments):
    """Run a command without its output."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as errors:
        try:
            command([str(argument) for argument in arguments])
        except SystemExit as error:
            if error.code:
                raise RuntimeError(errors.getvalue()) from None


def cycle(number, folder):
    """Use everything once, with data that depend on the number."""
    folder = Path(folder)
    planted = make_planted(n_samples=150, n_features=8, n_labels=4, observed_fraction=0.7, random_state=number)
    data = Dataset(planted.X, planted.Y)
    for cls in ESTIMATORS:
        model = make(cls).fit(data.X, data.Y)
        model.predict_proba(data.X)
        model.complete(data.X, data.Y)
    for extension in ("csv", "npz", "parquet"):
        write_dataset(data, folder / f"data.{extension}")
        read_dataset(folder / f"data.{extension}")
    find_label_issues(None, data.X, data.Y, random_state=number).table(top=10)
    folds = MultilabelStratifiedKFold(2, random_state=number)
    GridSearchCV(spmld.MaskedRidge(), {"alpha": [0.1, 1.0]}, cv=folds).fit(data.X, data.Y)
    compare({"prior": spmld.LabelPrior(), "ridge": spmld.MaskedRidge()}, data.X, data.Y, cv=2, random_state=number)
    evaluate(data.Y, model.decision_function(data.X), model.predict(data.X), model.predict_proba(data.X))
    arguments = ("--method", "MaskedLogistic", "--force")
    _command("fit", folder / "data.csv", "-o", folder / "model.skops", "--checkpoint", folder / "finished", *arguments)
    _command("predict", folder / "model.skops", folder / "data.csv", "-o", folder / "predicted.csv", "--force")
    spmld.save(model, folder / "other.skops")
    spmld.load(folder / "other.skops").predict(data.X)
    with serve(folder / f"review{number}.sqlite") as server:
        for entry in range(20):
            body = {"entry": entry, "answer": "present"}
            assert send(server.port, "POST", "/api/annotation", server.token, body)[0] == 200
            assert send(server.port, "GET", "/api/entries", server.token)[0] == 200
    for file in folder.glob("review*"):
        file.unlink()


def main(minutes="60"):
    """Run cycles until the time is over; growth sets the exit status."""
    warnings.simplefilter("ignore")
    end, usage = time.time() + 60 * float(minutes), []
    with tempfile.TemporaryDirectory() as folder:
        while time.time() < end or len(usage) < WARM_UP + 4:
            cycle(len(usage), folder)
            gc.collect()
            usage.append(resources())
            if len(usage) % 10 == 0:
                print(
                    f"cycle {len(usage)}: {usage[-1][0]:.0f} MB, {usage[-1][1]} threads, {usage[-1][2]} files",
                    flush=True,
                )
    steady = np.array(usage[WARM_UP:])
    quarter = max(1, len(steady) // 4)
    first, last = np.median(steady[:quarter], axis=0), np.median(steady[-quarter:], axis=0)
    for name, before, after in zip(("memory (MB)", "threads", "open files"), first, last, strict=True):
        print(f"{name}: {before:.0f} in the first quarter, {after:.0f} in the last")
    print(f"{len(usage)} cycles in {minutes} minutes")
    growth = last - first
    return 1 if growth[0] > MAX_GROWTH_MB or growth[1] > 0 or growth[2] > 0 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

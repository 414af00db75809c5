"""Commands that are killed at random moments and started again until they finish, and what must hold at the end."""

import importlib
import json
import os
import random
import shutil
import tempfile
import threading
import time
from http.client import HTTPException
from pathlib import Path

import numpy as np

import spmld
from spmld.app.commands import main
from spmld.app.review import AnnotationStore, ReviewServer
from spmld.datasets import Dataset, make_planted, write_dataset
from spmld.export import Checkpoint
from tests.app.review.cases import make_session, send
from tests.faults.processes import KILLED, count, counted, start, wait

# The modules that the commands import, so that the forked processes start at once.
for module in (
    "click",
    "rich.table",
    "pandas",
    "skops.io",
    "spmld.app.commands.group",
    "spmld.app.commands.fit",
    "spmld.app.commands.compare",
):
    importlib.import_module(module)

DATA = "data.csv"
N_SAMPLES = 1000
"""Number of samples of a review."""
LEAVES = (spmld.MaskedLogistic, spmld.MaskedRidge)


class _Command:
    """A command of the command line with a checkpoint; its result is a model file."""

    arguments: tuple[str, ...]

    def prepare(self, folder):
        planted = make_planted(n_samples=120, n_features=5, n_labels=3, observed_fraction=0.7, random_state=0)
        write_dataset(Dataset(planted.X, planted.Y), folder / DATA)

    def run(self):
        """Run the command in the working directory; fits of single models are counted when they start."""
        Checkpoint.__init__.__kwdefaults__["min_seconds"] = 0.0
        for cls in LEAVES:
            cls._fit = _counting(cls._fit)
        main([*self.arguments, "-o", "model.skops", "--checkpoint", "finished", "--force"])

    def result(self, folder):
        data = spmld.datasets.read_dataset(folder / DATA)
        assert not (folder / "finished").exists()
        return spmld.load(folder / "model.skops").predict_proba(data.X)

    def check(self, result, expected):
        np.testing.assert_array_equal(result, expected)


def _counting(fit):
    def counted_fit(self, *args):
        count("work")
        fit(self, *args)

    return counted_fit


class Fit(_Command):
    arguments = ("fit", DATA, "--param", "n_trees=[20]", "--no-held-out")


class Tune(_Command):
    arguments = ("tune", DATA, "--method", "MaskedLogistic", "--trials", "8", "--metric", "ranking_loss")


RESUMED = {"fit": Fit, "tune": Tune}


def kill_resumed(name, n_kills, seed):
    """Kill a command at random moments until it has been killed `n_kills` times; return a summary.

    Each time it finishes, its result must be that of a run without interruption, and each kill may have cost at most
    one unit of work: one fit of a single model, or one trial.
    """
    task, rng = RESUMED[name](), random.Random(seed)
    with tempfile.TemporaryDirectory() as base:
        whole = Path(base, "whole")
        whole.mkdir()
        task.prepare(whole)
        begun = time.monotonic()
        assert wait(start(task.run, whole), 600) == 0, (whole / "output.txt").read_text()
        duration, expected, work = time.monotonic() - begun, task.result(whole), counted(whole, "work")
        assert work > 1
        kills = finished = repeated = 0
        while kills < n_kills:
            folder = Path(base, f"run{finished}")
            folder.mkdir()
            task.prepare(folder)
            killed = 0
            while (status := wait(start(task.run, folder), rng.uniform(0, duration / 2 * 1.2**killed))) == KILLED:
                killed += 1
            assert status == 0, (folder / "output.txt").read_text()
            task.check(task.result(folder), expected)
            lost = counted(folder, "work") - work
            assert lost <= killed, f"{lost} of {work} units of work were repeated after {killed} kills"
            kills, finished, repeated = kills + killed, finished + 1, repeated + lost
            shutil.rmtree(folder)
    outcome = f"finished {finished} times with the same result"
    return f"{name}: killed {kills} times, {outcome}; {work} units of work each, {repeated} repeated in all"


def kill_review(n_kills, seed):
    """Kill the server of a review at random moments while two clients send annotations; return a summary.

    Every annotation that the server has confirmed must be stored, once.
    """
    rng, confirmed, first = random.Random(seed), {}, 0
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(n_kills):
            address = Path(folder, "address")
            address.unlink(missing_ok=True)
            pid = start(_serve, folder)
            while not address.exists():
                time.sleep(0.002)
            server = json.loads(address.read_text())
            clients = [threading.Thread(target=_send, args=(*server, first + i, confirmed)) for i in (0, 1)]
            for client in clients:
                client.start()
            wait(pid, rng.expovariate(1 / 0.05))
            for client in clients:
                client.join()
            first = max(first + 2, max(confirmed, default=0) + 3)  # others may be stored without a confirmation
        with AnnotationStore(Path(folder, "review.sqlite")) as store:
            queue, annotations = make_session(store, n=N_SAMPLES).queue, store.annotations()
    stored = {(annotation.sample, annotation.label): annotation.answer for annotation in annotations}
    assert len(stored) == len(annotations) <= len(confirmed) + 2 * n_kills
    for entry, answer in confirmed.items():
        assert stored[queue["sample"][entry], queue.label[entry]] == answer
    return f"review: killed {n_kills} times, {len(confirmed)} confirmed annotations, all stored"


def _serve():
    with AnnotationStore("review.sqlite") as store:
        server = ReviewServer(make_session(store, n=N_SAMPLES))
        Path("address.part").write_text(json.dumps([server.port, server.token]))
        os.replace("address.part", "address")
        server.serve_forever()


def _send(port, token, entry, confirmed):
    """Send annotations about every second entry until the server is killed."""
    while True:
        body = {"entry": entry, "answer": ("present", "absent", "unsure")[entry % 3]}
        try:
            status, _, _ = send(port, "POST", "/api/annotation", token, body)
        except (OSError, HTTPException):
            return
        assert status == 200
        confirmed[entry] = body["answer"]
        entry += 2


def kill(name, n_kills, seed):
    """Kill one of `NAMES` and return a summary."""
    return kill_review(n_kills, seed) if name == "review" else kill_resumed(name, n_kills, seed)


NAMES = (*RESUMED, "review")

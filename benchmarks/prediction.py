"""Predictions: CPU seconds of `spmld predict` beside those of `predict_proba`, and the time of one sample.

``python -m benchmarks.prediction`` predicts a CSV file of 70,000 samples with 50 features and 20 labels. Starting the
command, with a file of one sample, is part of its time, and printed beside it. Times of one sample are CPU times, the
fastest of five means of 50 predictions.
"""

import resource
import subprocess
import sys
import tempfile
import time
import timeit
from pathlib import Path

import pandas as pd

from benchmarks.sizes import sized
from spmld import MaskedLogistic, SelfPacedEnsemble, save
from spmld.datasets import make_planted

N, D, L = sized((70_000, 50, 20), (300, 5, 3))
N_FIT = sized(3000, 100)
LINEAR = ("linear", "ridge", "latent")


def command_time(folder, name):
    """Return the CPU seconds of a command that predicts a file."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "spmld.app.commands", "predict", "model.skops", name, "-o", "out.csv", "--force"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    data = make_planted(n_samples=N, n_features=D, n_labels=L, random_state=0)
    X, Y = data.X[:N_FIT], data.Y[:N_FIT]
    ensemble = SelfPacedEnsemble(random_state=0).fit(X, Y)
    start = time.process_time()
    ensemble.predict_proba(data.X)
    seconds = time.process_time() - start
    with tempfile.TemporaryDirectory() as folder:
        save(ensemble, Path(folder) / "model.skops", feature_names=[f"x{i}" for i in range(D)])
        table = pd.DataFrame(data.X, columns=[f"x{i}" for i in range(D)]).round(4)
        for name, part in {"one.csv": table[:1], "all.csv": table}.items():
            part.to_csv(Path(folder) / name, index=False)
        startup, command = (command_time(folder, name) for name in ("one.csv", "all.csv"))
    print(f"predict_proba of {N:,} samples: {seconds:.2f} s")
    print(f"spmld predict: {command:.2f} s, ratio {command / seconds:.2f}; ", end="")
    print(f"without its start of {startup:.2f} s: {(command - startup) / seconds:.2f}")
    models = {
        "MaskedLogistic": MaskedLogistic(),
        f"views {', '.join(LINEAR)}": SelfPacedEnsemble(views=LINEAR, random_state=0),
    }
    fitted = {name: model.fit(X, Y) for name, model in models.items()}
    for name, model in {**fitted, "default views": ensemble}.items():
        one = data.X[:1]
        times = timeit.repeat(lambda m=model, x=one: m.predict_proba(x), timer=time.process_time, number=50, repeat=5)
        print(f"one sample, {name}: {1000 * min(times) / 50:.2f} ms")


if __name__ == "__main__":
    main()

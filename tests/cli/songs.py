"""A small data set in files, and commands run as people run them: in a process of their own."""

import os
import subprocess
import sys

import numpy as np

from spmld.datasets import Dataset, make_planted, write_dataset
from spmld.labels import hide_labels

FEATURES = ["pitch", "tempo", "volume", "rate", "swing", "decay"]
LABELS = ["sad", "calm", "loud", "fast"]
PLANTED = make_planted(240, 6, 4, n_components=3, random_state=0)
# Samples come in groups, so that a split in the middle would set one group against the other.
TRAIN, TEST = np.arange(0, 240, 2), np.arange(1, 240, 2)


def songs(rows, observed=1.0):
    Y = PLANTED.Y[rows] if observed == 1 else hide_labels(PLANTED.Y[rows], observed_fraction=observed, random_state=0)
    return Dataset(PLANTED.X[rows], Y, FEATURES, LABELS, "songs")


def write_songs(folder):
    """train.csv with gaps, test.csv without."""
    write_dataset(songs(TRAIN, observed=0.6), folder / "train.csv")
    write_dataset(songs(TEST), folder / "test.csv")


def process(folder, *args):
    """A command that runs."""
    environment = {**os.environ, "SPMLD_CACHE": str(folder / "cache")}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-m", "spmld.cli", *args], cwd=folder, env=environment, **pipes)


def run(folder, *args):
    """A command that has run: exit status, output and errors."""
    command = process(folder, *args)
    out, err = command.communicate(timeout=300)
    return command.returncode, out, err

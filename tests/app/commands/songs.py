"""A small data set in files, and commands on it."""

import numpy as np

from spmld.datasets import Dataset, make_planted, write_dataset
from spmld.labels import hide_labels
from tests.commands import run_command

FEATURES = ["pitch", "tempo", "volume", "rate", "swing", "decay"]
LABELS = ["sad", "calm", "loud", "fast"]
PLANTED = make_planted(240, 6, 4, n_components=3, random_state=0)
# Samples are ordered by group, so train and test take every other one.
TRAIN, TEST = np.arange(0, 240, 2), np.arange(1, 240, 2)


def songs(samples, observed=1.0):
    Y = PLANTED.Y[samples]
    if observed < 1:
        Y = hide_labels(Y, observed_fraction=observed, random_state=0)
    return Dataset(PLANTED.X[samples], Y, FEATURES, LABELS, "songs")


def write_songs(folder):
    """Write train.csv with missing labels and test.csv without."""
    write_dataset(songs(TRAIN, observed=0.6), folder / "train.csv")
    write_dataset(songs(TEST), folder / "test.csv")


def run(folder, *args):
    """Run a command; return exit status, output and errors."""
    return run_command(folder, *args, SPMLD_CACHE=str(folder / "cache"))

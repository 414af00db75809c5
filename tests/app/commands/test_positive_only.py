"""Commands on a table whose labels are 1 or empty."""

import json

import numpy as np
import pytest

from spmld.datasets import Dataset, read_dataset, write_dataset

from .songs import FEATURES, LABELS, PLANTED, TEST, TRAIN, run, songs

NAMED = "Labels sad, calm, loud, fast: "


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tags")
    observed = (PLANTED.Y[TRAIN] == 1) & (np.random.default_rng(0).random((len(TRAIN), len(LABELS))) < 0.7)
    tags = Dataset(PLANTED.X[TRAIN], np.where(observed, 1, np.nan), FEATURES, LABELS, "tags")
    write_dataset(tags, folder / "tags.csv")
    write_dataset(songs(TEST), folder / "test.csv")
    status, out, err = run(folder, "fit", "tags.csv", "-o", "tags.skops", "--param", "n_trees=[20]", "--json")
    assert status == 0, err
    return folder, json.loads(out), err


def test_fit_names_the_labels_once_and_reports_their_class_priors(folder):
    path, summary, err = folder
    assert err.count(NAMED + "observed positives, missing entries and no observed negative") == 1
    assert "Missing entries are used as negatives of lower weight" in err
    assert "(--empty-is negative, or --untagged negative for tags)" in err
    assert set(summary["class_prior"]) == set(LABELS)
    # Between the fraction of observed positives, if there is no evidence that others are missing, and the true one.
    observed = read_dataset(path / "tags.csv").Y == 1
    for name, lowest, truth in zip(LABELS, observed.mean(axis=0), PLANTED.Y[TRAIN].mean(axis=0), strict=True):
        assert lowest - 1e-6 <= summary["class_prior"][name] <= 1.3 * truth


def test_model_of_tags_ranks_well_and_is_described(folder):
    folder, summary, _ = folder
    status, out, err = run(folder, "evaluate", "tags.skops", "test.csv", "--metric", "macro_auc", "--json")
    assert (status, err) == (0, "")
    (row,) = json.loads(out)["metrics"]
    assert row["value"] > 0.85
    assert (
        json.loads(run(folder, "info", "tags.skops", "--json")[1])["summary"]["class_prior"] == summary["class_prior"]
    )
    status, out, _ = run(folder, "predict", "tags.skops", "test.csv", "--no-probabilities")
    predicted = np.array([line.split(",") for line in out.split()[1:]], dtype=int)
    assert status == 0
    assert 0 < predicted[:, 0].mean() < 0.6


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["complete", "tags.csv", "--method", "MaskedLogistic"], "negatives of lower weight"),
        (["evaluate", "tags.skops", "tags.csv"], "metrics do not count false positives"),
        (["audit", "tags.csv"], "Missing entries are used as negatives, many of which may be wrong"),
        (["compare", "tags.csv", "--method", "MaskedLogistic", "--folds", "2"], "metrics do not count false positives"),
    ],
)
def test_other_commands_name_the_labels_once(folder, command, message):
    status, out, err = run(folder[0], *command)
    assert status == 0
    assert out
    assert err.count(NAMED) == 1
    assert message in err


def test_description_counts_positive_only_labels(folder):
    status, out, _ = run(folder[0], "data", "describe", "tags.csv", "--json")
    assert status == 0
    assert json.loads(out)["positive-only labels"] == len(LABELS)
    assert "positive-only labels" not in json.loads(run(folder[0], "data", "describe", "test.csv", "--json")[1])

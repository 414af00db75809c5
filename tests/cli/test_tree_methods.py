"""Forests and boosting of scikit-learn as methods of the commands."""

import json

import pytest
import scipy.sparse as sp

import spmld
from spmld.cli.methods import SPACES, TRUST_TYPES, build, parse_space
from spmld.datasets import Dataset, write_dataset
from tests.cli.songs import FEATURES, LABELS, TRAIN, songs

FAST = {"MaskedForest": "n_estimators=5", "HistGradientBoosting": "max_iter=5"}


@pytest.mark.parametrize("method", TRUST_TYPES)
def test_a_model_is_fitted_and_predicts_with_the_printed_option(cli, method):
    status, _, err = cli(
        "fit", "train.csv", "--method", method, "--param", FAST[method], "--seed", "3", "-o", "m.skops"
    )
    assert status == 0, err
    assert f"m.skops --trust-type {TRUST_TYPES[method]} NEW_DATA" in err
    assert "commands that use it need --trust-type" in err
    command = err.partition("next: spmld ")[2].partition(" -o")[0].replace("NEW_DATA", "test.csv").split()
    status, out, err = cli(*command)
    assert status == 0, err
    assert out.startswith("sad,calm,")
    base = spmld.load("m.skops", trusted=[TRUST_TYPES[method]]).estimator_.estimator
    name, _, value = FAST[method].partition("=")
    assert (base.random_state, base.get_params()[name]) == (3, int(value))


def test_sparse_features(cli):
    data = songs(TRAIN)
    write_dataset(Dataset(sp.csr_array(data.X), data.Y, FEATURES, LABELS), "sparse.npz")
    for method, param in FAST.items():
        status, out, err = cli(
            "fit", "sparse.npz", "--method", method, "--param", param, "-o", f"{method}.skops", "--json"
        )
        assert status == 0, err
        assert json.loads(out)["held_out"]["model"]["ranking_loss"] < 0.3


def test_parameters_are_those_of_the_classifier():
    boosting = build("HistGradientBoosting", {"max_depth": 2, "estimator__max_iter": 5}, 1).estimator
    assert (boosting.random_state, boosting.max_depth, boosting.max_iter) == (1, 2, 5)
    with pytest.raises(ValueError, match=r"Boosting has no parameter 'depth'; its parameters are .*max_depth"):
        build("HistGradientBoosting", {"depth": 2}, 0)
    assert parse_space("HistGradientBoosting", ["max_depth=2,3"], []) == {"estimator__max_depth": [2, 3]}
    for method in FAST:
        build(method, {name: values[0] for name, values in SPACES[method].items()}, 0)


def test_they_are_compared_and_tuned(cli):
    names = ["--method", "MaskedForest", "--method", "LabelPrior"]
    assert cli("compare", "test.csv", *names, "--folds", "2", "--metric", "ranking_loss", "--decision", "none")[0] == 0
    search = ["--param", "max_iter=3", "--choices", "max_depth=1,3", "--folds", "2", "--json"]
    status, out, err = cli("tune", "test.csv", "--method", "HistGradientBoosting", *search)
    assert status == 0, err
    assert json.loads(out)["best"].keys() == {"estimator__max_depth"}

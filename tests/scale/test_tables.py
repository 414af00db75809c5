"""Directories of Parquet files on a Dask cluster are read as tables in memory are."""

import itertools

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from spmld import load
from spmld.cli.group import spmld
from spmld.datasets import TableError, make_songs
from spmld.persistence import model_info

distributed = pytest.importorskip("distributed")
pytest.importorskip("dask.dataframe")

from spmld.scale import read_parquet  # noqa: E402


@pytest.fixture(scope="module")
def client():
    options = {"dashboard_address": None, "silence_logs": 50, "protocol": "tcp://"}
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def write_parts(frame, folder, *ends):
    folder.mkdir()
    for i, (start, end) in enumerate(itertools.pairwise((0, *ends, len(frame)))):
        frame[start:end].to_parquet(folder / f"{i}.parquet", index=False)
    return folder


def test_a_command_encodes_text_and_tags_on_the_cluster(client, tmp_path):
    songs = make_songs(120, observed_fraction=0.8, random_state=0)
    tags = [None if np.isnan(y).any() else ";".join(np.array(songs.label_names)[y == 1]) for y in songs.Y]
    frame = pd.DataFrame({"song": [f"s{i}" for i in range(120)], "review": songs.texts, "tags": tags})
    frame.loc[119, "tags"] = "waltz"  # a tag of the last partition only
    folder = write_parts(frame, tmp_path / "songs", 50, 50, 119)
    frame.to_parquet(tmp_path / "songs.parquet", index=False)
    roles = ["--text", "review", "--tags", "tags", "--id", "song", "--method", "MaskedLogistic", "--param", "tol=1e-6"]
    models = {}
    for source, options in ((folder, ["--scheduler", client.scheduler.address]), (tmp_path / "songs.parquet", [])):
        out = tmp_path / f"{source.name}.skops"
        decision = [] if options else ["--decision", "none"]
        result = CliRunner().invoke(spmld, ["fit", str(source), *roles, *options, *decision, "-o", str(out)])
        assert result.exit_code == 0, result.output
        models[source.name] = load(out), model_info(out)
    (model, info), (expected, expected_info) = models["songs"], models["songs.parquet"]
    assert info.label_names == expected_info.label_names
    assert "waltz" in info.label_names
    assert info.encoded
    assert expected_info.encoded
    for name in ("n_samples", "n_features", "n_labels", "observed", "table"):
        assert info.summary[name] == expected_info.summary[name]
    np.testing.assert_allclose(model.decision_function(frame), expected.decision_function(frame), atol=1e-6)


def test_labels_of_a_partition_can_all_be_missing_and_bad_labels_are_reported(client, tmp_path):
    frame = pd.DataFrame({"x": np.arange(6.0), "label_a": [1, 0, 1, None, None, None]})
    table = read_parquet(write_parts(frame, tmp_path / "good", 3))
    np.testing.assert_array_equal(table.Y.compute(), frame[["label_a"]])
    np.testing.assert_array_equal(table.X.compute(), frame[["x"]])
    bad = frame.assign(label_a=["yes", "no", "yes", "no", "yes", "perhaps"])
    with pytest.raises(TableError, match="'label_a' contains 'perhaps'"):
        read_parquet(write_parts(bad, tmp_path / "bad", 3)).Y.compute()


def test_decisions_for_single_labels_on_the_cluster(client, tmp_path):
    X = np.random.default_rng(0).normal(size=(150, 3))
    labels = {f"label_{name}": (X[:, j] > 0).astype(int) for j, name in enumerate(("sad", "calm"))}
    folder = write_parts(pd.DataFrame({**{f"x{j}": X[:, j] for j in range(3)}, **labels}), tmp_path / "songs", 70)
    options = ["--scheduler", client.scheduler.address, "--threshold", "calm=0.7", "--precision", "sad=0.9"]
    options += ["--param", 'views=["linear"]', "--param", "Cs=[3.0]", "--param", "cv=2"]
    result = CliRunner().invoke(spmld, ["fit", str(folder), *options, "-o", str(tmp_path / "m.skops")])
    assert result.exit_code == 0, result.output
    assert load(tmp_path / "m.skops").decision_rule_.label_precisions_[1].threshold == 0.7
    summary = model_info(tmp_path / "m.skops").summary
    assert summary["decision"] == {"calm": 0.7, "sad": "precision>=0.9"}
    assert summary["precision"]["sad"]["precision"] >= 0.9
    assert "decisions: sad above " in result.output


def test_the_checkpoint_of_a_command_on_a_cluster_is_deleted(client, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    for folder, sign in (("songs", 1), ("reversed", -1)):
        labels = {f"label_{name}": (sign * X[:, j] > 0).astype(int) for j, name in enumerate(("sad", "calm"))}
        frame = pd.DataFrame({**{f"x{j}": X[:, j] for j in range(4)}, **labels})
        write_parts(frame, tmp_path / folder, 50, 50)
    checkpoint, scores = tmp_path / "checkpoint", {}
    command = [
        "--method",
        "SPMLD",
        "--param",
        "n_components=2",
        "--param",
        "max_iter=8",
        "--scheduler",
        client.scheduler.address,
    ]
    for folder in ("songs", "reversed"):
        out = tmp_path / f"{folder}.skops"
        options = ["-o", str(out), "--checkpoint", str(checkpoint)]
        result = CliRunner().invoke(spmld, ["fit", str(tmp_path / folder), *command, *options])
        assert result.exit_code == 0, result.output
        assert not checkpoint.exists()
        scores[folder] = load(out).decision_function(pd.DataFrame(X, columns=[f"x{j}" for j in range(4)]))
    assert (np.sign(scores["songs"]) == np.sign(X[:, :2])).mean() > 0.9
    assert (np.sign(scores["reversed"]) == -np.sign(X[:, :2])).mean() > 0.9

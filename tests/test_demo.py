"""The demo in a process of its own: what it prints is true of its files, and its last lines are commands that run."""

import json
import os
import re
import shlex

import pandas as pd
import pytest

from spmld.datasets import make_songs
from spmld.demo import N_TEST, N_TRAIN, SEED
from tests.commands import run_command


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Return the folder and the output of one demo."""
    folder = tmp_path_factory.mktemp("demo")
    status, out, err = run_command(folder, "demo", "-o", "songs")
    assert (status, err) == (0, "")
    return folder / "songs", out


@pytest.fixture(scope="module")
def truth():
    return make_songs(N_TRAIN + N_TEST, random_state=SEED)


def row(out, name):
    (line,) = (line for line in out.splitlines() if line.strip().startswith(name))
    return [float(value) for value in re.findall(r"\d\.\d+", line)]


def number(out, pattern):
    return float(re.search(pattern, " ".join(out.split()))[1].replace(",", ""))


def test_output_fits_a_terminal_and_all_files_are_written(demo):
    folder, out = demo
    assert max(map(len, out.splitlines())) <= 80
    assert sorted(os.listdir(folder)) == ["demo.png", "report.html", "songs.csv", "test.csv"]
    assert (folder / "demo.png").read_bytes()[:4] == b"\x89PNG"
    page = (folder / "report.html").read_text()
    assert "review: riff" in page  # a word as the name of a feature
    assert "S0001" in (folder / "songs.csv").read_text()


def test_model_is_better_than_the_loop(demo):
    _, out = demo
    loop, model, _ = row(out, "ranking loss -")
    assert model < 0.95 * loop
    for metric in ("micro F1 +", "macro F1 +", "sample F1 +"):
        loop, model, _ = row(out, metric)
        assert model > loop + 0.05


def test_audit_finds_far_more_errors_than_a_random_order(demo):
    _, out = demo
    found = number(out, r"highest error probability, (\d+) are wrong")
    expected = number(out, r"of 100 random entries, (\d+) are")
    assert found > 5 * expected > 0


def test_completion_is_better_than_all_negatives(demo):
    _, out = demo
    correct, negative = number(out, r"Complete\. (\d+)%"), number(out, r"negative for all would be (\d+)%")
    confident = number(out, r"at least 0\.9, and (\d+)% of these")
    assert negative + 3 < correct < confident


def test_printed_numbers_of_wrong_and_missing_tags_are_those_of_the_file(demo, truth):
    folder, out = demo
    songs = pd.read_csv(folder / "songs.csv")
    listed = [set(tags.split("; ")) for tags in songs["tags"].fillna("")]
    true = [{truth.label_names[j] for j in row.nonzero()[0]} for row in truth.Y[:N_TRAIN]]
    tagged = songs["tags"].notna()
    pairs = [(a, b) for a, b, used in zip(listed, true, tagged, strict=True) if used]
    assert songs["review"].tolist() == truth.texts[:N_TRAIN]
    assert number(out, r"(\d+)% of the songs have no tags") == pytest.approx(100 * (1 - tagged.mean()), abs=0.5)
    n_listed = sum(len(a) for a, _ in pairs)
    assert number(out, r"Of the ([\d,]+) tags of the others") == n_listed
    assert number(out, r"(\d+)% are wrong") == pytest.approx(
        100 * sum(len(a - b) for a, b in pairs) / n_listed, abs=0.5
    )
    assert number(out, r"and ([\d,]+) tags are not listed") == sum(len(b - a) for a, b in pairs)


def test_printed_commands_run_and_agree_with_the_demo(demo):
    folder, out = demo
    lines = out.splitlines()
    commands = [shlex.split(line) for line in lines[lines.index("Continue with these files:") + 1 :]]
    commands = {args[1]: args[1:] for args in commands if args[0] == "spmld"}
    assert list(commands) == ["fit", "evaluate", "audit", "complete", "review"]
    for name in ("fit", "audit", "complete"):
        status, _, err = run_command(folder, *commands[name])
        assert status == 0, err
    values = json.loads(run_command(folder, *commands["evaluate"], "--json")[1])
    values = {metric["name"]: metric["value"] for metric in values["metrics"]}
    assert values["ranking_loss"] == pytest.approx(row(out, "ranking loss -")[1], abs=1e-3)
    assert values["micro_f1"] == pytest.approx(row(out, "micro F1 +")[1], abs=1e-3)
    assert len(pd.read_csv(folder / "missing.csv")) == number(out, r"Of the ([\d,]+) added tags")
    for name, args in {"a": ["test.csv", "--model", "songs.skops"], "b": commands["audit"][1:-2]}.items():
        status, _, err = run_command(folder, "report", *args, "--no-audit", "-o", f"{name}.html")
        assert status == 0, err
        assert "review: riff" in (folder / f"{name}.html").read_text()
    status, _, err = run_command(folder, *commands["review"], "--export", "entries.jsonl")
    assert status == 0, err
    assert json.loads((folder / "entries.jsonl").read_text().splitlines()[0])["fields"]["song_id"] in out


def test_a_second_demo_overwrites_files_only_with_force(demo):
    folder, _ = demo
    status, out, err = run_command(folder.parent, "demo", "-o", "songs")
    assert (status, out) == (2, "")
    assert err == "spmld: songs/songs.csv already exists; use --force to overwrite it\n"

"""The commands of ``python -m studies``."""

import json

import pytest
from click.testing import CliRunner

from studies import __main__ as module

STUDY = """
title = "tiny"
report = "tables"
data = ["planted"]
observed = [0.5]
seeds = [0, 1]
metrics = ["ranking_loss"]
[[methods]]
name = "linear"
estimator = "studies.tests.cases.Linear"
[[methods]]
name = "other"
estimator = "studies.tests.cases.Linear"
[methods.fixed]
fail_on = {fail_on}
"""


@pytest.fixture
def cli(tmp_path, monkeypatch):
    """Return a function that runs a command in a folder with two studies."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.toml").write_text(STUDY.format(fail_on=99))
    (tmp_path / "bad.toml").write_text(STUDY.format(fail_on=0))
    return lambda *arguments: CliRunner().invoke(module.main, arguments)


def test_run_report_check(cli, tmp_path):
    result = cli("run", "tiny.toml", "--out", "r.jsonl")
    assert (result.exit_code, result.stdout) == (0, "tiny: 4 trials run, 0 already recorded, 0 failed\n")
    assert cli("run", "tiny.toml", "--out", "r.jsonl").stdout == "tiny: 0 trials run, 4 already recorded, 0 failed\n"
    assert cli("report", "r.jsonl", "--out", "out").exit_code == 0
    assert "| linear | 50% |" in (tmp_path / "out" / "table_planted.md").read_text()
    result = cli("check", "r.jsonl", "--data", "planted", "--rate", "0.5", "--method", "linear", "--seed", "1")
    assert result.exit_code == 0
    assert "DIFFERS" not in result.stdout


def test_summary(cli):
    cli("run", "tiny.toml", "--out", "r.jsonl")
    out = cli("summary", "r.jsonl", "--metric", "micro_f1", "--metric", "cardinality_ratio").stdout
    assert "Means over 1 condition: tiny" in out
    assert "| method | micro F1 ↑ | predicted / true labels |" in out
    assert "metric must be" in cli("summary", "r.jsonl", "--metric", "f1").stderr


def test_check_detects_a_changed_record(cli, tmp_path):
    cli("run", "tiny.toml", "--out", "r.jsonl")
    lines = (tmp_path / "r.jsonl").read_text().splitlines()
    record = json.loads(lines[-1])
    record["metrics"]["ranking_loss"] += 1e-4
    (tmp_path / "r.jsonl").write_text("\n".join([*lines[:-1], json.dumps(record)]) + "\n")
    result = cli("check", "r.jsonl", "--key", record["key"])
    assert result.exit_code == 1
    assert result.stdout.count("DIFFERS") == 1
    assert cli("check", "r.jsonl", "--key", record["key"], "--tolerance", "0.01").exit_code == 0


def test_failures_are_printed_and_set_the_exit_status(cli):
    result = cli("run", "bad.toml", "--out", "r.jsonl")
    assert result.exit_code == 1
    assert "1 failed" in result.stdout
    assert "1 x other: RuntimeError: no fit with seed 0" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "tabels"], "study must be one of"),
        (["run", "none.toml"], "or an existing .toml file, got 'none.toml'"),
        (["run", "tiny.toml", "--out", "."], "cannot be written"),
        (["report", "none.jsonl"], "none.jsonl cannot be read: No such file"),
        (["report", "tiny.toml"], "tiny.toml line 1 is not a record"),
        (["check", "none.jsonl"], "cannot be read"),
    ],
)
def test_errors_are_one_line(cli, arguments, message):
    result = cli(*arguments)
    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_check_needs_exactly_one_record(cli):
    cli("run", "tiny.toml", "--out", "r.jsonl")
    assert "2 records match method=linear; add conditions" in cli("check", "r.jsonl", "--method", "linear").stderr
    assert "no successful trial matches method=nothing" in cli("check", "r.jsonl", "--method", "nothing").stderr


def test_interruption_prints_how_to_resume(cli, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "run_study", interrupted)
    result = cli("run", "tiny.toml")
    assert result.exit_code != 0
    assert "run the same command to resume" in result.stderr


def test_one_table_its_cost_and_its_figure(cli, tmp_path):
    cli("run", "smoke", "--out", "r.jsonl")
    result = cli("table", "r.jsonl", "--figure", "wins.png")
    assert "conditions: better in" in result.stdout
    assert (tmp_path / "wins.png").read_bytes().startswith(b"\x89PNG")
    brief = cli("table", "r.jsonl", "--brief").stdout
    assert result.stdout.endswith(brief)
    assert "|" not in brief
    cost = cli("table", "r.jsonl", "--cost").stdout
    assert "times" in cost.splitlines()[-1]
    assert cost.endswith(cli("table", "r.jsonl", "--cost", "--brief").stdout)
    result = cli("table", "r.jsonl", "--data", "nothing", "--figure", "other.png")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "must be one of planted in study smoke, got 'nothing'" in result.stderr
    assert not (tmp_path / "other.png").exists()


def test_compare_counts_fits_and_shows_the_largest_difference(cli, tmp_path):
    cli("run", "tiny.toml", "--out", "old.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "old.jsonl").read_text().splitlines()]
    first, second = [line for line in lines if line["kind"] == "trial" and line["trial"]["method"] == "linear"]
    first["metrics"]["ranking_loss"] += 0.25
    second["metrics"]["macro_auc"] += 0.25  # not a metric of the study
    lines = [line for line in lines if line.get("trial", {}).get("seed") != 1 or line is second]
    (tmp_path / "new.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = cli("compare", "old.jsonl", "new.jsonl")
    assert result.exit_code == 0
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in result.stdout.splitlines()[2:]]
    assert rows == [
        ["tiny", "linear", "2", "0", "0", "1", "Rkl 0.25"],
        ["tiny", "other", "2", "1", "0", "1", "Rkl 0"],
    ]
    cli("run", "smoke", "--out", "smoke.jsonl")
    assert "must have a study in common, got tiny and smoke" in cli("compare", "old.jsonl", "smoke.jsonl").stderr


def test_compare_counts_fits_with_other_parameters(cli, tmp_path):
    cli("run", "tiny.toml", "--out", "old.jsonl")
    (tmp_path / "tiny.toml").write_text(STUDY.format(fail_on=98))
    cli("run", "tiny.toml", "--out", "new.jsonl")
    linear, other = cli("compare", "new.jsonl", "old.jsonl").stdout.splitlines()[2:]
    assert linear == "| tiny | linear | 2 | 0 | 0 | 2 | Rkl 0 |"
    assert other == "| tiny | other | 2 | 0 | 2 | 2 | Rkl 0 |"

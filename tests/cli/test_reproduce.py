import json
import sys
from collections import namedtuple

import pytest

from spmld.cli import main
from spmld.cli import reproduce as module
from spmld.studies.tables import format_value

Result = namedtuple("Result", "exit_code stdout stderr")

STUDY = """
title = "tiny"
report = "tables"
data = ["planted"]
observed = [0.5]
seeds = [0, 1]
metrics = ["ranking_loss"]
[[methods]]
name = "linear"
estimator = "tests.studies.studies.Linear"
[[methods]]
name = "other"
estimator = "tests.studies.studies.Linear"
[methods.fixed]
fail_on = {fail_on}
"""


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    """Return a function that runs a command in a folder with two studies."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.toml").write_text(STUDY.format(fail_on=99))
    (tmp_path / "bad.toml").write_text(STUDY.format(fail_on=0))

    def call(*arguments):
        with pytest.raises(SystemExit) as left:
            main(["reproduce", *arguments])
        return Result(left.value.code, *capsys.readouterr())

    return call


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
    methods = json.loads(cli("summary", "r.jsonl", "--json").stdout)["methods"]
    assert methods["linear"] == methods["other"]
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
        (["run", "tabels"], "spmld: study must be one of"),
        (["run", "none.toml"], "spmld: study file none.toml does not exist"),
        (["html", "none.jsonl", "-o", "x.html"], "spmld: none.jsonl cannot be read"),
        (["run", "tiny.toml", "--out", "."], "cannot be written"),
        (["report", "none.jsonl"], "spmld: none.jsonl cannot be read: No such file"),
        (["report", "tiny.toml"], "spmld: tiny.toml line 1 is not a record"),
        (["check", "none.jsonl"], "cannot be read"),
    ],
)
def test_errors_are_one_line(cli, arguments, message):
    result = cli(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_check_needs_exactly_one_record(cli):
    cli("run", "tiny.toml", "--out", "r.jsonl")
    many = cli("check", "r.jsonl", "--method", "linear")
    assert (many.exit_code, "2 records match method=linear; add conditions" in many.stderr) == (2, True)
    none = cli("check", "r.jsonl", "--method", "nothing")
    assert (none.exit_code, none.stderr) == (2, "spmld: no successful trial matches method=nothing\n")


def test_interruption_prints_how_to_resume(cli, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(module.studies, "run_study", interrupted)
    result = cli("run", "tiny.toml")
    assert result.exit_code == 130
    assert "run the same command to resume" in result.stderr


def test_list_names_the_shipped_studies(cli):
    names = [line.split()[0] for line in cli("list").stdout.splitlines()]
    assert {"tables", "released", "radar", "surface", "smoke"} <= set(names)


def test_the_progress_bar_is_for_terminals(monkeypatch, capsys):
    record = {"status": "ok", "trial": {"kind": "test", "data": "d", "observed": 0.3, "method": "m"}}
    for terminal in (False, True):
        monkeypatch.setattr(sys.stderr, "isatty", lambda terminal=terminal: terminal, raising=False)
        assert list(module._progress_bar("tiny")([None], [record])) == [record]
        assert ("tiny" in capsys.readouterr().err) == terminal


def test_the_list_as_json(cli):
    listed = json.loads(cli("list", "--json").stdout)
    lines = cli("list").stdout.splitlines()
    assert [f"{study['name']:<18} {study['title']}" for study in listed] == lines


def test_one_table_its_cost_and_its_figure(cli, tmp_path):
    cli("run", "smoke", "--out", "r.jsonl")
    result = cli("table", "r.jsonl", "--figure", "wins.png")
    assert "conditions: better in" in result.stdout
    pytest.importorskip("matplotlib")
    assert (tmp_path / "wins.png").read_bytes().startswith(b"\x89PNG")
    assert result.stdout.endswith(cli("table", "r.jsonl", "--brief").stdout)
    assert "|" not in cli("table", "r.jsonl", "--brief").stdout
    assert "times" in cli("table", "r.jsonl", "--cost").stdout.splitlines()[-1]
    assert cli("table", "r.jsonl", "--cost").stdout.endswith(cli("table", "r.jsonl", "--cost", "--brief").stdout)
    printed = json.loads(cli("table", "r.jsonl", "--json").stdout)
    assert f"better in {printed['counts']['better']}" in cli("table", "r.jsonl", "--brief").stdout
    shown = cli("table", "r.jsonl").stdout
    for condition in printed["conditions"]:
        assert all(format_value(method["mean"]) in shown for method in condition["methods"].values())
        assert condition["methods"][printed["reference"]]["verdict"] is None
    seconds = json.loads(cli("table", "r.jsonl", "--cost", "--json").stdout)["conditions"][0]["seconds"]
    assert all(f"{value:.1f}" in cli("table", "r.jsonl", "--cost").stdout for value in seconds.values())
    result = cli("table", "r.jsonl", "--data", "nothing", "--figure", "other.png")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "must be one of planted in study smoke, got 'nothing'" in result.stderr
    assert not (tmp_path / "other.png").exists()


def test_the_html_report_of_a_study(cli, tmp_path):
    pytest.importorskip("jinja2")
    cli("run", "tiny.toml", "--out", "r.jsonl.xz")
    result = cli("html", "r.jsonl.xz", "-o", "tiny.html", "--title", "<Mine>")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "<h1>&lt;Mine&gt;</h1>" in (tmp_path / "tiny.html").read_text(encoding="utf-8")
    assert "already exists; use --force" in cli("html", "r.jsonl.xz", "-o", "tiny.html").stderr

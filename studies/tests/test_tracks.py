"""Tables in the docs and counts in the README are the output of their commands."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from studies.__main__ import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "studies" / "docs" / "tracks.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
TABLES = re.findall(r"^`python -m studies ((?:table|summary) studies/records/[^`]*)`$", PAGE, re.MULTILINE)
ROWS = re.findall(r"^\|.*\| `python -m studies (table studies/records/[^`]*)` \|$", PAGE, re.MULTILINE)


def printed(command, monkeypatch):
    monkeypatch.chdir(ROOT)
    outcome = CliRunner().invoke(main, shlex.split(command))
    assert outcome.exit_code == 0, outcome.output
    return outcome.stdout.strip()


@pytest.mark.parametrize("command", TABLES)
def test_tables_of_the_page_are_the_output_of_their_commands(command, monkeypatch):
    assert printed(command, monkeypatch) in PAGE


@pytest.mark.parametrize("command", ROWS)
def test_counts_and_daggers_of_the_summary_are_those_of_their_commands(command, monkeypatch):
    (row,) = [line for line in PAGE.splitlines() if line.endswith(f"| `python -m studies {command}` |")]
    table = printed(command, monkeypatch)
    counts = re.search(
        r"in (\d+) conditions: better in (\d+), no significant difference in (\d+), worse in (\d+)", table
    )
    assert [int(n) for n in re.findall(r"\| (\d+) (?=\|)", row)] == [int(n) for n in counts.groups()]
    # A dagger marks counts that include fits of an ensemble without boosted trees.
    note = re.search(r"^Code of the fits: (.*)\.$", table, re.MULTILINE)[1]
    methods = re.findall(r"\.([0-9a-f]{8})(?: \(((?:[^()]|\(\))*)\))?", note)
    ensembles = {commit for commit, names in methods if not names or re.search("SelfPacedEnsemble|Audit", names)}
    earlier = not ensembles <= {"83a951ad", "da7f44d0"} and "untuned" not in row
    assert ("†" in row.split(" | ")[0]) == earlier


def test_rows_of_the_readme_are_rows_of_the_summary():
    rows = re.findall(r"^\| ([a-z: ]+)( †|) (\|.*\| \d+ \|)$", README, re.MULTILINE)
    assert len(rows) == 11
    for task, mark, row in rows:
        pattern = rf"^\|( [A-F]: {task}| {task})?{mark} {re.escape(row)} `python -m studies"
        assert re.search(pattern, PAGE, re.MULTILINE), row


def test_the_fraction_of_the_gap_is_the_printed_one(monkeypatch):
    out = printed("table studies/records/track_wrong.jsonl.xz --brief", monkeypatch)
    fraction = re.search(r"(\d+)% of the gap", out)[1]
    for text in (README, PAGE):
        assert re.search(r"closes (\d+) % of\s+the gap", text)[1] == fraction


def test_the_figure_of_the_readme_exists():
    pictures = re.findall(r"!\[[^\]]{20,}\]\(([^)]+)\)", README)
    assert pictures == ["studies/docs/results/critical_difference.png"]
    assert (ROOT / pictures[0]).read_bytes().startswith(b"\x89PNG")

"""The tutorials: their commands start from raw files, and print what the pages show."""

import pytest

from tests.journeys.pages import ROOT, agree, failed, prepare, run, steps

PAGES = sorted((ROOT / "docs").glob("tutorial_*.md"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_commands_print_what_the_page_shows(path, tmp_path):
    prepare(tmp_path)
    text = path.read_text(encoding="utf-8")
    assert {"python", "spmld data", "spmld review", "spmld correct"} <= {
        name for step in steps(text) for name in (step.command.split()[0], " ".join(step.command.split()[:2]))
    }
    for step in steps(text):
        status, printed = run(step, tmp_path)
        assert not failed(step, status, printed), f"{step.command}\n{printed}"
        if step.expected is not None:
            assert agree(step.expected, printed), f"{step.command}\n{step.expected}\n---\n{printed}"


def test_outputs_that_differ_are_found():
    expected = "label  loss\n─────\nsad    0.1234\n...\nfitted in 1.5 s"
    assert agree(expected, "label    loss\n───────\nsad  0.1200\ncalm  0.5\nfitted in 12.0 s")
    for printed in (
        "label  loss\nsad  0.2234\ncalm  0.5\nfitted in 1.5 s",  # another number
        "label  loss\ncalm  0.1234\ncalm  0.5\nfitted in 1.5 s",  # another label
        "label  loss\nsad  0.1234\nfitted in 1.5 s\nmore",
        "sad  0.1234\nfitted in 1.5 s",
    ):
        assert not agree(expected, printed)
    assert not agree("sample R123", "sample R124")  # identifiers are not numbers
    assert not agree("", "a message")


def test_steps_of_a_page():
    text = "# a\n```console\n$ one \\\n  two\n3\n4\n$ five\n```\n```\n$ six\n```\n```python\nseven = 7\n```\n"
    found = steps(text)
    assert [(step.command, step.expected) for step in found] == [
        ("one \\\n  two", "3\n4"),
        ("five", ""),
        ("seven = 7\n", None),
    ]
    assert text[found[0].start : found[0].end] == "3\n4\n"

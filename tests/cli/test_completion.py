"""Completion of commands and options by the Tab key, as docs/commands.md says to switch it on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")


def spmld(**environment):
    """What ``spmld`` prints to a shell that asks."""
    call = [sys.executable, "-m", "spmld.cli"]
    ran = subprocess.run(
        call, env={**os.environ, **environment}, capture_output=True, text=True, timeout=120, check=False
    )
    return ran.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell_of_the_docs(shell):
    assert f"_SPMLD_COMPLETE={shell}_source spmld" in PAGE
    script = spmld(_SPMLD_COMPLETE=f"{shell}_source")
    assert f"_SPMLD_COMPLETE={shell}_complete" in script


@pytest.mark.parametrize(
    ("typed", "word", "expected"), [("spmld repr", 1, "reproduce"), ("spmld predict --prob", 2, "--probabilities")]
)
def test_commands_and_options_are_completed(typed, word, expected):
    said = spmld(_SPMLD_COMPLETE="bash_complete", COMP_WORDS=typed, COMP_CWORD=str(word))
    assert said.split() == [f"plain,{expected}"]

"""Completion of commands and options by the Tab key, as docs/commands.md says to switch it on."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from spmld.cli.group import spmld as group

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


def commands(command, name="spmld"):
    """All commands and those inside them, with their full names."""
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for each in command.list_commands(context):
            yield from commands(command.get_command(context, each), f"{name} {each}")


@pytest.mark.parametrize(("name", "command"), list(commands(group)))
def test_every_help_has_an_example_of_its_command(name, command):
    said = command.get_help(click.Context(command, info_name=name))
    assert name in said.partition("Example")[2].partition("Options:")[0]

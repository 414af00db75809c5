"""Shell completion of commands and options, as described in docs/commands.md."""

from pathlib import Path

import click
import pytest

from spmld.app.commands.group import spmld as group
from tests.commands import run_command

PAGE = (Path(__file__).parents[3] / "docs" / "commands.md").read_text(encoding="utf-8")


def complete(**environment):
    """Return the output of ``spmld`` when a shell requests completions."""
    return run_command(".", **environment)[1]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script_of_each_documented_shell(shell):
    assert f"_SPMLD_COMPLETE={shell}_source spmld" in PAGE
    script = complete(_SPMLD_COMPLETE=f"{shell}_source")
    assert f"_SPMLD_COMPLETE={shell}_complete" in script


@pytest.mark.parametrize(
    ("typed", "word", "expected"),
    [
        ("spmld repo", 1, "report"),
        ("spmld predict --prob", 2, "--probabilities"),
        ("spmld fit --method maskedl", 3, "MaskedLogistic"),
    ],
)
def test_commands_options_and_methods_are_completed(typed, word, expected):
    completions = complete(_SPMLD_COMPLETE="bash_complete", COMP_WORDS=typed, COMP_CWORD=str(word))
    assert completions.split() == [f"plain,{expected}"]


def commands(command, name="spmld"):
    """Yield all commands and subcommands with their full names."""
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for child in command.list_commands(context):
            yield from commands(command.get_command(context, child), f"{name} {child}")


@pytest.mark.parametrize(("name", "command"), list(commands(group)))
def test_every_help_has_an_example_of_its_command(name, command):
    help = command.get_help(click.Context(command, info_name=name))
    assert name in help.partition("Example")[2].partition("Options:")[0]

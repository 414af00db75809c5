"""The command ``spmld``: its subcommands, and what they share."""

import sys
import warnings
from collections.abc import Sequence
from typing import Any

from spmld._io import need, shorten

INTERRUPTED = 130
"""Exit status after Ctrl-C."""


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and exit.

    The exit status is 0 on success, 2 for invalid usage or input, 1 for other errors such as no network, 3 after an
    alarm of ``spmld monitor``, and 130 after Ctrl-C.

    Parameters
    ----------
    args : sequence of str, optional
        Arguments. ``sys.argv[1:]`` by default.

    Examples
    --------
    >>> from spmld.app.commands import main
    >>> main(["--version"])
    Traceback (most recent call last):
    SystemExit: 0
    """
    unreadable: dict[str, Any] = {}  # values that cannot be read, which are counted over the blocks of a file

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        problem = getattr(message, "problem", None)  # of a TableWarning
        if problem is None:
            _print_error(f"warning: {message}", 0)
        elif ("strict", "True") in problem.options:
            old = unreadable.get(problem.column)
            unreadable[problem.column] = problem if old is None else old + problem
        else:
            _print_note(problem)

    with warnings.catch_warnings():
        warnings.showwarning = show
        try:
            click = need("click", "cli")
            need("rich", "cli")
            from spmld.app.commands.group import spmld

            status = spmld.main(args, prog_name="spmld", standalone_mode=False) or 0
        except KeyboardInterrupt as interruption:
            status = _print_error(str(interruption) or "interrupted", INTERRUPTED)
        except (ValueError, FileNotFoundError) as error:
            describe = getattr(error, "describe", None)  # of a TableError, one line for each problem
            status = _print_error(str(error), 2) if describe is None else 2
            if describe is not None:
                print("spmld:", describe(), file=sys.stderr)
        except (OSError, ImportError, MemoryError) as error:
            status = _print_error(str(error) or type(error).__name__, 1)
        except click.ClickException as error:
            error.show()
            status = error.exit_code
        except click.Abort as abort:  # click's name for Ctrl-C
            status = _print_error(str(abort.__cause__ or "") or "interrupted", INTERRUPTED)
        for problem in unreadable.values():
            _print_note(problem)
    raise SystemExit(status)


def _print_error(text: str, status: int) -> int:
    """Print an error as one line, even if a library's message has several, and return the exit status."""
    print("spmld:", *shorten(text).split(), file=sys.stderr)
    return status


def _print_note(problem: Any) -> None:
    """Print a note of a table as one line."""
    print("spmld: note:", *problem.describe(command_line=True).split(), file=sys.stderr)

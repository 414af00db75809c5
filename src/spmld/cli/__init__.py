"""The command ``spmld``: one file for each group of commands, which parses, calls and prints."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any

__all__ = ["main"]


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit status.

    0: done. 2: wrong use or wrong input. 1: anything else, such as no network. 130: stopped with Ctrl-C.

    Examples
    --------
    >>> from spmld.cli import main
    >>> main(["--version"])
    Traceback (most recent call last):
    SystemExit: 0
    """
    with warnings.catch_warnings():
        warnings.showwarning = _warn
        try:
            status = _run(args)
        except KeyboardInterrupt:
            status = _say("stopped", 130)
        except (ValueError, FileNotFoundError) as error:
            status = _say(str(error), 2)
        except (OSError, ImportError, MemoryError) as error:
            status = _say(str(error) or type(error).__name__, 1)
    raise SystemExit(status)


def _run(args: Sequence[str] | None) -> int:
    try:
        import click
        import rich  # noqa: F401
    except ImportError as error:
        return _say(f'{error.name} is not installed; it comes with: pip install "spmld[cli]"', 1)
    from spmld.cli.group import spmld

    try:
        return spmld.main(args, prog_name="spmld", standalone_mode=False) or 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None


def _say(text: str, status: int) -> int:
    """One line, whatever a library has put into its message."""
    print("spmld:", *text.split(), file=sys.stderr)
    return status


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    _say(f"warning: {message}", 0)

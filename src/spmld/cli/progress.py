"""How work goes on: a bar with the time left on a terminal, nothing where errors go to a pipe or a file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["steps", "working"]


@contextmanager
def steps(total: int, what: str) -> Iterator[Callable[[str], None]]:
    """A bar of `total` steps with the time left; call what it gives with a word on the next step when one is done."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeLeft())
    # Fits differ in length, so the estimate rests on the last hour and not on the last moments.
    with Progress(*columns, console=Console(stderr=True), speed_estimate_period=3600, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda text: bar.update(task, advance=1, description=f"{what}: {text}" if text else what)


@contextmanager
def working(what: str) -> Iterator[None]:
    """A sign of life and the time so far, for a single fit, which does not tell how far it is."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        bar.add_task(what, total=None)
        yield

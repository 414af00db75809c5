"""Progress bars, shown only if standard error is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress_bar", "spinner"]


@contextmanager
def progress_bar(total: int, title: str) -> Iterator[Callable[[str], None]]:
    """Show a bar with the time left; the yielded function advances the bar and sets the text after the title."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeLeft())
    # Fits differ in duration, so the estimate is based on the last hour rather than the last seconds.
    with Progress(*columns, console=Console(stderr=True), speed_estimate_period=3600, transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda text: bar.update(task, advance=1, description=f"{title}: {text}" if text else title)


@contextmanager
def spinner(title: str) -> Iterator[None]:
    """Show a spinner and the elapsed time, for work that does not report its progress."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        bar.add_task(title, total=None)
        yield

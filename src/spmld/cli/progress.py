"""Progress bars, shown only if standard error is a terminal that can redraw lines."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(total: int | None, title: str) -> Iterator[Callable[[str], None]]:
    """Show a bar with the time left; the yielded function advances the bar and sets the text after the title.

    A total of None shows a spinner and the elapsed time, for work that does not report its progress.
    """
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield lambda _: None
        return
    from rich import progress
    from rich.console import Console

    text, elapsed = progress.TextColumn("{task.description}"), progress.TimeElapsedColumn()
    bar = (text, progress.BarColumn(), progress.MofNCompleteColumn(), elapsed, progress.TimeRemainingColumn())
    columns = (progress.SpinnerColumn(), text, elapsed) if total is None else bar
    # Fits differ in duration, so the estimate is based on the last hour rather than the last seconds.
    with progress.Progress(*columns, console=Console(stderr=True), speed_estimate_period=3600, transient=True) as shown:
        task = shown.add_task(title, total=total)
        yield lambda text: shown.update(task, advance=1, description=f"{title}: {text}" if text else title)

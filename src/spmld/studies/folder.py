"""Folder that a report is written to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from spmld._io import writing
from spmld._table import TextTable


class ReportFolder:
    r"""Folder of a report. Each file is written completely or not at all.

    Parameters
    ----------
    path : path
        Folder. It is created if necessary.

    Attributes
    ----------
    written : list of Path
        Files written so far.

    Examples
    --------
    >>> import tempfile
    >>> from spmld._table import TextTable
    >>> from spmld.studies.folder import ReportFolder
    >>> with tempfile.TemporaryDirectory() as path:
    ...     folder = ReportFolder(path)
    ...     folder.write_csv("ranks", TextTable(["method", "rank"], [["SPMLD", 1.5]]))
    ...     folder.written[0].read_text()
    'method,rank\nSPMLD,1.5\n'
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        self.written: list[Path] = []

    def write_text(self, name: str, text: str) -> None:
        """Write a text file."""
        with writing(self.path / name) as part:
            part.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
        self.written.append(self.path / name)

    def write_csv(self, name: str, table: TextTable) -> None:
        """Write a table as a CSV file, unless it is empty."""
        if table.rows:
            self.write_text(f"{name}.csv", table.to_csv(digits=6))

    def write_figure(self, name: str, draw: Callable[..., Any], *arguments: Any) -> None:
        """Write the figure that a function returns, unless matplotlib is not installed."""
        try:
            figure = draw(*arguments)
        except ImportError:
            return
        file = self.path / f"{name}.png"
        with writing(file) as part:
            figure.savefig(part, dpi=130, metadata={"Software": None})
        figure.clear()
        self.written.append(file)

"""Where the report writes."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spmld._io import writing

__all__ = ["Folder"]


class Folder:
    r"""A folder that remembers what was written into it. Each file is complete or absent, whatever happens.

    Parameters
    ----------
    path : path
        It is made if need be.

    Attributes
    ----------
    written : list of Path
        The files.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.studies.folder import Folder
    >>> with tempfile.TemporaryDirectory() as path:
    ...     out = Folder(path)
    ...     out.table("ranks", ["method", "rank"], [["SPMLD", 1.5]])
    ...     out.written[0].read_text()
    'method,rank\nSPMLD,1.5\n'
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        self.written: list[Path] = []

    def text(self, name: str, text: str) -> None:
        """Write text."""
        with writing(self.path / name) as part:
            part.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
        self.written.append(self.path / name)

    def table(self, name: str, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Write a CSV file, unless there are no rows."""
        if not rows:
            return
        file = self.path / f"{name}.csv"
        with writing(file) as part, part.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(head)
            writer.writerows([f"{v:.6g}" if isinstance(v, float) else v for v in row] for row in rows)
        self.written.append(file)

    def figure(self, name: str, draw: Any, *arguments: Any, **options: Any) -> None:
        """Draw and save; without matplotlib there is no figure, and the page says so by not naming it."""
        try:
            figure = draw(*arguments, **options)
        except ImportError:
            return
        file = self.path / f"{name}.png"
        with writing(file) as part:
            figure.savefig(part, dpi=130, metadata={"Software": None})
        figure.clear()
        self.written.append(file)

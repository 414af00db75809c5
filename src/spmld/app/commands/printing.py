"""Messages, tables, JSON and progress bars on the terminal, and tables in files."""

import json
import math
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click

from spmld._frames import DataFrame
from spmld._io import need, writable, writing
from spmld._table import ArrayTable, TextTable, csv_text

OUTPUTS = ("out", "path", "target", "figure", "export", "checkpoint", "db", "report")
"""Parameters of commands whose files are written."""
MIN_SPACE = 1_000_000
"""Free space in bytes that every output needs."""
_EXTENSIONS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".xlsx": "excel",
    ".parquet": "parquet",
    ".json": "json",
    ".jsonl": "jsonl",
}
_MAX_UNBROKEN = 20  # characters of text that is not wrapped, such as the name of a label
_STYLES = {"good": "green", "bad": "red", "bold": "bold", "italic": "italic"}
DIGITS = 4
"""Number of decimals of a probability."""
MAX_COLUMNS = 10
"""Maximum number of columns of each kind that are named."""


def print_message(text: str) -> None:
    """Print a message to standard error."""
    click.echo(text, err=True)


def print_json(content: Any) -> None:
    """Print JSON to standard output."""
    click.echo(_to_json(content))


def print_table(table: TextTable) -> None:
    """Print a table: formatted on a terminal, tab-separated lines otherwise."""
    if not sys.stdout.isatty():
        click.echo(table.to_tsv())
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    # Without lines between the columns, tables with eight columns fit into 80 characters.
    shape: Any = {"box": SIMPLE_HEAD, "show_edge": False, "pad_edge": False, "padding": (0, 1, 0, 0)}
    output = Table(title=Text(table.title) if table.title else None, title_justify="left", **shape)
    output.caption = Text(table.note) if table.note else None
    output.caption_justify = "left"
    for i, (column, numeric) in enumerate(zip(table.columns, table.numeric, strict=True)):
        short = not numeric and max((len(row[i].text) for row in table.cells), default=0) <= _MAX_UNBROKEN
        shape = {"justify": "right" if numeric else "left", "overflow": "fold", "no_wrap": short}
        output.add_column(Text(column.replace("_", " ")), **shape)
    for row in table.cells:
        output.add_row(*(Text(cell.text, style=_STYLES.get(cell.mark, "")) for cell in row))
    Console().print(output)


def print_result(content: Any, table: TextTable, as_json: bool) -> None:
    """Print JSON or a table."""
    if as_json:
        print_json(content)
    else:
        print_table(table)


@contextmanager
def progress_bar(total: int | None, title: str) -> Iterator[Callable[[str], None]]:
    """Show a bar with the time left; the yielded function advances the bar and sets the text after the title.

    A total of None shows a spinner and the elapsed time, for work that does not report its progress. Nothing is shown
    unless standard error is a terminal that can redraw lines.
    """
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield lambda _: None
        return
    from rich import progress
    from rich.console import Console

    text = progress.TextColumn("{task.description}")
    elapsed = progress.TimeElapsedColumn()
    bar = (text, progress.BarColumn(), progress.MofNCompleteColumn(), elapsed, progress.TimeRemainingColumn())
    columns = (progress.SpinnerColumn(), text, elapsed) if total is None else bar
    # Fits differ in duration, so the estimate is based on the last hour rather than the last seconds.
    with progress.Progress(*columns, console=Console(stderr=True), speed_estimate_period=3600, transient=True) as shown:
        task = shown.add_task(title, total=total)
        yield lambda text: shown.update(task, advance=1, description=f"{title}: {text}" if text else title)


def list_columns(columns: dict[str, str]) -> str:
    """Return the columns of each kind, the kinds in the order of their first column.

    Examples
    --------
    >>> from spmld.app.commands.printing import list_columns
    >>> list_columns({"tempo": "number", "released": "date (ISO 8601)", "price": "number"})
    'number: tempo, price; date (ISO 8601): released'
    """
    by_kind: dict[str, list[str]] = {}
    for name, kind in columns.items():
        by_kind.setdefault(kind, []).append(name)
    return "; ".join(f"{kind}: {list_first(names, MAX_COLUMNS)}" for kind, names in by_kind.items())


def list_first(names: list[str], maximum: int = 5) -> str:
    """Return the first names, and the number of the others.

    Examples
    --------
    >>> from spmld.app.commands.printing import list_first
    >>> list_first(["sad", "calm", "loud"], 2)
    'sad, calm and 1 more'
    """
    more = f" and {len(names) - maximum} more" if len(names) > maximum else ""
    return ", ".join(names[:maximum]) + more


def check_output_path(out: str | None, force: bool) -> str | None:
    """Return the path; raise an error, before any work is done, if a file cannot be written."""
    if out is None:
        return None
    file = writable(out)
    context = click.get_current_context(silent=True)
    if context is not None and file.exists():
        arguments = [value for name, value in context.params.items() if name not in OUTPUTS]
        paths = [value for value in arguments if isinstance(value, (str, Path)) and Path(value).exists()]
        if any(os.path.samefile(path, out) for path in paths):
            raise ValueError(
                f"{out} is also an input of the command, which would be lost; pass the name of another file"
            )
    if file.exists() and not force:
        raise ValueError(f"{out} already exists; use --force to overwrite it")
    if not os.access(file if file.exists() else file.parent, os.W_OK) or not os.access(file.parent, os.W_OK):
        raise PermissionError(f"cannot write {file}: permission denied; choose another folder")
    free = shutil.disk_usage(file.parent).free
    if free < MIN_SPACE:
        raise OSError(f"cannot write {file}: only {free / 1e6:,.1f} MB are free; free some space or use another folder")
    return out


def output_format(path: str | None, as_json: bool, force: bool) -> str:
    """Return the format of a table in a file, or on standard output, which --out, --json and --force choose.

    Examples
    --------
    >>> from spmld.app.commands.printing import output_format
    >>> output_format("tags.tsv", False, True), output_format(None, True, False)
    ('csv', 'json')
    """
    extension = ".csv" if path is None else Path(path).suffix.lower()
    kind = "json" if as_json else _EXTENSIONS.get(extension)
    if kind is None:
        raise ValueError(f'unknown file extension "{extension}" of {path}; supported: {", ".join(_EXTENSIONS)}')
    check_output_path(path, force)
    return kind


def write_tables(tables: Iterable[TextTable | ArrayTable], path: str | None, kind: str) -> None:
    """Write or print tables with the same columns as one table, block by block."""
    if kind in ("parquet", "excel"):
        (_write_parquet if kind == "parquet" else _write_excel)(tables, str(path))
        return
    tabs = path is not None and path.lower().endswith(".tsv")
    texts = _json_blocks(tables, kind)
    if kind == "csv":
        texts = (table.to_csv(delimiter="\t" if tabs else ",", header=i == 0) for i, table in enumerate(tables))
    if path is None:
        for text in texts:
            click.echo(text, nl=False)
        return
    with writing(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        file.writelines(texts)


def _json_blocks(tables: Iterable[TextTable | ArrayTable], kind: str) -> Iterator[str]:
    """Yield the rows as JSON lines, or as the parts of a list."""
    start = "["
    for table in tables:
        for row in table.rows:
            record = _to_json(dict(zip(table.columns, row, strict=True)), indent=None)
            yield f"{record}\n" if kind == "jsonl" else f"{start}\n  {record}"
            start = ","
    if kind == "json":
        yield "[]\n" if start == "[" else "\n]\n"


def _to_frame(table: TextTable | ArrayTable) -> DataFrame:
    return need("pandas").DataFrame([list(row) for row in table.rows], columns=list(table.columns))


def _write_excel(tables: Iterable[TextTable | ArrayTable], path: str) -> None:
    """Write a workbook with one sheet; text that Excel would run as a formula starts with an apostrophe."""
    need("openpyxl")
    frame = need("pandas").concat(map(_to_frame, tables)).map(csv_text)
    with writing(path) as part, part.open("wb") as file:
        frame.rename(columns=csv_text).to_excel(file, index=False)


def _write_parquet(tables: Iterable[TextTable | ArrayTable], path: str) -> None:
    pyarrow = need("pyarrow")
    parquet = need("pyarrow.parquet")
    writer = None
    with writing(path) as part, ExitStack() as stack:
        for table in tables:
            frame = _to_frame(table)
            schema = None if writer is None else writer.schema
            content = pyarrow.Table.from_pandas(frame, schema=schema, preserve_index=False)
            writer = writer or stack.enter_context(parquet.ParquetWriter(part, content.schema))
            writer.write_table(content)


def _to_json(content: Any, indent: int | None = 2) -> str:
    return json.dumps(_finite(content), indent=indent, ensure_ascii=False, allow_nan=False)


def _finite(content: Any) -> Any:
    """Replace NaN and infinity, which JSON does not support, by None."""
    if isinstance(content, dict):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def metric_title(name: str) -> str:
    """Return the name of a metric as text.

    Examples
    --------
    >>> from spmld.app.commands.printing import metric_title
    >>> metric_title("macro_auc"), metric_title("ranking_loss")
    ('AUC', 'ranking loss')
    """
    titles = {"label_ranking_average_precision": "average precision", "macro_auc": "AUC"}
    return titles.get(name, name.replace("_", " "))

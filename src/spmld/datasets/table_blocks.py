"""Reading tables in blocks of rows, in memory that does not grow with the file."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from spmld._io import StrPath, need, reading
from spmld.datasets.raw_tables import (
    csv_options,
    open_text,
    read_table,
    sizes_of_parquet,
    table_format,
    with_clean_names,
    without_blank_rows,
)

BLOCK_ROWS = 20_000
"""Number of rows of a block."""


def read_table_blocks(
    path: StrPath, *, format: str | None = None, n_rows: int = BLOCK_ROWS, encoding: str = "utf-8", **options: Any
) -> Iterator[Any]:
    r"""Yield a table in blocks of rows. Other formats than CSV and Parquet are read whole and are one block.

    The types of the columns are the same in all blocks: a CSV file with more than one block is read twice, first for
    the types.

    Parameters
    ----------
    path, format, encoding, **options
        As in `read_table`.
    n_rows : int, default=20000
        Number of rows of a block.

    Yields
    ------
    DataFrame

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets.table_blocks import read_table_blocks
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     print("title,tempo", "Blue,60", "Red,80", "Green,", sep="\n", file=file, flush=True)
    ...     [block.tempo.tolist() for block in read_table_blocks(file.name, n_rows=2)]
    [[60.0, 80.0], [nan]]
    """
    kind = format or table_format(path)
    if kind == "csv" and options.get("sheet") is None:
        with reading(path, "a CSV file") as file:
            for block in _csv_blocks(file, n_rows, encoding, options.get("sep"), options.get("decimal")):
                yield with_clean_names(without_blank_rows(block))
    elif kind == "parquet" and not options:
        with (
            reading(path, "a Parquet file") as file,
            sizes_of_parquet(),
            need("pyarrow.parquet").ParquetFile(file) as table,
        ):
            for batch in table.iter_batches(n_rows) if table.metadata.num_rows else [table.read()]:
                yield with_clean_names(batch.to_pandas())
    else:
        yield read_table(path, format=format, encoding=encoding, **options)


def _csv_blocks(file: Path, n_rows: int, encoding: str, sep: str | None, decimal: str | None) -> Iterator[Any]:
    pandas, options = need("pandas"), csv_options(file, encoding, sep, decimal)
    types: dict[str, set[Any]] = {}
    with open_text(file, encoding) as lines, pandas.read_csv(lines, chunksize=n_rows, **options) as blocks:
        first, second = next(blocks, None), next(blocks, None)
        if second is None:
            yield first
            return
        for block in chain((first, second), blocks):
            for name, dtype in block.dtypes.items():
                types.setdefault(name, set()).add(dtype)
    common = {name: _common_type(found) for name, found in types.items() if len(found) > 1}
    options["dtype"] |= {name: dtype for name, dtype in common.items() if dtype is not None}
    with (
        open_text(file, encoding) as lines,
        pandas.read_csv(lines, chunksize=n_rows, **options) as blocks,
    ):
        yield from blocks


def _common_type(dtypes: set[Any]) -> type | None:
    """Return the type of a column whose blocks have several; None for truth values, which may be missing in a block."""
    kinds = {getattr(dtype, "kind", "O") for dtype in dtypes}
    if kinds <= set("iuf"):
        return float
    return None if kinds == {"b", "f"} else str

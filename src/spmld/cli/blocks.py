"""Data in blocks of samples, so that predictions of large files need little memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from spmld.cli.loading import MatchedData, Source
from spmld.datasets.files import file_format
from spmld.datasets.libsvm import read_libsvm_blocks
from spmld.datasets.tables import BLOCK_ROWS, read_table_blocks

if TYPE_CHECKING:
    from spmld.persistence import ModelInfo


def match_blocks(source: Source, path: str, info: ModelInfo) -> Iterator[MatchedData]:
    """Yield blocks of samples, without labels, in the form that the model in the file `path` expects.

    CSV, Parquet and LIBSVM files are read in blocks, other formats whole.
    """
    kind = source.table_kind
    if not source.options.keys() - {"format"} and _is_libsvm(source, info) and source.part in (None, "all"):
        names = info.label_names or [f"y{i}" for i in range(info.n_labels or 0)]
        for X in read_libsvm_blocks(source.path, info.n_features or 0, BLOCK_ROWS):
            yield MatchedData(X, None, names)
        return
    if kind is None or info.feature_names is None or source.part not in (None, "all"):
        whole = source.match(path, info, labels=False)
        n = whole.X.shape[0]
        for rows in [slice(start, start + BLOCK_ROWS) for start in range(0, n, BLOCK_ROWS)]:
            samples = None if whole.sample_names is None else whole.sample_names[rows]
            yield whole if n <= BLOCK_ROWS else replace(whole, X=whole.X[rows], sample_names=samples)
        return
    offset = 0
    for frame in read_table_blocks(source.path, format=kind, n_rows=BLOCK_ROWS, **source.file_options(kind)):
        yield source.match_table(frame, kind, info, labels=False, offset=offset)
        offset += len(frame)


def _is_libsvm(source: Source, info: ModelInfo) -> bool:
    """Return whether a file has the format LIBSVM, and the features of the model have its names, or none."""
    kind = file_format(source.path, source.options.get("format"))
    if info.n_features is None or kind not in ("libsvm", "xc") or not Path(source.path).is_file():
        return False
    return info.feature_names in (None, [f"x{i}" for i in range(info.n_features)])

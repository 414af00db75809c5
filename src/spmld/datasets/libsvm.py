"""Multi-label LIBSVM files, and files of the extreme-classification repository, whose first line has the sizes."""

import re
from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from spmld._io import StrPath, reading
from spmld.datasets.dataset import Dataset, check_sizes

_ZERO, _COMMENT = re.compile(rb"\s0+:"), re.compile(rb"#[^\n]*")
"""The index 0 of a feature, and a comment."""


def read_libsvm(path: StrPath) -> Dataset:
    r"""Read a LIBSVM or extreme-classification file.

    A line is ``label,label feature:value feature:value``; labels that are not listed are negative. If the first
    line is ``n_samples n_features n_labels``, as in the extreme-classification repository, indices start at 0 and the
    sizes are checked. Otherwise the labels are those in the file, named by their numbers, and the indices of features
    start at 1 unless there is a 0. Features are sparse.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets import read_dataset
    >>> with tempfile.NamedTemporaryFile("w", suffix=".svm") as file:
    ...     print("3,7 1:0.5 2:1", "7 2:2", sep="\n", file=file, flush=True)
    ...     data = read_dataset(file.name)
    >>> data.label_names, data.Y.tolist(), data.X.toarray().tolist()
    (['3', '7'], [[1, 1], [0, 1]], [[0.5, 1.0], [0.0, 2.0]])
    """
    with reading(path, "a LIBSVM file") as file:
        content = file.read_bytes()
        first, _, rest = content.partition(b"\n")
        sizes = _read_sizes(first)
        if sizes:
            check_sizes(*sizes, len(rest))
            content = _fill_empty_lines(rest)
        n_features, from_zero = (sizes[1], True) if sizes else (None, "auto")
        X, lines = load_svmlight_file(BytesIO(content), n_features=n_features, multilabel=True, zero_based=from_zero)
        if not lines:
            raise ValueError("the file has no samples")
        labels = np.unique([label for line in lines for label in line])
        if sizes:
            labels = _check_stated_sizes(sizes, len(lines), labels)
        if not len(labels):
            raise ValueError("the file has no labels")
        check_sizes(len(lines), X.shape[1], len(labels), len(content))
        Y = np.zeros((len(lines), len(labels)), dtype=np.int64)
        for i, line in enumerate(lines):
            Y[i, np.searchsorted(labels, line)] = 1
        return Dataset(X, Y, label_names=[] if sizes else [f"{label:g}" for label in labels], name=file.stem)


def _check_stated_sizes(sizes: tuple[int, int, int], n_samples: int, labels: NDArray[Any]) -> NDArray[Any]:
    """Return all labels that the first line states, or raise ValueError if the file has others."""
    n, _, l = sizes
    if n_samples != n:
        raise ValueError(f"the first line specifies {n} samples, but the file has {n_samples}")
    others = np.setdiff1d(labels, np.arange(l))
    if others.size:
        raise ValueError(
            f"the first line specifies {l} labels, from 0 to {l - 1}, but there is a label {others.max():g}"
        )
    return np.arange(l)


def read_libsvm_blocks(path: StrPath, n_features: int, n_rows: int) -> Iterator[Any]:
    r"""Yield the features of a LIBSVM or extreme-classification file in blocks of samples. Labels are ignored.

    Parameters
    ----------
    path : str or path-like
        File, as in `read_libsvm`.
    n_features : int
        Number of features. Features that do not occur in a LIBSVM file are 0.
    n_rows : int
        Number of lines of a block.

    Yields
    ------
    sparse matrix of shape (n_rows, n_features)

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets.libsvm import read_libsvm_blocks
    >>> with tempfile.NamedTemporaryFile("w", suffix=".svm") as file:
    ...     print("3,7 1:0.5 2:1", "7 2:2", "3 1:1", sep="\n", file=file, flush=True)
    ...     [X.toarray().tolist() for X in read_libsvm_blocks(file.name, 2, n_rows=2)]
    [[[0.5, 1.0], [0.0, 2.0]], [[1.0, 0.0]]]
    """
    with reading(path, "a LIBSVM file") as file, file.open("rb") as lines:
        sizes, n_read = _read_sizes(lines.readline()), 0
        if sizes and sizes[1] != n_features:
            raise ValueError(f"the first line specifies {sizes[1]} features, expected {n_features}")
        from_zero = sizes is not None
        if not sizes:
            lines.seek(0)
            from_zero = any(_ZERO.search(_COMMENT.sub(b"", block)) for block in _line_blocks(lines, n_rows))
            lines.seek(0)
        for block in _line_blocks(lines, n_rows):
            content = _fill_empty_lines(block) if sizes else block
            X, _ = load_svmlight_file(BytesIO(content), n_features=n_features, multilabel=True, zero_based=from_zero)
            n_read += X.shape[0]
            if X.shape[0]:
                yield X
        if not n_read:
            raise ValueError("the file has no samples")
        if sizes and n_read != sizes[0]:
            raise ValueError(f"the first line specifies {sizes[0]} samples, but the file has {n_read}")


def _line_blocks(lines: BinaryIO, n_rows: int) -> Iterator[bytes]:
    while block := b"".join(islice(lines, n_rows)):
        yield block


def _read_sizes(line: bytes) -> tuple[int, int, int] | None:
    """Return the numbers of samples, features and labels, if the line has them."""
    sizes = re.fullmatch(rb"\s*(\d+)\s+(\d+)\s+(\d+)\s*", line)
    return None if sizes is None else (int(sizes[1]), int(sizes[2]), int(sizes[3]))


def _fill_empty_lines(content: bytes) -> bytes:
    """Replace empty lines, which are samples without labels and features, and which load_svmlight_file would skip."""
    return b"\n".join(line if line.strip() else b" 0:0" for line in content.removesuffix(b"\n").split(b"\n"))

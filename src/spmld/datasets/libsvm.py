"""Multi-label LIBSVM files, and files of the extreme-classification repository, whose first line has the sizes."""

import codecs
import re
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Literal

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from spmld._io import StrPath, reading
from spmld.datasets.dataset import Dataset, check_sizes
from spmld.tables.numbers import MAX_EXACT


def read_libsvm(path: StrPath) -> Dataset:
    r"""Read a LIBSVM or extreme-classification file.

    A line is ``label,label feature:value feature:value``; labels are integers of any size, and those that are not
    listed are negative. If the first
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
        X, lines, n_labels = _parse(file)
        labels = sorted({label for line in lines for label in line})
        if n_labels is not None:
            others = [label for label in labels if not 0 <= label < n_labels]
            if others:
                stated = f"the first line specifies {n_labels} labels, from 0 to {n_labels - 1}"
                raise ValueError(f"{stated}, but there is a label {others[-1]}")
        if not labels and n_labels is None:
            raise ValueError("the file has no labels")
        count = len(labels) if n_labels is None else n_labels
        check_sizes(len(lines), X.shape[1], count, file.stat().st_size)
        places = {label: j for j, label in enumerate(labels if n_labels is None else range(n_labels))}
        Y = np.zeros((len(lines), count), dtype=np.int64)
        for i, line in enumerate(lines):
            Y[i, [places[label] for label in line]] = 1
        names = list(map(str, labels)) if n_labels is None else []
        return Dataset(X, Y, label_names=names, name=file.stem)


def read_libsvm_features(path: StrPath, n_features: int) -> sp.csr_matrix:
    r"""Return the features of a LIBSVM or extreme-classification file as a sparse matrix. Labels are ignored.

    Features that do not occur in a LIBSVM file are 0.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets.libsvm import read_libsvm_features
    >>> with tempfile.NamedTemporaryFile("w", suffix=".svm") as file:
    ...     print("3,7 1:0.5 2:1", "7 2:2", sep="\n", file=file, flush=True)
    ...     read_libsvm_features(file.name, 3).toarray().tolist()
    [[0.5, 1.0, 0.0], [0.0, 2.0, 0.0]]
    """
    with reading(path, "a LIBSVM file") as file:
        return _parse(file, n_features)[0]


def _parse(file: Path, n_features: int | None = None) -> tuple[sp.csr_matrix, list[list[int]], int | None]:
    """Return the features, the labels of each sample, and the number of labels, if the first line has it."""
    lines = file.read_bytes().removeprefix(codecs.BOM_UTF8).split(b"\n")
    sizes = re.fullmatch(rb"\s*(\d+)\s+(\d+)\s+(\d+)\s*", lines[0])
    if sizes:
        n, d, l = map(int, sizes.groups())
        if n_features not in (None, d):
            raise ValueError(f"the first line specifies {d} features, expected {n_features}")
        check_sizes(n, d, l, sum(map(len, lines[1:])) + len(lines) - 2)
        n_features = d
        # Empty lines are samples without labels and features, which load_svmlight_file would skip.
        samples = lines[1:-1] if lines[-1] == b"" else lines[1:]
        lines = [b"", *(line if line.strip() else b" 0:0" for line in samples)]
    filled = ((number, line) for number, line in enumerate(lines, start=1) if line.partition(b"#")[0].strip())
    labels = [_read_labels(number, line) for number, line in filled]
    if not labels:
        raise ValueError("the file has no samples")
    X = _read_features(lines, n_features, True if sizes else "auto")
    if sizes and len(labels) != n:
        raise ValueError(f"the first line specifies {n} samples, but the file has {len(labels)}")
    return X, labels, l if sizes else None


def _read_labels(number: int, line: bytes) -> list[int]:
    """Return the labels at the beginning of a line, which load_svmlight_file would round."""
    field = line.partition(b"#")[0].split(None, 1)[0].decode(errors="replace")
    if ":" in field:
        return []
    try:
        return [_read_integer(text) for text in field.split(",")]
    except ValueError:
        raise ValueError(f"line {number}: labels must be integers separated by commas, got {field[:80]!r}") from None


def _read_integer(text: str) -> int:
    """Return an integer, which may be written as a float such as 3.0 or 1e+09 if floats of its size are exact."""
    if text.lstrip("+-").isdecimal():
        return int(text)
    number = float(text)
    if "_" in text or not number.is_integer() or abs(number) > MAX_EXACT:
        raise ValueError
    return int(number)


def _read_features(lines: Sequence[bytes], n_features: int | None, zero_based: bool | Literal["auto"]) -> sp.csr_matrix:
    """Return the features; an error names the first line that cannot be read."""

    def load(part: Sequence[bytes]) -> sp.csr_matrix:
        content = BytesIO(b"\n".join(part))
        return load_svmlight_file(content, n_features=n_features, multilabel=True, zero_based=zero_based)[0]

    try:
        return load(lines)
    except (ArithmeticError, ValueError):
        for number, line in enumerate(lines, start=1):
            try:
                load([line])
            except (ArithmeticError, ValueError) as error:
                shown = line.decode(errors="replace")[:80]
                raise ValueError(f"line {number}: expected labels and index:value, got {shown!r} ({error})") from None
        raise

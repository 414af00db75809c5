"""Raises MemoryError before a fit that does not fit into memory."""

from math import inf
from pathlib import Path
from typing import Any

GIB = 2**30


def available_memory() -> float:
    """Return the bytes that can still be allocated; infinity if the system does not report them."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError, IndexError):
        return inf


def check_memory(estimator: Any, X: Any, y: Any, mapped: int = 0) -> None:
    """Raise MemoryError if the labels y and the numbers of a fit to X do not fit into memory.

    `mapped` is the number of bytes of X that are in a file, and that a fit reads into memory.
    """
    (n, d), l = X.shape, y.shape[1] if len(getattr(y, "shape", ())) == 2 else 1
    n_bytes = 3 * n * l + X.dtype.itemsize * estimator._n_numbers(n, d, l) + mapped
    available = available_memory()
    if n_bytes > available:
        name = type(estimator).__name__
        chunks = "pass dask.array.from_array(X) to read X in chunks, " if mapped else ""
        raise MemoryError(
            f"{name} needs about {n_bytes / GIB:.1f} GiB for {n} samples, {d} features and {l} labels, and "
            f"{available / GIB:.1f} GiB are available; {chunks}select features, use fewer labels, or convert X to "
            "float32"
        )

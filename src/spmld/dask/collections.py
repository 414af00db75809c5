"""Row blocks of Dask arrays and data frames, as futures on the workers."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from spmld._io import need
from spmld.dask.engine import DaskEngine
from spmld.estimators.block_data import BlockData, as_features, feature_names, make_data


def active_client() -> Any:
    """Return the active client of Dask."""
    try:
        return need("distributed", "dask").get_client()
    except ValueError:
        raise ValueError(
            "no Dask client is active; start one with distributed.Client() on this machine, or with "
            "distributed.Client(address) for a running scheduler"
        ) from None


def is_collection(X: Any) -> bool:
    """Return whether X is a Dask array or data frame."""
    return type(X).__module__.startswith("dask") and hasattr(X, "to_delayed")


def collect(client: Any, X: Any, y: Any, mask: Any = None, entry_weight: Any = None) -> BlockData:
    """Load the blocks of collections on the workers, and validate them. Empty blocks are left out."""
    if not is_collection(X):
        raise TypeError(f"X must be a Dask array or data frame, got {type(X).__name__}; use dask.array.from_array")
    if y is None:
        raise ValueError("y is required, got None")
    if hasattr(X, "rechunk") and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    groups = place(len(_delayed(X)), _workers(client))
    engine = DaskEngine(client, [group for _, group in groups])
    blocks = engine.map(as_features, _load(client, X, groups))
    counts = engine.gather(engine.map(_n_rows, blocks))
    parts = {"Y": y, "mask": mask, "entry_weight": entry_weight}
    parts = {name: _load_like(client, A, X, groups, name) if is_collection(A) else A for name, A in parts.items()}
    for name, part in parts.items():
        if isinstance(part, tuple) and engine.gather(engine.map(_n_rows, part)) != counts:
            raise ValueError(f"X and {name} must have blocks of the same numbers of rows; rechunk {name} like X")
    keep = [i for i, count in enumerate(counts) if count]
    if not keep:
        raise ValueError("X must have at least one sample, got no rows")
    engine = DaskEngine(client, _without_empty(groups, counts))
    chosen = {name: tuple(part[i] for i in keep) if isinstance(part, tuple) else part for name, part in parts.items()}
    X_blocks, sizes = tuple(blocks[i] for i in keep), tuple(counts[i] for i in keep)
    data = make_data(engine, X_blocks, chosen["Y"], sizes, chosen["mask"], chosen["entry_weight"])
    return data.name_features(feature_names(X))


def _workers(client: Any, timeout: int = 60) -> list[str]:
    """Return the addresses of the workers; waits for the first one."""
    try:
        client.wait_for_workers(1, timeout=timeout)
    except TimeoutError:
        raise ValueError(f"the Dask cluster has no workers after {timeout} s; start some, then fit again") from None
    return sorted(client.nthreads())


def place(n_blocks: int, workers: Sequence[str]) -> list[tuple[str, slice]]:
    """Return a worker for each group of consecutive blocks.

    Examples
    --------
    >>> from spmld.dask.collections import place
    >>> place(5, ["a", "b"])
    [('a', slice(0, 3, None)), ('b', slice(3, 5, None))]
    """
    parts = zip(workers, np.array_split(np.arange(n_blocks), len(workers)), strict=True)
    return [(worker, slice(int(part[0]), int(part[-1]) + 1)) for worker, part in parts if len(part)]


def _without_empty(groups: Sequence[tuple[str, slice]], counts: Sequence[int]) -> list[slice]:
    """Return the groups of the blocks that are not empty."""
    sizes = [sum(1 for count in counts[group] if count) for _, group in groups]
    ends = np.cumsum(sizes).tolist()
    return [slice(end - size, end) for end, size in zip(ends, sizes, strict=True) if size]


def _delayed(A: Any) -> list[Any]:
    """Return the blocks. Optimization could join small partitions of X and not those of Y."""
    return list(np.ravel(A.to_delayed(optimize_graph=not hasattr(A, "map_partitions"))))


def _load(client: Any, A: Any, groups: Sequence[tuple[str, slice]]) -> tuple[Any, ...]:
    """Return futures of the blocks of a collection, each on its worker if that is available."""
    blocks, futures = _delayed(A), []
    for worker, group in groups:
        futures += client.compute(blocks[group], workers=[worker], allow_other_workers=True)
    return tuple(futures)


def _load_like(client: Any, A: Any, X: Any, groups: Sequence[tuple[str, slice]], name: str) -> tuple[Any, ...]:
    """Load a collection in blocks of the same rows as those of X."""
    known = hasattr(X, "chunks") and not any(np.isnan(X.chunks[0]))
    if known and hasattr(A, "rechunk") and not any(np.isnan(A.chunks[0])):
        if A.shape[0] != X.shape[0]:
            raise ValueError(
                f"X and {name} must have the same number of samples, got inconsistent numbers: "
                f"{X.shape[0]} and {A.shape[0]}"
            )
        A = A.rechunk((X.chunks[0], *((-1,) * (A.ndim - 1))))
    if len(_delayed(A)) != groups[-1][1].stop:
        raise ValueError(
            f"X and {name} must have the same number of blocks, got {groups[-1][1].stop} and {len(_delayed(A))}; "
            f"rechunk {name} like X"
        )
    return _load(client, A, groups)


def _n_rows(A: Any) -> int:
    return int(A.shape[0])

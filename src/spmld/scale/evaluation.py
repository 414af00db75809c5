"""Metrics of a fitted estimator on Dask collections, block by block."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from spmld._io import need
from spmld.metrics.evaluation import MetricSums
from spmld.scale.cluster import FAN_IN
from spmld.scale.inputs import chunks_like, delayed_blocks, is_collection, n_rows, read_signs

MAX_RANKED = 200_000
"""Maximum number of samples from which metrics are computed that depend on the order of all samples."""


def evaluate(estimator: Any, X: Any, Y: Any, *, k: int | Iterable[int] = (1, 3, 5)) -> Any:
    """Compute all metrics of a fitted estimator on Dask collections, lazily and block by block.

    Means over samples and entries are sums over the blocks. The area under the ROC curve and the average precision of
    labels and of all entries depend on the order of all samples; they are those of at most 200,000 evenly spaced
    samples.

    Parameters
    ----------
    estimator : fitted estimator of `spmld`
        The model, which is sent to the workers.
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
        Samples.
    Y : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_labels)
        True labels, NaN where missing, in the encoding of the training labels.
    k : int or iterable of int, default=(1, 3, 5)
        Numbers of highest-scored labels to consider in metrics "at k".

    Returns
    -------
    dask.delayed.Delayed
        Its method ``compute`` returns a `spmld.metrics.Evaluation`.

    Examples
    --------
    >>> import dask.array as da
    >>> from spmld import MaskedLogistic
    >>> from spmld.scale import evaluate
    >>> from spmld.datasets import make_planted
    >>> data = make_planted(n_samples=300, random_state=0)
    >>> model = MaskedLogistic().fit(data.X, data.Y)
    >>> X, Y = (da.from_array(A, chunks=(100, -1)) for A in (data.X, data.Y))
    >>> bool(evaluate(model, X, Y).compute(scheduler="sync")["ranking_loss"] < 0.1)
    True
    """
    delayed = need("dask", "dask").delayed
    if not is_collection(X) or not is_collection(Y):
        raise TypeError(
            f"X and Y must be Dask arrays or data frames, got {type(X).__name__} and {type(Y).__name__}; "
            "use spmld.metrics.evaluate for data in memory"
        )
    X = X.rechunk({1: -1}) if hasattr(X, "rechunk") and X.numblocks[1] > 1 else X
    blocks = list(zip(delayed_blocks(X), chunks_like(Y, X, "Y"), strict=True))
    model, counts = delayed(estimator), delayed([delayed(n_rows)(Y) for _, Y in blocks])
    ks = (k,) if isinstance(k, int | np.integer) else tuple(k)
    parts = [delayed(_block_sums)(model, *block, counts, i, ks) for i, block in enumerate(blocks)]
    while len(parts) > 1:
        parts = [delayed(_add)(parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
    return delayed(MetricSums.evaluation)(parts[0])


def _block_sums(model: Any, X: Any, Y: Any, counts: Sequence[int], i: int, ks: tuple[int, ...]) -> MetricSums | None:
    """Return the sums of a block; None if it has no samples."""
    if not counts[i]:
        return None
    form = model._labels
    labels = replace(form, signs=read_signs(Y, None, form))
    step = -(-sum(counts) // MAX_RANKED)
    return MetricSums.of(
        labels,
        scores=_matrix(model.decision_function(X)),
        predictions=_matrix(model.predict(X)) == form.classes[1],
        probabilities=_matrix(model.predict_proba(X))[:, -labels.shape[1] :],
        k=ks,
        rows=slice(-sum(counts[:i]) % step, None, step),
    )


def _matrix(values: Any) -> Any:
    values = np.asarray(values)
    return values[:, None] if values.ndim == 1 else values


def _add(parts: Sequence[MetricSums | None]) -> MetricSums | None:
    """Add the sums of the blocks that have samples."""
    present = [part for part in parts if part is not None]
    return reduce(add, present) if present else None

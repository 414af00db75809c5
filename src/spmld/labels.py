"""Labels with missing entries: what counts as positive, negative and unobserved.

This is the only place that knows the encodings. Everywhere else labels are *signs*: +1, -1, and 0 where unobserved.

===================== ==========================================================================================
given                 read as
===================== ==========================================================================================
0 and 1, or bool      negative and positive
-1 and +1             negative and positive
NaN, None, ``pd.NA``  unobserved
masked array          masked entries are unobserved
``mask=``             False is unobserved, and what stands there is not read
sparse matrix         stored entries are labels, absent ones are negatives, or what ``mask`` says
-1, 0 and 1 together  refused: 0 may mean negative or unobserved, see `decode_missing`
===================== ==========================================================================================
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

__all__ = ["Labels", "corrupt_labels", "decode_missing", "hide_labels", "observed", "read_labels"]

_ACCEPTED = "0/1, -1/+1 or bool, with NaN, None, pd.NA, a masked array or mask= for what is missing"


@dataclass(frozen=True)
class Labels:
    """Labels as signs, and what is needed to give answers in the form they came in.

    Attributes
    ----------
    signs : ndarray of shape (n_samples, n_labels), int8
        +1, -1, and 0 where unobserved.
    classes : ndarray of shape (2,)
        How a negative and a positive were written.
    names : list of str or None
        Column names, if there were any.
    one_dimensional : bool
        Whether a vector was given, for one label.
    """

    signs: NDArray[np.int8]
    classes: NDArray[Any]
    names: list[Any] | None = None
    one_dimensional: bool = False

    @property
    def observed(self) -> NDArray[np.bool_]:
        """Where a label is known."""
        return self.signs != 0

    def write(self, signs: NDArray[Any]) -> NDArray[Any]:
        """Signs without missing entries, written as the labels were given."""
        values = self.classes[(np.asarray(signs) > 0).astype(np.intp)]
        return values[:, 0] if self.one_dimensional else values


def read_labels(Y: Any, mask: Any = None, *, name: str = "Y") -> Labels:
    """Read labels in any accepted form.

    Parameters
    ----------
    Y : array-like, DataFrame, masked array or sparse matrix of shape (n_samples, n_labels) or (n_samples,)
        Labels. A vector is one label, and its two values may be of any type.
    mask : array-like of bool of the same shape, optional
        True where a label is observed.
    name : str
        What error messages call `Y`.

    Returns
    -------
    Labels

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.labels import read_labels
    >>> read_labels([[1, 0], [np.nan, 1]]).signs
    array([[ 1, -1],
           [ 0,  1]], dtype=int8)
    """
    if sp.issparse(Y):
        return _read_sparse(Y, mask, name)
    names = list(Y.columns) if hasattr(Y, "columns") else None
    values, known = _to_array(Y, name)
    if values.ndim == 0:
        raise ValueError(f"{name} must have shape (n_samples, n_labels) or (n_samples,), got a single value: {Y!r}")
    if values.ndim > 2:
        raise ValueError(f"{name} must have shape (n_samples, n_labels) or (n_samples,), got {values.shape}")
    if mask is not None:
        known = known & _read_mask(mask, values.shape)
    one_dimensional = values.ndim == 1
    if one_dimensional:
        values, known = values[:, None], known[:, None]
    complete = known.all()
    seen = values if complete else values[known]
    if seen.size == 0:
        raise ValueError(f"{name} has no observed entry: all {values.size} are missing. Accepted: {_ACCEPTED}")
    classes = _classes(seen, one_dimensional, name)
    signs = np.where(seen == classes[1], np.int8(1), np.int8(-1))
    if not complete:
        known_signs, signs = signs, np.zeros(values.shape, dtype=np.int8)
        signs[known] = known_signs
    return Labels(signs, classes, names, one_dimensional)


def observed(Y: Any, mask: Any = None) -> NDArray[np.bool_]:
    """Where `Y` is observed.

    Examples
    --------
    >>> from spmld.labels import observed
    >>> observed([[1, None], [0, 1]])
    array([[ True, False],
           [ True,  True]])
    """
    return read_labels(Y, mask).observed


def decode_missing(Y: Any, missing: Literal[0, -1] = 0) -> Any:
    """Turn labels in {-1, 0, 1}, where one value means missing, into labels with NaN.

    Parameters
    ----------
    Y : array-like, DataFrame or sparse matrix
        Labels in {-1, 0, 1}.
    missing : {0, -1}
        The value that means missing. With 0 the labels are -1 and +1, with -1 they are 0 and 1.

    Returns
    -------
    ndarray or DataFrame of float
        The labels as 0 and 1, NaN where missing.

    Examples
    --------
    >>> from spmld.labels import decode_missing
    >>> decode_missing([[1, 0], [-1, 1]], missing=0)
    array([[ 1., nan],
           [ 0.,  1.]])
    """
    if missing not in (0, -1):
        raise ValueError(f"missing must be 0 or -1, got {missing!r}")
    values = np.asarray(Y.toarray() if sp.issparse(Y) else Y, dtype=float)
    if not np.isin(values, (-1.0, 0.0, 1.0)).all():
        raise ValueError("Y must hold -1, 0 and 1 alone")
    return _like(Y, np.where(values == missing, np.nan, (values == 1).astype(float)))


def hide_labels(
    Y: Any,
    observed: float = 0.3,
    how: Literal["stratified", "uniform"] = "stratified",
    random_state: int | np.random.RandomState | None = None,
) -> Any:
    """Hide labels, keeping a share of the observed ones.

    Parameters
    ----------
    Y : labels in any form of `read_labels`
        What is missing stays missing.
    observed : float in (0, 1]
        Share of the observed entries to keep.
    how : {"stratified", "uniform"}
        "stratified" keeps the same share, rounded up, of the positives and of the negatives of each label.
        "uniform" keeps entries at random.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    ndarray or DataFrame of float
        The labels as they were written, NaN where hidden or missing.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.labels import hide_labels
    >>> Y = np.repeat([[1, 0], [0, 1]], 50, axis=0)
    >>> np.nansum(hide_labels(Y, observed=0.3, random_state=0), axis=0)
    array([15., 15.])
    """
    if not 0 < observed <= 1:
        raise ValueError(f"observed must be in (0, 1], got {observed!r}")
    labels = read_labels(Y)
    rng = check_random_state(random_state)
    signs = np.zeros_like(labels.signs)
    if how == "stratified":
        for column, source in zip(signs.T, labels.signs.T, strict=True):
            for sign in (1, -1):
                places = np.flatnonzero(source == sign)
                keep = rng.permutation(places)[: math.ceil(observed * len(places))]
                column[keep] = sign
    elif how == "uniform":
        places = np.flatnonzero(labels.signs)
        keep = rng.permutation(places)[: math.ceil(observed * len(places))]
        signs.flat[keep] = labels.signs.flat[keep]
    else:
        raise ValueError(f'how must be "stratified" or "uniform", got {how!r}')
    return _like(Y, _with_nan(signs, labels))


def corrupt_labels(
    Y: Any,
    how: Literal["permute", "swap", "drop", "flip"],
    rate: float,
    random_state: int | np.random.RandomState | None = None,
) -> Any:
    """Make labels wrong, in one of four ways.

    Parameters
    ----------
    Y : labels in any form of `read_labels`
        What is missing stays missing (with "permute" it moves with its row).
    how : {"permute", "swap", "drop", "flip"}
        "permute": a share `rate` of the rows exchange their labels, none keeps its own.
        "swap": a share `rate` of the positives moves to an observed negative label of the same row.
        "drop": a share `rate` of the positives becomes negative.
        "flip": a share `rate` of the observed entries changes sign.
    rate : float in [0, 1]
        How much to corrupt, rounded to whole rows or entries.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    ndarray or DataFrame of float
        The labels as they were written, NaN where missing.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.labels import corrupt_labels
    >>> Y = np.eye(4)
    >>> int((corrupt_labels(Y, "drop", 0.5, random_state=0) != Y).sum())
    2
    """
    if not 0 <= rate <= 1:
        raise ValueError(f"rate must be in [0, 1], got {rate!r}")
    labels = read_labels(Y)
    rng = check_random_state(random_state)
    signs = labels.signs.copy()
    if how == "permute":
        rows = rng.permutation(len(signs))[: round(rate * len(signs))]
        signs[rows] = signs[np.roll(rows, 1)]
    elif how == "swap":
        _swap(signs, rate, rng)
    elif how in ("drop", "flip"):
        places = np.flatnonzero(signs > 0 if how == "drop" else signs)
        chosen = rng.permutation(places)[: round(rate * len(places))]
        signs.flat[chosen] *= -1
    else:
        raise ValueError(f'how must be "permute", "swap", "drop" or "flip", got {how!r}')
    return _like(Y, _with_nan(signs, labels))


def _swap(signs: NDArray[np.int8], rate: float, rng: np.random.RandomState) -> None:
    """Move positives within their rows, in place. A row without an observed negative keeps its positives."""
    rows, columns = np.nonzero(signs > 0)
    original = signs.copy()
    for place in rng.permutation(len(rows))[: round(rate * len(rows))]:
        row = rows[place]
        free = np.flatnonzero((signs[row] < 0) & (original[row] < 0))
        if len(free):
            signs[row, columns[place]] = -1
            signs[row, rng.choice(free)] = 1


def _to_array(Y: Any, name: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Values, and which of them are not missing by their own form."""
    masked = np.ma.getmaskarray(Y) if isinstance(Y, np.ma.MaskedArray) else None
    if hasattr(Y, "detach"):
        Y = Y.detach().cpu().numpy()
    try:
        values = np.asarray(Y)
    except ValueError as error:
        raise ValueError(f"{name} must be rectangular, with as many labels in each row: {error}") from None
    if values.dtype.kind in "biu":
        known = np.ones(values.shape, dtype=bool)
    elif values.dtype.kind == "f":
        known = ~np.isnan(values)
    elif values.dtype.kind in "OUS":
        known = ~_is_null(values)
        values = _unbox(values, known)
    else:
        raise ValueError(f"{name} has dtype {values.dtype}. Accepted: {_ACCEPTED}")
    return values, known if masked is None else known & ~masked


def _is_null(values: NDArray[Any]) -> NDArray[np.bool_]:
    """None, NaN and pd.NA: what is absent, not equal to itself, or refuses to say."""

    def null(value: Any) -> bool:
        if value is None:
            return True
        try:
            return bool(value != value)
        except TypeError:
            return True

    return np.vectorize(null, otypes=[bool])(values) if values.size else np.zeros(values.shape, dtype=bool)


def _unbox(values: NDArray[Any], known: NDArray[np.bool_]) -> NDArray[Any]:
    """Objects to floats where all known ones are numbers or bools; anything else is left as it is."""
    if values.dtype.kind != "O" or not all(isinstance(v, (bool, int, float, np.generic)) for v in values[known]):
        return values
    unboxed = np.full(values.shape, np.nan)
    try:
        unboxed[known] = values[known].astype(float)
    except (TypeError, ValueError):
        return values
    return unboxed


def _read_mask(mask: Any, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    values = np.asarray(mask.toarray() if sp.issparse(mask) else mask)
    if values.dtype.kind != "b" and not (values.dtype.kind in "iu" and np.isin(values, (0, 1)).all()):
        raise ValueError(f"mask must be boolean, True where a label is observed, got dtype {values.dtype}")
    if values.shape != shape:
        raise ValueError(f"mask must have the shape of the labels, {shape}, got {values.shape}")
    return values.astype(bool)


def _classes(seen: NDArray[Any], one_dimensional: bool, name: str) -> NDArray[Any]:
    """How a negative and a positive are written, from the observed values."""
    if seen.dtype.kind == "b":
        return np.array([False, True])
    if seen.dtype.kind in "iuf":
        # The usual encodings are told by comparison: sorting all entries would take longer than most measures.
        positive = seen == 1
        for negative in (0, -1):
            if (positive | (seen == negative)).all():
                return np.array([negative, 1])
    if seen.dtype.kind == "f" and np.isinf(seen).any():
        raise ValueError(f"{name} contains infinity. Accepted: {_ACCEPTED}")
    values = np.unique(seen)
    if seen.dtype.kind in "iuf" and np.isin(values, (-1, 0, 1)).all() and not one_dimensional:
        raise ValueError(
            f"{name} holds -1, 0 and 1, which is ambiguous: 0 may mean negative or missing. Decode it first "
            "with spmld.labels.decode_missing(Y, missing=0), or missing=-1 if -1 means missing"
        )
    if one_dimensional and len(values) == 2:
        _refuse_continuous(values, name)
        return values
    if one_dimensional:
        _refuse_continuous(values, name)
        raise ValueError(
            f"{name} as a vector is one label and needs two classes, got {len(values)} class"
            f"{'' if len(values) == 1 else 'es'}. Only binary classification is supported for a vector: "
            f"give several labels as columns of 0 and 1"
        )
    shown = ", ".join(repr(v.item() if hasattr(v, "item") else v) for v in values[:5])
    more = ", ..." if len(values) > 5 else ""
    raise ValueError(f"{name} has values other than labels: {shown}{more}. Accepted: {_ACCEPTED}")


def _refuse_continuous(values: NDArray[Any], name: str) -> None:
    if values.dtype.kind == "f" and not np.array_equal(values, np.round(values)):
        raise ValueError(f"Unknown label type: {name} is continuous. Accepted: {_ACCEPTED}")


def _read_sparse(Y: Any, mask: Any, name: str) -> Labels:
    dense = np.asarray(Y.toarray())
    if mask is None and (dense < 0).any() and Y.nnz < dense.size:
        raise ValueError(
            f"{name} is sparse with stored -1, which is ambiguous: absent entries may mean negative or missing. "
            "Give mask=, or decode it with spmld.labels.decode_missing(Y, missing=0)"
        )
    if (dense < 0).any():
        dense = np.where(dense == 0, -1, dense)
    return read_labels(dense, mask, name=name)


def _with_nan(signs: NDArray[np.int8], labels: Labels) -> NDArray[np.float64]:
    """Signs written as the labels were (0 and 1 for labels that are not numbers), NaN where unobserved."""
    negative, positive = labels.classes if labels.classes.dtype.kind in "biuf" else (0, 1)
    values = np.where(signs == 0, np.nan, np.where(signs > 0, float(positive), float(negative)))
    return values[:, 0] if labels.one_dimensional else values


def _like(Y: Any, values: NDArray[np.float64]) -> Any:
    """`values` in a frame like `Y` if it was one."""
    if hasattr(Y, "iloc"):
        axes = {"index": Y.index, "columns": Y.columns} if values.ndim == 2 else {"index": Y.index}
        return type(Y)(values, **axes)
    return values

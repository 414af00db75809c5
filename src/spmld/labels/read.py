"""Reading labels in any accepted form, and writing them back in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["Labels", "decode_missing", "observed", "read_labels"]

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

    Examples
    --------
    >>> from spmld.labels import read_labels
    >>> labels = read_labels([[-1, 1], [1, None]])
    >>> labels.classes, int(labels.observed.sum())
    (array([-1,  1]), 3)
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
        """Signs without missing entries, written as the labels were given; see also `write_with_missing`."""
        values = self.classes[(np.asarray(signs) > 0).astype(np.intp)]
        return values[:, 0] if self.one_dimensional else values

    def write_with_missing(self, Y: Any, signs: NDArray[Any] | None = None) -> Any:
        """Signs written as the labels `Y` were given, NaN where unobserved.

        Parameters
        ----------
        Y : labels
            What was read. If it is a DataFrame or a Series, so is the answer, with the same index and columns.
        signs : ndarray of shape (n_samples, n_labels), optional
            +1, -1, and 0 where unobserved. By default those that were read.

        Returns
        -------
        ndarray, DataFrame or Series of float
            In the shape of `Y`. Labels that are not numbers, such as words, are written 0 and 1.

        Examples
        --------
        >>> from spmld.labels import read_labels
        >>> Y = [[-1, 1], [1, -1]]
        >>> read_labels(Y, mask=[[True, True], [True, False]]).write_with_missing(Y)
        array([[-1.,  1.],
               [ 1., nan]])
        """
        signs = self.signs if signs is None else signs
        negative, positive = self.classes if self.classes.dtype.kind in "biuf" else (0, 1)
        values = np.where(signs == 0, np.nan, np.where(signs > 0, float(positive), float(negative)))
        return like(Y, values[:, 0] if self.one_dimensional else values)


def read_labels(Y: Any, mask: Any = None, *, classes: Any = None, name: str = "Y") -> Labels:
    """Read labels in any accepted form.

    Parameters
    ----------
    Y : array-like, DataFrame, masked array or sparse matrix of shape (n_samples, n_labels) or (n_samples,)
        Labels. The two values of a single label, a vector or one column, may be of any type.
    mask : array-like of bool of the same shape, optional
        True where a label is observed.
    classes : array-like of shape (2,), optional
        How a negative and a positive are written, where a fit has told. It decides for part of a vector, which may
        hold one of two words alone. Labels written in another of the accepted ways are read as such.
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
        return _read_sparse(Y, mask, classes, name)
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
    if classes is None or not np.isin(seen, classes).all():
        classes = _classes(seen, values.shape[1] == 1, name)
    classes = np.asarray(classes)
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
    return like(Y, np.where(values == missing, np.nan, (values == 1).astype(float)))


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
        complex_data = "Complex data not supported: " if values.dtype.kind == "c" else ""
        raise ValueError(f"{complex_data}{name} has dtype {values.dtype}. Accepted: {_ACCEPTED}")
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


def _classes(seen: NDArray[Any], single: bool, name: str) -> NDArray[Any]:
    """How a negative and a positive are written, from the observed values."""
    if seen.dtype.kind == "b":
        return np.array([False, True])
    if seen.dtype.kind in "iuf":
        # The usual encodings are told by comparison: sorting all entries would take longer than most metrics.
        positive = seen == 1
        for negative in (0, -1):
            if (positive | (seen == negative)).all():
                return np.array([negative, 1])
    if seen.dtype.kind == "f" and np.isinf(seen).any():
        raise ValueError(f"{name} contains infinity. Accepted: {_ACCEPTED}")
    try:
        values = np.unique(seen)
    except TypeError:
        types = sorted({type(value).__name__ for value in seen.ravel()})
        raise ValueError(f"{name} mixes values of types {', '.join(types)}. Accepted: {_ACCEPTED}") from None
    if seen.dtype.kind in "iuf" and np.isin(values, (-1, 0, 1)).all() and not single:
        raise ValueError(
            f"{name} holds -1, 0 and 1, which is ambiguous: 0 may mean negative or missing. Decode it first "
            "with spmld.labels.decode_missing(Y, missing=0), or missing=-1 if -1 means missing"
        )
    if single:
        _refuse_continuous(values, name)
        if len(values) == 2:
            return values
        raise ValueError(
            f"{name} is one label and needs two classes, got {len(values)} class{'' if len(values) == 1 else 'es'}. "
            f"Only binary classification is supported for one label: give several labels as columns of 0 and 1"
        )
    shown = ", ".join(repr(v.item() if hasattr(v, "item") else v) for v in values[:5])
    more = ", ..." if len(values) > 5 else ""
    raise ValueError(f"{name} has values other than labels: {shown}{more}. Accepted: {_ACCEPTED}")


def _refuse_continuous(values: NDArray[Any], name: str) -> None:
    if values.dtype.kind == "f" and not np.array_equal(values, np.round(values)):
        raise ValueError(f"Unknown label type: {name} is continuous. Accepted: {_ACCEPTED}")


def _read_sparse(Y: Any, mask: Any, classes: Any, name: str) -> Labels:
    dense = np.asarray(Y.toarray())
    if mask is None and (dense < 0).any() and not _stored(Y).all():
        raise ValueError(
            f"{name} is sparse with stored -1, which is ambiguous: absent entries may mean negative or missing. "
            "Give mask=, or decode it with spmld.labels.decode_missing(Y, missing=0)"
        )
    if (dense < 0).any():
        dense[~_stored(Y)] = -1
    return read_labels(dense, mask, classes=classes, name=name)


def _stored(Y: Any) -> NDArray[np.bool_]:
    """Which entries of a sparse matrix are stored, zeros among them."""
    coordinates = sp.coo_array(Y)
    stored = np.zeros(coordinates.shape, dtype=bool)
    stored[coordinates.row, coordinates.col] = True
    return stored


def like(Y: Any, values: NDArray[Any]) -> Any:
    """`values` in a frame like `Y` if it was one."""
    if not hasattr(Y, "iloc"):
        return values
    return type(Y)(values, index=Y.index, **({"columns": Y.columns} if values.ndim == 2 else {"name": Y.name}))

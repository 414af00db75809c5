"""Reading labels in any accepted form, with the weights of entries and those that are verified, and writing them."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from array_api_compat import is_torch_array
from numpy.typing import NDArray

from spmld._arrays import Matrix, check_masked, check_tensor, namespace, to_dense, to_numpy
from spmld._frames import frame_like
from spmld._io import shorten
from spmld.labels.words import order_words, word_to_number

SIGNS = np.array([-1, 1])
"""Classes of labels that are encoded as signs."""
_ACCEPTED = "0/1, -1/+1, bool or yes/no; NaN, None, pd.NA, a masked array or mask= for missing entries"


@dataclass(frozen=True)
class Labels:
    """Labels as signs, and the form in which they were given.

    Attributes
    ----------
    signs : ndarray of shape (n_samples, n_labels), int8
        +1 for positive, -1 for negative, 0 for missing.
    classes : ndarray of shape (2,)
        Values of negative and positive labels.
    names : list of str or None
        Column names of a DataFrame.
    one_dimensional : bool
        Whether the labels had shape (n_samples,).
    trusted : ndarray of bool of shape (n_samples, n_labels) or None
        Which entries are verified to be correct; None if no entries are verified.

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
    trusted: NDArray[np.bool_] | None = None

    def __getitem__(self, rows: Any) -> "Labels":
        """Return the labels of some samples, given by a slice, a mask or an array of indices."""
        trusted = None if self.trusted is None else self.trusted[rows]
        return replace(self, signs=self.signs[rows], trusted=trusted)

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of samples and labels."""
        return self.signs.shape

    @property
    def observed(self) -> NDArray[np.bool_]:
        """Which entries are observed."""
        return self.signs != 0

    def write(self, signs: NDArray[Any]) -> NDArray[Any]:
        """Return signs without missing entries in the form of the labels; see also `write_with_missing`."""
        values = self.classes[(np.asarray(signs) > 0).astype(np.intp)]
        return values[:, 0] if self.one_dimensional else values

    def write_with_missing(self, Y: Any, signs: NDArray[Any] | None = None) -> Matrix:
        """Return signs in the form of the labels, as floats with NaN where missing.

        Parameters
        ----------
        Y : labels
            The labels that were read. If they are a DataFrame or a Series, the result has the same index and columns.
        signs : ndarray of shape (n_samples, n_labels), optional
            +1, -1, and 0 where missing. By default, the signs that were read.

        Returns
        -------
        ndarray, DataFrame or Series of float
            In the shape of `Y`. Classes that are not numbers become 0 and 1.

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
        return frame_like(Y, values[:, 0] if self.one_dimensional else values)


def read_labels(Y: Any, mask: Any = None, *, classes: Any = None, name: str = "Y") -> Labels:
    """Read labels in any accepted form.

    Parameters
    ----------
    Y : array-like, DataFrame, masked array or sparse matrix of shape (n_samples, n_labels) or (n_samples,)
        Labels. A single label may have any two values. Several labels may be words such as yes/no, see `spmld.labels`.
        Labels that were read before, of type `Labels`, are accepted too.
    mask : array-like of bool of the same shape, optional
        True where a label is observed. Other entries of `Y` are ignored.
    classes : array-like of shape (2,), optional
        Negative and positive value, if they are known from a fit. They are ignored if the labels have other values.
    name : str, default="Y"
        Name of `Y` in error messages.

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
    if isinstance(Y, Labels):
        return Y if mask is None else replace(Y, signs=Y.signs * _read_mask(mask, Y.shape))
    if sp.issparse(Y):
        return _read_sparse(Y, mask, classes, name)
    if is_torch_array(Y) and mask is None and classes is None:
        check_tensor(Y, name)
        tensor = _read_tensor(Y)
        if tensor is not None:
            return Labels(*tensor)
    values, observed, names, one_dimensional = read_values(Y, mask, name)
    complete = observed.all()
    observed_values = values if complete else values[observed]
    if observed_values.size == 0:
        raise ValueError(f"{name} has no observed entry: all {values.size} are missing. Accepted: {_ACCEPTED}")
    if classes is None or not np.isin(observed_values, classes).all():
        classes = _find_classes(observed_values, values.shape[1] == 1, name)
    classes = np.asarray(classes)
    signs = np.where(observed_values == classes[1], np.int8(1), np.int8(-1))
    if not complete:
        observed_signs = signs
        signs = np.zeros(values.shape, dtype=np.int8)
        signs[observed] = observed_signs
    return Labels(signs, classes, names, one_dimensional)


def read_values(
    Y: Any, mask: Any = None, name: str = "Y"
) -> tuple[NDArray[Any], NDArray[np.bool_], list[Any] | None, bool]:
    """Return labels as a matrix of values, which are observed, the names of a DataFrame, and whether Y is a vector."""
    names = list(Y.columns) if hasattr(Y, "columns") else None
    masked = np.ma.getmaskarray(Y) if isinstance(Y, np.ma.MaskedArray) else None
    values = _to_array(Y, name)
    if values.ndim not in (1, 2):
        got = values.shape if values.ndim else f"a single value: {Y!r}"
        raise ValueError(f"{name} must have shape (n_samples, n_labels) or (n_samples,), got {got}")
    observed = np.ones(values.shape, dtype=bool) if masked is None else ~masked
    if mask is not None:
        observed = observed & _read_mask(mask, values.shape)
    one_dimensional = values.ndim == 1
    if one_dimensional:
        values, observed = values[:, None], observed[:, None]
    if values.dtype.kind == "f":
        observed = observed & ~np.isnan(values)
    elif values.dtype.kind in "OUS":
        values, observed = _read_objects(values, observed)
    elif values.dtype.kind not in "biu":
        complex_data = "Complex data not supported: " if values.dtype.kind == "c" else ""
        raise ValueError(f"{complex_data}{name} has dtype {values.dtype}. Accepted: {_ACCEPTED}")
    return values, observed, names, one_dimensional


def _to_array(values: Any, name: str) -> NDArray[Any]:
    """Return labels or a mask as a NumPy array."""
    dense = to_dense(values, name)
    try:
        return to_numpy(dense)
    except ValueError as error:
        raise ValueError(f"{name} must be rectangular, with the same number of labels in each row: {error}") from None


def _read_objects(values: NDArray[Any], used: NDArray[np.bool_]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Convert objects to floats if all of those that are used are numbers, missing or, for several labels, words.

    Other objects are unchanged. Return also which of them are used and not missing.
    """
    objects = values[used].tolist()
    several = values.shape[1] > 1
    try:
        numbers = {value: _object_to_number(value, words=several) for value in dict.fromkeys(objects)}
    except TypeError as error:  # not hashable
        raise ValueError(f"labels must not be lists ({error}); convert tags with spmld.labels.read_tags") from None
    if None in numbers.values():
        used = used.copy()
        used[used] = [number is None or number == number for number in map(numbers.get, objects)]
        return values, used
    floats = np.full(values.shape, np.nan)
    floats[used] = [numbers[value] for value in objects]
    return floats, ~np.isnan(floats)


def _object_to_number(value: Any, *, words: bool) -> float | None:
    """Return the number of a label, NaN where it is missing, and None for other objects."""
    try:
        if value is None or value != value:
            return np.nan
    except TypeError:  # pd.NA
        return np.nan
    if isinstance(value, (bool, int, float, np.bool_, np.integer, np.floating)):
        return float(value)
    return word_to_number(value) if words else None


def decode_missing(Y: Any, missing: Literal[0, -1] = 0) -> Matrix:
    """Convert labels in {-1, 0, 1}, where one value means missing, to labels with NaN.

    Parameters
    ----------
    Y : array-like, DataFrame or sparse matrix
        Labels in {-1, 0, 1}.
    missing : {0, -1}, default=0
        The value that means missing. With 0 the classes are -1 and +1, with -1 they are 0 and 1.

    Returns
    -------
    ndarray or DataFrame of float
        Labels as 0 and 1, NaN where missing.

    Examples
    --------
    >>> from spmld.labels import decode_missing
    >>> decode_missing([[1, 0], [-1, 1]], missing=0)
    array([[ 1., nan],
           [ 0.,  1.]])
    """
    if missing not in (0, -1):
        raise ValueError(f"missing must be 0 or -1, got {missing!r}")
    values = to_numpy(to_dense(Y, "Y"))
    values = values if values.dtype.kind == "c" else values.astype(float)
    if not np.isin(values, (-1.0, 0.0, 1.0)).all():
        raise ValueError("Y must contain only -1, 0 and 1")
    return frame_like(Y, np.where(values == missing, np.nan, (values == 1).astype(float)))


def _read_tensor(Y: Any) -> tuple[NDArray[np.int8], NDArray[Any]] | None:
    """Return the signs of a matrix of 0/1 or -1/+1, with NaN where missing, and the two classes; None for other labels.

    A sign takes an eighth of the memory of a number, or less, so that large tensors leave their device quickly.
    """
    if Y.ndim != 2 or not Y.dtype.is_floating_point:
        return None
    xp = namespace(Y)
    positive = Y == 1
    missing = xp.isnan(Y)
    for negative in (0, -1):
        at = xp.equal(Y, negative)
        if bool(xp.all(positive | missing | at)) and bool(xp.any(positive | at)):
            signs = xp.astype(positive, xp.int8) - xp.astype(at, xp.int8)
            return to_numpy(signs), np.array([negative, 1])
    return None


def _read_mask(mask: Any, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    check_masked(mask, "mask", "pass mask.filled(False) if these labels are missing, or mask.filled(True)")
    values = _to_array(mask, "mask")
    if values.dtype.kind != "b" and not (values.dtype.kind in "iu" and np.isin(values, (0, 1)).all()):
        raise ValueError(f"mask must be boolean, True where a label is observed, got dtype {values.dtype}")
    if values.shape != shape:
        raise ValueError(f"mask must have the shape of the labels, {shape}, got {values.shape}")
    return values.astype(bool)


def _find_classes(values: NDArray[Any], single: bool, name: str) -> NDArray[Any]:
    """Return the negative and the positive class of the observed values."""
    if values.dtype.kind == "b":
        return np.array([False, True])
    numeric = values.dtype.kind in "iuf"
    if numeric:
        # Comparisons detect the usual encodings; np.unique would sort all entries, which is slower than most metrics.
        positive = values == 1
        for negative in (0, -1):
            if (positive | (values == negative)).all():
                return np.array([negative, 1])
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise ValueError(f"{name} contains infinity. Accepted: {_ACCEPTED}")
    try:
        unique = np.unique(values)
    except TypeError:
        types = sorted({type(value).__name__ for value in values.ravel()})
        raise ValueError(f"{name} mixes values of types {', '.join(types)}. Accepted: {_ACCEPTED}") from None
    if single:
        return _check_two_classes(unique, name)
    if numeric and np.isin(unique, (-1, 0, 1)).all():
        raise ValueError(
            f"{name} contains -1, 0 and 1, which is ambiguous: 0 may mean negative or missing. Decode it with "
            "spmld.labels.decode_missing(Y, missing=0), or missing=-1 if -1 means missing"
        )
    examples = ", ".join(repr(v.item() if hasattr(v, "item") else v)[:80] for v in unique[:5])
    more = ", ..." if len(unique) > 5 else ""
    raise ValueError(f"{name} has values other than labels: {examples}{more}. Accepted: {_ACCEPTED}")


def _check_two_classes(unique: NDArray[Any], name: str) -> NDArray[Any]:
    if unique.dtype.kind == "f" and not np.array_equal(unique, np.round(unique)):
        raise ValueError(f"Unknown label type: {name} is continuous. Accepted: {_ACCEPTED}")
    if len(unique) != 2:
        raise ValueError(
            f"{name} is one label and needs two classes, got {len(unique)} class{'' if len(unique) == 1 else 'es'}. "
            f"Only binary classification is supported for one label: pass several labels as columns of 0 and 1"
        )
    return order_words(unique)


def _read_sparse(Y: Any, mask: Any, classes: Any, name: str) -> Labels:
    if Y.dtype.kind in "iuf" and Y.format in ("csr", "csc", "coo") and np.isin(Y.data, (-1, 0, 1)).all():
        Y = Y.astype(np.int8)  # an eighth of the memory
    dense = np.asarray(to_dense(Y, name))
    if mask is None and (dense < 0).any() and not _stored(Y).all():
        raise ValueError(
            f"{name} is sparse with stored -1, which is ambiguous: entries not stored may mean negative or missing. "
            "Pass mask=, or decode it with spmld.labels.decode_missing(Y, missing=0)"
        )
    if (dense < 0).any():
        dense[~_stored(Y)] = -1
    return read_labels(dense, mask, classes=classes, name=name)


def _stored(Y: Any) -> NDArray[np.bool_]:
    """Return which entries of a sparse matrix are stored, including stored zeros."""
    coordinates = sp.coo_array(Y)
    stored = np.zeros(coordinates.shape, dtype=bool)
    stored[coordinates.row, coordinates.col] = True
    return stored


MAX_WEIGHT = 1e15
"""Maximum entry weight, with which sums of squares are finite in float32."""


def read_weights(entry_weight: Any, signs: NDArray[Any]) -> NDArray[Any]:
    """Return the entry weights, which are 0 for missing entries. An array of bool stays one.

    Parameters
    ----------
    entry_weight : array-like of shape (n_samples, n_labels) or (n_samples,)
        Weights.
    signs : ndarray of shape (n_samples, n_labels)
        Labels: +1, -1, and 0 for missing entries.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.labels.encoding import read_weights
    >>> read_weights([2, 0.5], np.array([[1, 0], [-1, 1]]))
    array([[2. , 0. ],
           [0.5, 0.5]])
    """
    if isinstance(entry_weight, np.ndarray) and entry_weight.dtype == bool and entry_weight.shape == signs.shape:
        return entry_weight & (signs != 0)
    check_masked(entry_weight, "entry_weight", "pass entry_weight.filled(0) to ignore these entries")
    check_tensor(entry_weight, "entry_weight")
    try:
        weights = to_numpy(entry_weight)
        if weights.dtype.kind == "c":
            raise ValueError
        weights = np.asarray(weights, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(shorten(f"entry_weight must be an array of real numbers, got {entry_weight!r}")) from None
    weights = np.where(signs != 0, _to_matrix(weights, signs.shape, "entry_weight"), 0.0)
    if not (weights.min() >= 0 and weights.max() <= MAX_WEIGHT):
        raise ValueError(
            f"entry_weight must be in [0, {MAX_WEIGHT:g}] for observed labels, "
            f"got values from {weights.min():.3g} to {weights.max():.3g}"
        )
    return weights


def read_trusted(trusted: Any, observed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the verified entries as a mask, False where a label is missing.

    Parameters
    ----------
    trusted : array-like of bool of shape (n_samples, n_labels) or (n_samples,)
        Verified entries, or samples whose observed entries are all verified.
    observed : ndarray of bool of shape (n_samples, n_labels)
        Observed entries.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.labels.encoding import read_trusted
    >>> read_trusted([False, True], np.array([[True, True], [True, False]]))
    array([[False, False],
           [ True, False]])
    """
    check_masked(trusted, "trusted", "pass trusted.filled(False) if these entries are not verified")
    check_tensor(trusted, "trusted")
    mask = to_numpy(trusted)
    if mask.dtype != bool and not np.isin(mask, (0, 1)).all():
        raise ValueError(f"trusted must be an array of bool, got values of type {mask.dtype}")
    return _to_matrix(mask.astype(bool), observed.shape, "trusted") & observed


def _to_matrix(values: NDArray[Any], shape: tuple[int, ...], name: str) -> NDArray[Any]:
    """Return values of entries, or of samples in one column, as a matrix."""
    n, l = shape
    if values.shape not in ((n, l), (n, 1), (n,)):
        raise ValueError(f"{name} must have shape {(n, l)} or {(n,)}, got {values.shape}")
    return values.reshape(n, -1)


def mark_trusted(labels: Labels, trusted: Any) -> Labels:
    """Return the labels with their verified entries, see `read_trusted`; `trusted` stays None if there are none."""
    verified = None if trusted is None else read_trusted(trusted, labels.observed)
    return labels if verified is None or not verified.any() else replace(labels, trusted=verified)


def observed_signs(signs: NDArray[Any], weights: NDArray[Any]) -> NDArray[np.int8]:
    """Return the signs, 0 for entries of weight 0.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.labels.encoding import observed_signs
    >>> observed_signs(np.array([[1, -1]]), np.array([[0.5, 0.0]]))
    array([[1, 0]], dtype=int8)
    """
    return np.where(weights > 0, signs, 0).astype(np.int8)

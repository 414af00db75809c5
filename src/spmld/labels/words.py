"""Words for labels in tables: yes and no, true and false, x, and their like."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

POSITIVE_WORDS = frozenset({"1", "yes", "y", "true", "t", "x", "ja", "j", "wahr", "✓", "✔"})
NEGATIVE_WORDS = frozenset({"0", "no", "n", "false", "f", "nein", "falsch"})
MISSING_WORDS = frozenset({"", "?"})
WORDS = "yes/no, y/n, true/false, ja/nein, x or 1/0"
"""The words, for error messages."""


def word_to_number(value: Any) -> float | None:
    """Return 1 for a positive word, 0 for a negative one, NaN for a missing one, and None for any other value.

    Case and surrounding spaces are ignored.

    Examples
    --------
    >>> from spmld.labels.words import word_to_number
    >>> [word_to_number(word) for word in ("Yes", "nein", " x ", "?", "maybe")]
    [1.0, 0.0, 1.0, nan, None]
    """
    if not isinstance(value, str):
        return None
    word = value.strip().lower()
    if word in POSITIVE_WORDS:
        return 1.0
    if word in NEGATIVE_WORDS:
        return 0.0
    return math.nan if word in MISSING_WORDS else None


def to_number(value: Any) -> float:
    """Convert a number, or a truth value as bool or text, to float; None and empty text become NaN.

    Examples
    --------
    >>> from spmld.labels.words import to_number
    >>> to_number("ja"), to_number("2.5"), to_number(None)
    (1.0, 2.5, nan)
    """
    if value is None:
        return math.nan
    number = word_to_number(value)
    return float(value) if number is None else number


def words_to_floats(values: NDArray[Any], observed: NDArray[np.bool_]) -> NDArray[np.float64] | None:
    """Return an array of words, numbers and bools as floats, NaN where missing; None if it has other values.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.labels.words import words_to_floats
    >>> words_to_floats(np.array([["yes", "x"], ["no", ""]]), np.ones((2, 2), dtype=bool))
    array([[ 1.,  1.],
           [ 0., nan]])
    """
    floats = np.full(values.shape, np.nan)
    numbers: dict[Any, float | None] = {}
    flat, flat_observed, flat_floats = values.ravel(), observed.ravel(), floats.ravel()
    for i in np.flatnonzero(flat_observed):
        value = flat[i]
        if isinstance(value, (bool, int, float, np.bool_, np.number)):
            flat_floats[i] = float(value)
            continue
        if value not in numbers:
            numbers[value] = word_to_number(value)
        number = numbers[value]
        if number is None:
            return None
        flat_floats[i] = number
    return flat_floats.reshape(values.shape)


def read_words(values: NDArray[Any], observed: NDArray[np.bool_]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Convert several labels that are words to 0 and 1; other values and a single label are unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.labels.words import read_words
    >>> read_words(np.array([["yes", "?"]]), np.array([[True, True]]))
    (array([[ 1., nan]]), array([[ True, False]]))
    """
    if values.dtype.kind not in "OU" or values.shape[1] < 2:
        return values, observed
    floats = words_to_floats(values, observed)
    return (values, observed) if floats is None else (floats, ~np.isnan(floats))


def order_words(classes: NDArray[Any]) -> NDArray[Any]:
    """Return two classes with the negative word first; other classes are unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.labels.words import order_words
    >>> order_words(np.array(["ja", "nein"])).tolist()
    ['nein', 'ja']
    """
    numbers = [word_to_number(value) for value in classes.tolist()]
    return classes[::-1] if numbers == [1.0, 0.0] else classes

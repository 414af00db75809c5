"""Features that determine a label, or look like one."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld._io import need
from spmld._validation import list_names
from spmld.labels.words import fold_spelling
from spmld.tables.columns import is_nested, without_missing_words
from spmld.tables.dates import FIRST_VALUES
from spmld.tables.problems import TableProblem

MIN_SAMPLES = 10
"""Mean number of samples with each value of a column that show that it determines a label.

A column that agrees with a label in nine of ten samples is expected to differ from it in one of them.
"""


def copies_of_labels(features: Any, Y: NDArray[np.float64], names: Sequence[str]) -> list[TableProblem]:
    """Return a problem for each column of features that determines a label.

    A column determines a label if each of its values occurs with one value of the label only, as in a copy of the label
    or in its negation; or if its gaps do. Among the samples where both are observed, both values of the label must
    occur in at least `MIN_SAMPLES` samples for each value of the column that goes with them. Constant and rare labels
    are therefore never determined, nor are labels by columns with few samples for each value, such as identifiers.
    Repeated rows must be left out of `features` and `Y`, since they are the same evidence.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from spmld.tables.leakage import copies_of_labels
    >>> songs = pd.DataFrame({"tempo": range(60, 80), "mood": ["sad", "happy"] * 10})
    >>> print(copies_of_labels(songs, np.array([[1], [0]] * 10), ["sad"])[0].text)
    column 'mood' determines the label sad in all samples, as a copy of the label does
    """
    frequent = np.flatnonzero(((Y == 1).sum(axis=0) >= MIN_SAMPLES) & ((Y < 1).sum(axis=0) >= MIN_SAMPLES))
    Y = Y[:, frequent]
    problems = []
    for name, column in features.items() if len(frequent) else ():
        values = _value_codes(column)
        gaps = (values < 0).astype(int)
        if len(labels := frequent[_determines(values, Y) | _determines(gaps, Y)]):
            shown = f"label{'s' * (len(labels) > 1)} {list_names(names[i] for i in labels)}"
            text = f"column {name!r} determines the {shown} in all samples, as a copy of the label does"
            problems.append(TableProblem(text, (("drop", str(name)), ("keep", str(name)))))
    return problems


def _value_codes(column: Any) -> NDArray[np.intp]:
    """Return the index of the value of each sample, -1 where it is missing."""
    column = (column.astype(str) if is_nested(column) else column).reset_index(drop=True)
    observed = without_missing_words(column.dropna())
    codes = np.full(len(column), -1)
    codes[observed.index], _ = need("pandas").factorize(observed)
    return codes


def _determines(codes: NDArray[np.intp], Y: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which labels are determined by the values with these indices, see `copies_of_labels`."""
    determined = np.zeros(Y.shape[1], dtype=bool)
    n_values = codes.max(initial=-1) + 1
    if n_values < 2 or n_values * MIN_SAMPLES > len(codes):
        return determined
    pure = ~_are_mixed(*_count_labels(codes[:FIRST_VALUES], Y[:FIRST_VALUES], n_values))
    if pure.any():
        counts = _count_labels(codes, Y[:, pure], n_values)
        are_enough = [count.sum(axis=0) >= MIN_SAMPLES * np.maximum((count > 0).sum(axis=0), 1) for count in counts]
        determined[pure] = ~_are_mixed(*counts) & are_enough[0] & are_enough[1]
    return determined


def _are_mixed(positives: NDArray[np.float64], negatives: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which labels are positive and negative in samples with the same value."""
    return np.any(np.minimum(positives, negatives) > 0, axis=0)


def _count_labels(codes: NDArray[np.intp], Y: NDArray[np.float64], n_values: int) -> tuple[Any, Any]:
    """Return the number of positives and of negatives of each label among the samples with each value."""
    samples = np.flatnonzero(codes >= 0)
    shape = n_values, len(codes)
    members = sp.csr_array((np.ones(len(samples)), (codes[samples], samples)), shape=shape)
    return members @ (Y == 1), members @ (Y < 1)


def like_labels(features: Any, labels: Any) -> list[str]:
    """Return the features that look like label columns: their values and the first parts of their names are the same.

    The first part of a name ends before a digit, an underscore, a space or punctuation, and case is ignored.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.tables.leakage import like_labels
    >>> songs = pd.DataFrame({"mood1": [1, 0], "mood2": [0, 1], "Mood 3": [1.0, None], "mood4": [2, 1], "new": [1, 0]})
    >>> like_labels(songs[["Mood 3", "mood4", "new"]], songs[["mood1", "mood2"]])
    ['Mood 3']
    """
    parts = {_first_part(name) for name in labels.columns}
    named = [name for name in features.columns if _first_part(name) in parts]
    values = set().union(*(_distinct_values(labels[name]) for name in labels.columns)) if named else set()
    return [name for name in named if (observed := _distinct_values(features[name])) and observed <= values]


def _first_part(name: str) -> str:
    return fold_spelling(re.split(r"[\d\W_]", name, maxsplit=1)[0])


def _distinct_values(column: Any) -> set[Any]:
    """Return the distinct values, without differences of case."""
    if is_nested(column):
        return set()
    return {fold_spelling(value) if isinstance(value, str) else value for value in column.dropna().unique()}

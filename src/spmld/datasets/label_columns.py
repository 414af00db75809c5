"""Columns of a table that look like labels or tags."""

from collections.abc import Sequence
from typing import Any

from spmld._validation import list_names
from spmld.labels.separators import guess_separator, split_tags
from spmld.labels.words import word_to_number
from spmld.preprocessing.columns import column_kind
from spmld.preprocessing.problems import TableProblem


def no_labels(frame: Any, columns: Sequence[str], prefix: str) -> TableProblem:
    """Return the problem of a table without labels, with all columns that look like labels, or their prefix, and tags.

    `columns` are those without a role, and `prefix` is the one of label columns, which no column has.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.datasets.label_columns import no_labels
    >>> songs = pd.DataFrame({"tempo": [60.5, 80], "is_sad": [1, 0], "is_loud": [0, 1]})
    >>> no_labels(songs, list(songs.columns), "label_").options
    (('prefix', 'is_'),)
    """
    labels = [name for name in columns if _looks_like_label(frame[name])]
    tags = [name for name in columns if looks_like_tags(frame[name])]
    shared = labels[0].partition("_")[0] + "_" if labels else ""
    has_prefix = len(labels) > 1 and labels == [name for name in frame.columns if name.startswith(shared)]
    named = [("prefix", shared)] if has_prefix else [("labels", name) for name in labels]
    options = [("tags", name) for name in tags[:1]] + named
    text = f"no column starts with {prefix!r}, and no labels or tags are named"
    if labels or tags:
        text += f". Columns that look like labels or tags: {list_names(labels + tags)}"
    else:
        text += f". The columns are {list_names(columns)}"
    return TableProblem(text, tuple(options) or (("labels", "COLUMN"), ("tags", "COLUMN")))


def _looks_like_label(column: Any) -> bool:
    values = column.dropna().unique()
    numbers = {word_to_number(v.strip() if isinstance(v, str) else str(v).removesuffix(".0")) for v in values[:20]}
    return 0 < len(values) <= 4 and None not in numbers and 1.0 in numbers


def looks_like_tags(column: Any) -> bool:
    """Return whether a column has lists of words, or text with a separator, that repeat.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.datasets.label_columns import looks_like_tags
    >>> looks_like_tags(pd.Series(["sad; slow", "slow", "sad; slow"])), looks_like_tags(pd.Series(["sad", "slow"]))
    (True, False)
    """
    if column_kind(column) in ("number", "date"):
        return False
    values = [value for value in column.dropna() if isinstance(value, (str, list))]
    sep = guess_separator([value for value in values if isinstance(value, str)])
    if not values or (sep is None and not isinstance(values[0], list)):
        return False
    tags = [tag for value in values for tag in split_tags(value, sep) or ()]
    return len(set(tags)) <= 0.5 * len(tags) and sum(len(tag.split()) for tag in tags) <= 3 * len(tags)

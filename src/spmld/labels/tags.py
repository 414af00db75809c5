"""Tags: the labels of a sample as a list in one column."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Untagged = Literal["negative", "weak", "missing"]
EmptyIs = Literal["missing", "negative"]
TagCase = Literal["merge", "keep"]
SEPARATORS = (";", "|", ",", "\n", "\t", "/")
"""Separators to choose from; if several are equally frequent, the first of them."""


@dataclass(frozen=True)
class Tags:
    """Labels from a column of tags.

    Attributes
    ----------
    Y : ndarray of shape (n_samples, n_labels)
        1 for tags in the list of a sample; 0 or NaN for the others.
    names : list of str
        Names of the labels.
    sep : str or None
        Separator of the tags; None if the values are lists, or no value has more than one tag.
    n_empty : int
        Number of samples with an empty field.
    unknown : dict
        Tags that are not in the given names, with their frequencies.
    merged : dict
        Spellings that differ from the name of their label in case, with the name.

    Examples
    --------
    See `read_tags`.
    """

    Y: NDArray[np.float64]
    names: list[str]
    sep: str | None
    n_empty: int
    unknown: dict[str, int]
    merged: dict[str, str] = field(default_factory=dict)


def read_tags(
    tags: Iterable[Any],
    *,
    sep: str | None = None,
    untagged: Untagged = "negative",
    empty_is: EmptyIs = "missing",
    names: Sequence[str] | None = None,
    tag_case: TagCase = "merge",
) -> Tags:
    """Read labels from tags, with a list of tags for each sample.

    Parameters
    ----------
    tags : iterable of str, or of lists of str
        Tags of each sample. None, NaN and empty text are empty fields. An empty list is a sample without tags.
    sep : str, optional
        Separator of the tags in a text. By default, it is guessed.
    untagged : {"negative", "weak", "missing"}, default="negative"
        Whether a tag that is not in the list of a sample is a negative label or a missing one. "weak" is missing, for
        estimators that use the missing entries of positive-only labels as weak negatives.
    empty_is : {"missing", "negative"}, default="missing"
        Whether the labels of a sample with an empty field are missing or negative.
    names : sequence of str, optional
        Names of the labels, if they are known from a fit. By default, all tags in alphabetical order.
    tag_case : {"merge", "keep"}, default="merge"
        Whether tags that differ only in case are the same label, with its most frequent spelling, or several labels.

    Returns
    -------
    Tags

    Examples
    --------
    >>> from spmld.labels import read_tags
    >>> tags = read_tags(["sad; slow", "happy", None, "slow;happy"])
    >>> tags.names, tags.sep
    (['happy', 'sad', 'slow'], ';')
    >>> tags.Y
    array([[ 0.,  1.,  1.],
           [ 1.,  0.,  0.],
           [nan, nan, nan],
           [ 1.,  0.,  1.]])
    """
    check_choice("untagged", untagged, ("negative", "weak", "missing"))
    check_choice("empty_is", empty_is, ("missing", "negative"))
    check_choice("tag_case", tag_case, ("merge", "keep"))
    values = list(tags)
    texts = [value for value in values if isinstance(value, str)]
    sep = guess_separator(texts) if sep is None else sep
    lists = [split_tags(value, sep) for value in values]
    counts = Counter(tag for items in lists for tag in items or ())
    label = _merge_case(counts, names) if tag_case == "merge" else {tag: tag for tag in counts}
    names = tag_names(counts, tag_case) if names is None else [str(name) for name in names]
    if not names:
        raise ValueError(f"tags must contain at least one tag, got {len(values)} empty fields")
    places = {name: j for j, name in enumerate(names)}
    index = {tag: places[name] for tag, name in label.items() if name in places}
    Y = np.full((len(values), len(names)), 0.0 if untagged == "negative" else np.nan)
    for row, items in zip(Y, lists, strict=True):
        if items is None:
            row[:] = np.nan if empty_is == "missing" else 0.0
        elif not items:
            row[:] = 0.0
        row[[index[tag] for tag in items or () if tag in index]] = 1.0
    unknown = {tag: count for tag, count in counts.most_common() if tag not in index}
    merged = {tag: name for tag, name in label.items() if tag != name}
    return Tags(Y, names, sep, sum(items is None for items in lists), unknown, merged)


def tag_names(counts: Counter[str], tag_case: TagCase = "merge") -> list[str]:
    """Return the names of the labels, from the frequency of each tag.

    Examples
    --------
    >>> from collections import Counter
    >>> from spmld.labels.tags import tag_names
    >>> tag_names(Counter({"Rock": 5, "rock": 2, "calm": 1}))
    ['Rock', 'calm']
    """
    return sorted(set(_merge_case(counts, None).values()) if tag_case == "merge" else counts)


def _merge_case(counts: Counter[str], names: Sequence[str] | None) -> dict[str, str]:
    """Return the label of each tag: one of the names, or the most frequent spelling; of equals, the one in lower case.

    A name in another case is used only if there is one such name.
    """
    spellings: dict[str, list[str]] = {}
    for name in sorted(counts) if names is None else map(str, names):
        spellings.setdefault(name.casefold(), []).append(name)
    label = {}
    for tag in counts:
        same = spellings.get(tag.casefold(), [tag])
        if names is None:
            label[tag] = max(same, key=lambda spelling: (counts[spelling], spelling))
        else:
            label[tag] = same[0] if len(same) == 1 else tag
    return label


def guess_separator(texts: Sequence[str]) -> str | None:
    """Return the separator that occurs in the most texts, None if there is none; a space separates hashtags only.

    Examples
    --------
    >>> from spmld.labels.tags import guess_separator
    >>> guess_separator(["rock, pop", "hip hop"]), guess_separator(["#rock #pop"]), guess_separator(["hip hop"])
    (',', ' ', None)
    """
    stripped = [text.strip() for text in texts]
    counts = {sep: sum(sep in text for text in stripped) for sep in SEPARATORS}
    best = max(SEPARATORS, key=lambda sep: counts[sep])
    if counts[best]:
        return best
    words = [word for text in stripped for word in text.split()]
    return " " if words and all(word.startswith("#") for word in words) else None


def split_tags(value: Any, sep: str | None) -> list[str] | None:
    """Return the tags of one value, without brackets, quotes and surrounding spaces; None for an empty field.

    Examples
    --------
    >>> from spmld.labels.tags import split_tags
    >>> split_tags("['sad', 'slow']", ","), split_tags("sad;;slow", ";"), split_tags(" ", ";"), split_tags([], None)
    (['sad', 'slow'], ['sad', 'slow'], None, [])
    """
    if isinstance(value, (list, tuple, set, frozenset, np.ndarray)):
        return [str(tag).strip() for tag in value if tag is not None and str(tag).strip()]
    if value is None or value != value or not str(value).strip():
        return None
    text = str(value).strip()
    listed = text.startswith("[") and text.endswith("]")
    text = text[1:-1] if listed else text
    parts = [text] if not sep else text.split(sep)
    return [tag for tag in (part.strip().strip("'\"").strip() for part in parts) if tag]


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Raise ValueError if a value is not one of the choices."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r}")

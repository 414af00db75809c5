"""Tags: the labels of a sample as a list in one column, and the separators between them."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spmld._validation import check_choice
from spmld.labels.hierarchy import path_nodes
from spmld.labels.words import clean_spelling, fold_spelling, fold_words, is_blank, join_words, tag_words

Separator: TypeAlias = str | Sequence[str]
"""One separator, or several; see `separators`."""
SEPARATORS = (";", "|", ",", "\n", "\t", "/")
"""Separators to choose from; if several are equally frequent, the first of them."""
RARE_SEPARATORS = ("+", "&")
"""Separators that are not guessed, since they are often part of a tag, such as C++."""


def guess_separator(texts: Sequence[str], path_sep: str | None = None) -> str | None:
    """Return the separator that occurs in the most texts, None if there is none; a space separates hashtags only.

    A slash may be part of a tag: it is a separator only if it separates tags that other texts have, too. The separator
    of paths does not separate tags.

    Examples
    --------
    >>> from spmld.labels.tags import guess_separator
    >>> guess_separator(["rock, pop", "hip hop"]), guess_separator(["#rock #pop"]), guess_separator(["hip hop"])
    (',', ' ', None)
    >>> guess_separator(["AC/DC", "Queen"]), guess_separator(["rock/pop", "pop"])
    (None, '/')
    """
    stripped = [text.strip() for text in texts]
    counts = {sep: sum(sep in text for text in stripped) for sep in SEPARATORS}
    counts["/"] = counts["/"] if _separates(stripped, "/") else 0
    counts |= {} if path_sep is None else {path_sep: 0}
    best = max(SEPARATORS, key=lambda sep: counts[sep])
    if counts[best]:
        return best
    words = [word for text in stripped for word in text.split()]
    return " " if words and all(word.startswith("#") for word in words) else None


def separators(sep: Separator) -> tuple[str, ...]:
    """Return several separators: the characters of a text if all of them are usual ones, otherwise the text.

    Examples
    --------
    >>> from spmld.labels.tags import separators
    >>> separators(";,"), separators("||"), separators([", ", "/+"])
    ((';', ','), ('||',), (', ', '/', '+'))
    """
    if not isinstance(sep, str):
        return tuple(dict.fromkeys(part for text in sep for part in separators(text)))
    several = len(set(sep)) == len(sep) and set(sep) <= {*SEPARATORS, *RARE_SEPARATORS}
    return tuple(sep) if several else (sep,)


def show_separators(sep: Separator) -> str:
    """Return separators for a message.

    Examples
    --------
    >>> from spmld.labels.tags import show_separators
    >>> show_separators(";,")
    "';' or ','"
    """
    return " or ".join(map(repr, separators(sep)))


def separator_pattern(sep: Separator) -> str:
    """Return the regular expression of separators, the longest first, see `separators`."""
    return "|".join(map(re.escape, sorted(separators(sep), key=len, reverse=True)))


def unclear_separators(texts: Sequence[str], sep: Separator | None, *, guessed: bool = True) -> dict[str, str]:
    """Return the separators that tags may have as well, each with a tag that contains it.

    They are others than `sep` that occur in a tag; ``+`` and ``&`` only if they separate tags that others have, too. A
    comma or slash that was guessed, and whose tags do not occur in other texts, is one of them, with a text.

    Examples
    --------
    >>> from spmld.labels.tags import unclear_separators
    >>> unclear_separators(["rock; pop", "pop, jazz"], ";"), unclear_separators(["AC/DC", "Queen"], None)
    ({',': 'pop, jazz'}, {'/': 'AC/DC'})
    """
    tags = list(dict.fromkeys(tag for text in texts for tag in split_tags(text, sep) or ()))
    others = (*SEPARATORS, *(other for other in RARE_SEPARATORS if _separates(tags, other)))
    examples = {other: next((tag for tag in tags if other in tag), None) for other in others}
    if guessed and sep in (",", "/") and not _separates(texts, sep):
        examples[sep] = next(text for text in texts if sep in text)
    return {other: tag for other, tag in examples.items() if tag is not None}


def absent_separators(texts: Sequence[str], sep: Separator) -> dict[str, list[str]]:
    """Return separators of several characters that occur in no text, each with its signs that do.

    Examples
    --------
    >>> from spmld.labels.tags import absent_separators
    >>> absent_separators(["rock; pop", "pop: jazz"], ";:"), absent_separators(["rock -> pop"], "->")
    ({';:': [';', ':']}, {})
    """
    joined = "\n".join(texts)
    absent = {}
    for part in separators(sep):
        if len(part) > 1 and not any(part in text for text in texts):
            absent[part] = [c for c in dict.fromkeys(part) if not c.isalnum() and not c.isspace() and c in joined]
    return {part: signs for part, signs in absent.items() if signs}


def _separates(texts: Iterable[str], sep: str) -> bool:
    """Return whether most texts with a separator have a tag that a different text has, too."""
    lists = {text: set(split_tags(text, sep) or ()) for text in texts}
    counts = Counter(tag for tags in lists.values() for tag in tags)
    shared = [any(counts[tag] > 1 for tag in tags) for text, tags in lists.items() if sep in text]
    return 2 * sum(shared) > len(shared)


def split_tags(value: Any, sep: Separator | None) -> list[str] | None:
    """Return the tags of one value, without brackets, quotes and surrounding spaces; None for an empty field.

    Examples
    --------
    >>> from spmld.labels.tags import split_tags
    >>> split_tags("['sad', 'slow']", ","), split_tags("sad;;slow", ";"), split_tags(" ", ";"), split_tags([], None)
    (['sad', 'slow'], ['sad', 'slow'], None, [])
    """
    if isinstance(value, (list, tuple, set, frozenset, np.ndarray)):
        return [str(tag).strip() for tag in value if tag is not None and not is_blank(str(tag))]
    if value is None or value != value or is_blank(str(value)):
        return None
    text = str(value).strip()
    listed = text.startswith("[") and text.endswith("]")
    text = text[1:-1] if listed else text
    parts = [text] if not sep else re.split(separator_pattern(sep), text)
    tags = [part.strip().strip("'\"").strip() for part in parts]
    return [tag for tag in tags if not is_blank(tag)]


Untagged = Literal["negative", "weak", "missing"]
EmptyIs = Literal["missing", "negative"]
TagCase = Literal["merge", "keep"]


@dataclass(frozen=True)
class Tags:
    """Labels from a column of tags.

    Attributes
    ----------
    Y : ndarray of shape (n_samples, n_labels)
        1 for tags in the list of a sample; 0 or NaN for the others.
    names : list of str
        Names of the labels.
    sep : str, sequence of str or None
        Separators of the tags; None if the values are lists, or no value has more than one tag.
    n_empty : int
        Number of samples with an empty field.
    unknown : dict
        Tags that are not in the given names, with their frequencies.
    merged : dict
        Spellings that differ from the name of their label, with the name; see `label_of_tags`.
    similar : list of tuple of str
        Names of different labels that differ only in spaces, hyphens and underscores, such as hip hop and hip-hop.
    words : dict
        Words that are not tags, such as none, with their meaning, 0 for no tags and NaN for an empty field, and the
        number of fields that have them.
    kept : dict
        Words such as none that are tags since they occur beside others, each with such a list of tags.

    Examples
    --------
    See `read_tags`.
    """

    Y: NDArray[np.float64]
    names: list[str]
    sep: Separator | None
    n_empty: int
    unknown: dict[str, int]
    merged: dict[str, str] = field(default_factory=dict)
    similar: list[tuple[str, ...]] = field(default_factory=list)
    words: dict[str, tuple[float, int]] = field(default_factory=dict)
    kept: dict[str, str] = field(default_factory=dict)


def read_tags(
    tags: Iterable[Any],
    *,
    sep: Separator | None = None,
    untagged: Untagged = "negative",
    empty_is: EmptyIs = "missing",
    names: Sequence[str] | None = None,
    tag_case: TagCase = "merge",
    path_sep: str | None = None,
    positive: Iterable[Any] = (),
    negative: Iterable[Any] = (),
    missing: Iterable[Any] = (),
) -> Tags:
    """Read labels from tags, with a list of tags for each sample.

    Parameters
    ----------
    tags : iterable of str, or of lists of str
        Tags of each sample. None, NaN and empty text are empty fields. An empty list is a sample without tags.
    sep : str or sequence of str, optional
        Separator of the tags in a text, or several, such as ``[";", " and "]``. A text of several of ``; | , / + &``,
        tab and line break, such as ``";,"``, has several separators, too. By default, one is guessed.
    untagged : {"negative", "weak", "missing"}, default="negative"
        Whether a tag that is not in the list of a sample is a negative label or a missing one. "weak" is missing, for
        estimators that use the missing entries of positive-only labels as weak negatives.
    empty_is : {"missing", "negative"}, default="missing"
        Whether the labels of a sample with an empty field are missing or negative.
    names : sequence of str, optional
        Names of the labels, if they are known from a fit. By default, all tags in alphabetical order.
    tag_case : {"merge", "keep"}, default="merge"
        Whether tags that differ only in case or width are the same label, with its most frequent spelling, or several
        labels. Tags that look the same, such as those with an invisible character, are always the same label.
    path_sep : str, optional
        Separator of tags that are paths: with ``"/"``, the tag rock/metal stands for the labels rock and rock/metal.
    positive, negative, missing : str or iterable of str, default=()
        Words that are tags, that mean no tags, and that mean an empty field, in addition to those of
        `spmld.labels.words`: ``-`` and ``none`` mean no tags, ``?`` and ``n/a`` an empty field. A word of letters that
        occurs beside other tags is a tag in all fields, unless it is passed.

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
    words = {"positive": positive, "negative": negative, "missing": missing}
    fields = tag_fields(values, sep, names=names, path_sep=path_sep, **words)
    lists = fields.lists
    if path_sep is not None:
        lists = [items and [node for tag in items for node in path_nodes(tag, path_sep)] for items in lists]
    counts = Counter(tag for items in lists for tag in items or ())
    label = label_of_tags(counts, names, tag_case)
    names = sorted(set(label.values())) if names is None else [str(name) for name in names]
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
    n_empty = sum(items is None for items in lists)
    similar = similar_tags(names)
    return Tags(Y, names, fields.sep, n_empty, unknown, merged, similar, fields.words, fields.kept)


class TagFields(NamedTuple):
    """Tags of each field, None where it is empty, and their separator; `words` and `kept` are those of `Tags`."""

    lists: list[list[str] | None]
    sep: Separator | None
    words: dict[str, tuple[float, int]]
    kept: dict[str, str]


def tag_fields(
    values: Sequence[Any],
    sep: Separator | None,
    *,
    names: Sequence[str] | None = None,
    path_sep: str | None = None,
    positive: Iterable[Any] = (),
    negative: Iterable[Any] = (),
    missing: Iterable[Any] = (),
) -> TagFields:
    """Return the tags of each field, see `read_tags`.

    Examples
    --------
    >>> from spmld.labels.tags import tag_fields
    >>> tag_fields(["sad; calm", "-", "n/a", None], ";").lists
    [['sad', 'calm'], [], None, None]
    """
    words = tag_words(positive, negative, missing)
    passed = fold_words(negative) | fold_words(missing)
    is_word = [isinstance(value, str) and fold_spelling(value) in words for value in values]
    if sep is None:
        texts = [v for v, alone in zip(values, is_word, strict=True) if isinstance(v, str) and not alone]
        sep = guess_separator(texts, path_sep)
    lists = [[v.strip()] if alone else split_tags(v, sep) for v, alone in zip(values, is_word, strict=True)]
    spelling = {tag: fold_spelling(tag) for items in lists for tag in items or ()}
    beside: dict[str, str] = {}
    for items in lists:
        spellings = [spelling[tag] for tag in items or ()]
        if not words.keys() >= set(spellings):
            beside |= dict.fromkeys(spellings, ", ".join(items or ()))
    tags = beside if names is None else dict.fromkeys(fold_words(names), "")
    kept = {word: tags[word] for word in words if word in tags and word not in passed and any(map(str.isalnum, word))}
    counts: Counter[str] = Counter()
    for row, items in enumerate(lists):
        found = {spelling[tag] for tag in items or ()} & (words.keys() - kept.keys())
        if items is not None and found:
            counts.update(found)
            lists[row] = [tag for tag in items if spelling[tag] not in found]
            if not lists[row] and any(math.isnan(words[word]) for word in found):
                lists[row] = None
    return TagFields(lists, sep, {word: (words[word], count) for word, count in counts.items()}, kept)


def label_of_tags(
    counts: Counter[str], names: Sequence[str] | None = None, tag_case: TagCase = "merge"
) -> dict[str, str]:
    r"""Return the label of each spelling of a tag.

    Parameters
    ----------
    counts : Counter
        Frequency of each spelling.
    names : sequence of str, optional
        Names of the labels. A spelling of two names is the one that it looks like, or else not one of the labels. By
        default, the name of a label is its most frequent spelling; of equally frequent ones, the one in lower case.
    tag_case : {"merge", "keep"}, default="merge"
        As in `read_tags`.

    Examples
    --------
    >>> from collections import Counter
    >>> from spmld.labels.tags import label_of_tags
    >>> label_of_tags(Counter({"Rock": 5, "rock\u200b": 2}))
    {'Rock': 'Rock', 'rock\u200b': 'Rock'}
    """
    fold = fold_spelling if tag_case == "merge" else clean_spelling
    clean = {tag: clean_spelling(tag) for tag in counts}
    frequency: Counter[str] = Counter()
    for tag, count in counts.items():
        frequency[clean[tag]] += count
    spellings: dict[str, list[str]] = {}
    for name in sorted(frequency) if names is None else map(str, names):
        spellings.setdefault(fold(name), []).append(name)
    label = {}
    for tag, spelling in clean.items():
        same = spellings.get(fold(spelling), [spelling])
        if names is None:
            label[tag] = max(same, key=lambda name: (frequency[name], name))
        else:
            exact = [name for name in same if clean_spelling(name) == spelling]
            label[tag] = same[0] if len(same) == 1 else exact[0] if exact else spelling
    return label


def similar_tags(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return groups of names that differ in spaces, hyphens and underscores only.

    Examples
    --------
    >>> from spmld.labels.tags import similar_tags
    >>> similar_tags(["hip hop", "hip-hop", "rock"])
    [('hip hop', 'hip-hop')]
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(join_words(name), []).append(name)
    return [tuple(group) for group in groups.values() if len(set(map(fold_spelling, group))) > 1]

"""Separators of tags: which ones a column has, and the tags between them."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from spmld.labels.words import is_blank

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
    >>> from spmld.labels.separators import guess_separator
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
    >>> from spmld.labels.separators import separators
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
    >>> from spmld.labels.separators import show_separators
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
    >>> from spmld.labels.separators import unclear_separators
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
    >>> from spmld.labels.separators import absent_separators
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
    >>> from spmld.labels.separators import split_tags
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

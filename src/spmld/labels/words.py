"""Words for labels in tables: yes and no in several languages and spellings, signs, and missing values."""

import math
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from numpy.typing import NDArray

_PAIRS = (
    *("1/0", "yes/no", "y/n", "true/false", "t/f"),
    *("ja/nein", "j/n", "wahr/falsch", "oui/non", "vrai/faux", "sí/no", "si/no", "verdadero/falso", "sì/no"),
    *("vero/falso", "sim/não", "sim/nao", "verdadeiro/falso", "ja/nee", "waar/onwaar", "ja/nej", "ja/nei"),
    *("kyllä/ei", "tak/nie", "prawda/fałsz", "ano/ne", "áno/nie", "da/nu", "igen/nem", "evet/hayır", "evet/hayir"),  # noqa: RUF001
    *("да/нет", "так/ні", "да/не", "ναι/όχι", "はい/いいえ", "是/否", "예/아니요", "네/아니오", "نعم/لا", "כן/לא"),  # noqa: RUF001
    *("✓/✗", "✔/✘", "☑/☐", "✅/❌"),
)
POSITIVE_WORDS = frozenset({"x", *(pair.split("/")[0] for pair in _PAIRS)})
NEGATIVE_WORDS = frozenset(pair.split("/")[1] for pair in _PAIRS)
MISSING_WORDS = frozenset({"", "?", "n/a", "na", "nan", "null", "none", "<na>", "#n/a"})
"""Words for missing labels: those that pandas reads as missing in CSV files, and a question mark."""
WORDS = "yes/no, y/n, true/false, x, 1/0, ✓/✗, and yes/no in other languages"
"""The words, for error messages."""
_SELECTORS = range(0xFE00, 0xFE10)  # variation selectors, as after the check mark of a phone


def clean_spelling(text: str) -> str:
    r"""Return a text in one form of Unicode (NFC), without invisible characters, with single spaces.

    Texts that look the same become equal.

    Examples
    --------
    >>> from spmld.labels.words import clean_spelling
    >>> clean_spelling("cafe\u0301\u00a0noir\u200b") == clean_spelling("caf\u00e9 noir")
    True
    """
    if text.isascii():
        return " ".join(text.split())
    visible = "".join(c for c in text if not _is_invisible(c))
    return " ".join(unicodedata.normalize("NFC", visible).split())


def is_blank(text: str) -> bool:
    r"""Return whether a text has only spaces and invisible characters.

    Examples
    --------
    >>> from spmld.labels.words import is_blank
    >>> is_blank(" \u200b"), is_blank("sad\u200b")
    (True, False)
    """
    return all(c.isspace() or _is_invisible(c) for c in text)


def _is_invisible(character: str) -> bool:
    return unicodedata.category(character) == "Cf" or ord(character) in _SELECTORS


def fold_spelling(text: str) -> str:
    r"""Return a text without differences of case and of compatible characters such as those of full width.

    Examples
    --------
    >>> from spmld.labels.words import fold_spelling
    >>> fold_spelling("\uff33\uff41\uff44"), fold_spelling("Straße") == fold_spelling("STRASSE")
    ('sad', True)
    """
    text = clean_spelling(text)
    if text.isascii():
        return text.lower()
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split())


def join_words(text: str) -> str:
    """Return a folded text without spaces, hyphens and underscores.

    Examples
    --------
    >>> from spmld.labels.words import join_words
    >>> join_words("Hip-Hop") == join_words("hip hop") == join_words("hip_hop")
    True
    """
    return "".join(c for c in fold_spelling(text) if unicodedata.category(c) not in ("Zs", "Pd", "Pc"))


def label_words(
    positive: Iterable[Any] = (), negative: Iterable[Any] = (), missing: Iterable[Any] = ()
) -> dict[str, float]:
    """Return the number of each word, 1, 0 or NaN: those that are built in, and others, which take precedence.

    Examples
    --------
    >>> from spmld.labels.words import label_words
    >>> words = label_words(positive=["Present"], negative=["absent", "?"])
    >>> words["present"], words["absent"], words["?"], words["yes"]
    (1.0, 0.0, 0.0, 1.0)
    """
    built_in = ((1.0, POSITIVE_WORDS), (0.0, NEGATIVE_WORDS), (math.nan, MISSING_WORDS))
    others = ((1.0, positive), (0.0, negative), (math.nan, missing))
    return {fold_spelling(str(word)): number for number, words in (*built_in, *others) for word in words}


def word_to_number(value: Any, words: Mapping[str, float] | None = None) -> float | None:
    """Return 1 for a positive word, 0 for a negative one, NaN for a missing one, and None for any other value.

    Case, width, invisible characters and surrounding spaces are ignored. `words` are those of `label_words`, by default
    the words that are built in.

    Examples
    --------
    >>> from spmld.labels.words import word_to_number
    >>> [word_to_number(word) for word in ("Yes", "nein", " x ", "да", "?", "maybe")]
    [1.0, 0.0, 1.0, 1.0, nan, None]
    """
    return (_WORDS if words is None else words).get(fold_spelling(value)) if isinstance(value, str) else None


_WORDS = label_words()


def to_number(value: Any, words: Mapping[str, float] | None = None) -> float:
    """Convert a number, or a truth value as bool or text, to float; None and empty text become NaN.

    Examples
    --------
    >>> from spmld.labels.words import to_number
    >>> to_number("ja"), to_number("2.5"), to_number(None)
    (1.0, 2.5, nan)
    """
    if value is None:
        return math.nan
    number = word_to_number(value, words)
    return float(value) if number is None else number


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

"""Words for labels in tables: yes and no in several languages and spellings, signs, and missing values."""

import math
import operator
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
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
NO_TAGS_WORDS = frozenset(
    {
        *("-", "--", "---", "\u2013", "\u2014", "none", "no tags", "keine", "aucun", "aucune", "ninguno", "ninguna"),
        *("nessuno", "nessuna", "nenhum", "nenhuma", "geen", "ingen"),
    }
)
"""Words for no tags in a column of tags. Other words for missing labels mean an empty field there."""
WORDS = "yes/no, y/n, true/false, x, 1/0, ✓/✗, and yes/no in other languages"
"""The words, for error messages."""
_MEANINGS = {"positive": 1.0, "negative": 0.0, "missing": math.nan}
USUAL_NUMBERS: dict[float, float] = {1.0: 1.0, 0.0: 0.0, -1.0: -1.0}
"""Meaning of numbers if none are passed."""
_COMPARISONS = {
    ">=": operator.ge,
    "≥": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "≤": operator.le,
    "<": operator.lt,
}
_THRESHOLD = re.compile("(>=|≥|>|<=|≤|<) ?(.+)")
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


_BUILT_IN: dict[str | float, float] = {
    fold_spelling(word): _MEANINGS[option]
    for option, words in (("positive", POSITIVE_WORDS), ("negative", NEGATIVE_WORDS), ("missing", MISSING_WORDS))
    for word in words
}


@dataclass(frozen=True)
class LabelWords:
    """Meaning of the words and numbers of label columns: 1 for positive, 0 for negative and NaN for missing.

    Attributes
    ----------
    meanings : mapping of str or float to float
        Meaning of each word, in folded spelling, and of numbers that were passed.
    thresholds : mapping of str to (str, float)
        Comparison and bound of the words that are thresholds, such as ``(">=", 2.0)``.
    usual : mapping of float to float
        Meaning of numbers that are neither passed nor compared with a threshold.
    rest : float or None
        Meaning of all other numbers; None if they are not labels.

    Examples
    --------
    See `label_words`.
    """

    meanings: Mapping[str | float, float]
    thresholds: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    usual: Mapping[float, float] = field(default_factory=lambda: USUAL_NUMBERS)
    rest: float | None = None

    def read(self, value: Any) -> float | None:
        """Return the meaning of a value, None if it is not a label. The number -1 is unchanged unless it is passed."""
        if value is None:
            return math.nan
        number = parse_float(value)
        if number is None:
            return self.meanings.get(fold_spelling(value)) if isinstance(value, str) else None
        meaning = self._passed(number)
        return self.usual.get(number, self.rest) if meaning is None else meaning

    def rest_number(self, value: Any) -> float | None:
        """Return a value as number if its meaning is `rest`, else None."""
        number = parse_float(value)
        if number is None or self.rest is None or number in self.usual:
            return None
        return number if self._passed(number) is None else None

    def without_numbers(self) -> "LabelWords":
        """Return the words, with the usual meaning of numbers."""
        return LabelWords({word: meaning for word, meaning in self.meanings.items() if isinstance(word, str)})

    def _passed(self, number: float) -> float | None:
        """Return the meaning of a number that was passed, or else of the thresholds, first those of missing labels."""
        if number in self.meanings:
            return self.meanings[number]
        applying = {
            self.meanings[word]: word
            for word, (comparison, bound) in self.thresholds.items()
            if _COMPARISONS[comparison](number, bound)
        }
        if any(map(math.isnan, applying)):
            return math.nan
        if len(applying) > 1:
            text = f"{number:g} is both positive ({applying[1.0]}) and negative ({applying[0.0]})"
            raise ValueError(f"{text}; pass it to one of positive and negative")
        return next(iter(applying), None)


def label_words(positive: Iterable[Any] = (), negative: Iterable[Any] = (), missing: Iterable[Any] = ()) -> LabelWords:
    """Return the meaning of words and numbers: those that are built in, and others, which take precedence.

    Parameters
    ----------
    positive, negative, missing : iterable
        Words, numbers, and thresholds of numbers, such as ``">=2"``, with one of ``>=``, ``>``, ``<=`` and ``<``. A
        number takes precedence over a threshold, and a threshold of `missing` over the others.

        With numbers in `positive` only, all other numbers are negative; with thresholds in `negative` only, all others
        are positive. With numbers in both, all others are missing if one of them is a threshold, and otherwise not
        labels. With numbers but no threshold in `negative` only, 1 is positive.

    Examples
    --------
    >>> from spmld.labels.words import label_words
    >>> words = label_words(positive=["Present"], negative=["absent", "?"])
    >>> [words.read(value) for value in ("present", "absent", "?", "yes", 1, "maybe")]
    [1.0, 0.0, 0.0, 1.0, 1.0, None]
    >>> votes = label_words(positive=[">=2"], missing=[-1])
    >>> [votes.read(value) for value in (-1, 0, "1.0", 2, "3")]
    [nan, 0.0, 0.0, 1.0, 1.0]
    """
    option_of: dict[str | float, str] = {}
    for option, values in (("positive", positive), ("negative", negative), ("missing", missing)):
        for value in map(str, values):
            number = parse_float(value)
            other = option_of.setdefault(fold_spelling(value) if number is None else number, option)
            if other != option:
                raise ValueError(f"{value!r} is in both {other} and {option}; pass it to one of them")
    thresholds = {key: parsed for key in option_of if isinstance(key, str) and (parsed := _parse_threshold(key))}
    with_numbers = {option for key, option in option_of.items() if isinstance(key, float) or key in thresholds}
    with_thresholds = {option_of[key] for key in thresholds} - {"missing"}
    usual = USUAL_NUMBERS
    rest = None
    if {"positive", "negative"} <= with_numbers:
        usual = {}
        rest = math.nan if with_thresholds else None
    elif "positive" in with_numbers:
        usual = {}
        rest = 0.0
    elif "negative" in with_thresholds:
        usual = {}
        rest = 1.0
    elif "negative" in with_numbers:
        usual = {1.0: 1.0}
    passed = {key: _MEANINGS[option] for key, option in option_of.items()}
    return LabelWords({**_BUILT_IN, **passed}, thresholds, usual, rest)


def _parse_threshold(text: str) -> tuple[str, float] | None:
    """Return the comparison and the bound of a threshold, None for other words."""
    match = _THRESHOLD.fullmatch(text)
    bound = None if match is None else parse_float(match[2])
    return None if match is None or bound is None else (match[1], bound)


def tag_words(
    positive: Iterable[Any] = (), negative: Iterable[Any] = (), missing: Iterable[Any] = ()
) -> dict[str, float]:
    """Return the words that are not tags: 0 for those that mean no tags, and NaN for an empty field.

    Examples
    --------
    >>> from spmld.labels.words import tag_words
    >>> words = tag_words(positive=["None"], missing=["-"])
    >>> words["-"], words["n/a"], "none" in words
    (nan, nan, False)
    """
    words = dict.fromkeys(MISSING_WORDS - {""}, math.nan) | dict.fromkeys(NO_TAGS_WORDS, 0.0)
    words |= dict.fromkeys(fold_words(negative), 0.0) | dict.fromkeys(fold_words(missing), math.nan)
    return {word: meaning for word, meaning in words.items() if word not in fold_words(positive)}


def fold_words(words: Iterable[Any]) -> set[str]:
    """Return several words, or one, in folded spelling.

    Examples
    --------
    >>> from spmld.labels.words import fold_words
    >>> fold_words("None"), fold_words(["None", "none"])
    ({'none'}, {'none'})
    """
    return {fold_spelling(str(word)) for word in ([words] if isinstance(words, str) else words)}


def parse_float(value: Any) -> float | None:
    """Return a finite number, or a text with one, as float; None for other values.

    Examples
    --------
    >>> from spmld.labels.words import parse_float
    >>> parse_float(" 1.0 "), parse_float(2), parse_float("two"), parse_float("nan")
    (1.0, 2.0, None, None)
    """
    try:
        number = float(fold_spelling(value) if isinstance(value, str) else value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def word_to_number(value: Any) -> float | None:
    """Return 1 for a positive word, 0 for a negative one, NaN for a missing one, and None for any other value.

    Case, width, invisible characters and surrounding spaces are ignored.

    Examples
    --------
    >>> from spmld.labels.words import word_to_number
    >>> [word_to_number(word) for word in ("Yes", "nein", " x ", "да", "?", "maybe")]
    [1.0, 0.0, 1.0, 1.0, nan, None]
    """
    return _BUILT_IN.get(fold_spelling(value)) if isinstance(value, str) else None


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

"""Spellings of the same word: forms of Unicode, invisible characters, widths and cases."""

import unicodedata

_SELECTORS = range(0xFE00, 0xFE10)  # variation selectors, as after the check mark of a phone


def clean_spelling(text: str) -> str:
    r"""Return a text in one form of Unicode (NFC), without invisible characters, with single spaces.

    Texts that look the same become equal.

    Examples
    --------
    >>> from spmld.labels.spelling import clean_spelling
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
    >>> from spmld.labels.spelling import is_blank
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
    >>> from spmld.labels.spelling import fold_spelling
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
    >>> from spmld.labels.spelling import join_words
    >>> join_words("Hip-Hop") == join_words("hip hop") == join_words("hip_hop")
    True
    """
    return "".join(c for c in fold_spelling(text) if unicodedata.category(c) not in ("Zs", "Pd", "Pc"))

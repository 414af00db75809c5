"""Terms of texts: words, pairs of words and character n-grams, chosen by their document frequency."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

# Words and their pairs are the standard of text classification (Wang and Manning, 2012). Character n-grams within words
# of up to five letters also match inflections, compounds and typos, and their weights are shared by related words, as
# in fastText (Bojanowski et al., 2017); n-grams of 2 are the shortest that say more than a letter.
ANALYZERS: dict[str, dict[str, Any]] = {
    "words": {"analyzer": "word", "ngram_range": (1, 2)},
    "characters": {"analyzer": "char_wb", "ngram_range": (2, 5)},
}
"""Options of the vectorizers of a text column."""
MAX_TEXTS = 20_000
"""Maximum number of texts from which the terms are chosen, which bounds the memory for all of their n-grams."""


def term_vectorizer(kind: str, texts: Sequence[str], max_terms: int) -> TfidfVectorizer:
    """Return a TF-IDF vectorizer of the terms of a kind in ANALYZERS that occur in most texts.

    Terms of a single one of a hundred or more texts are left out, unless no word occurs in two of them.

    Examples
    --------
    >>> from spmld.tables.text_terms import term_vectorizer
    >>> sorted(term_vectorizer("words", ["a slow song", "a slow dance", "dance"], 3).vocabulary)
    ['dance', 'slow', 'slow dance']
    """
    options = ANALYZERS[kind]
    sample = [texts[i] for i in np.linspace(0, len(texts) - 1, min(len(texts), MAX_TEXTS)).astype(int)]
    counter = CountVectorizer(**options, binary=True)
    frequencies = np.asarray(counter.fit_transform(sample).sum(axis=0)).ravel()
    terms = counter.get_feature_names_out()
    if len(texts) >= 100 and _has_repeated_words(texts):
        terms = terms[frequencies >= 2]
        frequencies = frequencies[frequencies >= 2]
    chosen = np.sort(np.argsort(-frequencies, kind="stable")[:max_terms])
    return TfidfVectorizer(**options, sublinear_tf=True, vocabulary=terms[chosen].tolist())


def _has_repeated_words(texts: Sequence[str]) -> bool:
    """Return whether a word occurs in two texts, so that words of a single text can be left out."""
    seen: set[str] = set()
    for text in texts:
        words = {word for word in text.lower().split() if len(word) > 2 and word.isalnum()}
        if words & seen:
            return True
        seen |= words
    return False

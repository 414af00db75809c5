"""Operators of ONNX that count the character n-grams of texts."""

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from spmld.export.onnx_graph import Tensor

_NO_SPACES = r"[^\s\x0b\x1c-\x1f\x85\p{Z}]+"


def count_characters(texts: Tensor, *, model: CountVectorizer, locale: str) -> Tensor:
    """Return the numbers of character n-grams within words.

    All words are written with a space on both sides, and padded with spaces: no n-gram has two of them in a row.
    """
    flat = texts.apply("Reshape", texts.constant([-1], np.int64))
    if model.lowercase:
        flat = flat.apply("StringNormalizer", case_change_action="LOWER", is_case_sensitive=0, locale=locale)
    split = {"domain": "com.microsoft", "mark": 0, "mincharnum": 1, "pad_value": " "}
    words = flat.apply("Tokenizer", tokenexp=_NO_SPACES, **split)
    characters = words.apply("Tokenizer", tokenexp=".", **split)
    space = words.apply("Unsqueeze", words.constant([2], np.int64)).apply("Shape")
    spaces = words.text(" ").apply("Expand", space)
    padded = spaces.apply("Concat", characters, spaces, axis=2).apply("Reshape", words.constant([0, -1], np.int64))
    low, high = model.ngram_range
    by_length: list[list[str]] = [[] for _ in range(high)]
    for term in sorted(model.vocabulary_):
        by_length[len(term) - 1].append(term)
    pool = ["".join(terms) for terms in by_length]
    return padded.apply(
        "TfIdfVectorizer",
        mode="TF",
        min_gram_length=low,
        max_gram_length=high,
        max_skip_count=0,
        ngram_counts=np.cumsum([0, *map(len, pool[:-1])]).tolist(),
        ngram_indexes=[int(model.vocabulary_[term]) for terms in by_length for term in terms],
        pool_strings=list("".join(pool)),
    )

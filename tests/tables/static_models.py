"""A tiny model of static embeddings, in which synonyms have the same vector."""

import numpy as np
import pytest

VECTORS = {
    "slow": (1, 0, 0),
    "calm": (1, 0, 0),
    "loud": (0, 1, 0),
    "noisy": (0, 1, 0),
    "text": (1, 1, 0),
    "[UNK]": (0, 0, 0),
}


def write_static_model(folder, vectors=VECTORS):
    """Write a model of model2vec, in which words have these vectors."""
    model2vec = pytest.importorskip("model2vec")
    tokenizers = pytest.importorskip("tokenizers")
    words = {word: i for i, word in enumerate(vectors)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, "[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    model2vec.StaticModel(np.array(list(vectors.values()), dtype=float), tokenizer).save_pretrained(folder)

"""Features of texts on real tags: words, words and characters as in `TableEncoder`, and embeddings beside them.

``python -m benchmarks.text [FILE ...] [--embed MODEL]`` takes minutes for each table. A FILE is a table with the
columns "text" and "tags", whose tags are separated by ";". Without one, the texts are the names and descriptions of
Debian packages, if ``apt-cache`` lists them, and the labels are their tags (debtags): one table with the tags about
what a package is for, and one with those about how it is made. MODEL is that of ``spmld fit --embed``; by default, it
is made of the vectors in the package wordllama (``pip install --no-deps wordllama``); without it nothing is embedded.

Descriptions that are repeated are used once. Of the texts in random order, the first 1,500 train `SelfPacedEnsemble`
with its default parameters, and the next 3,000 test it. Labels are the 30 tags of most texts. Output: the macro average
precision on all test labels if all training labels are observed, and if a random half is.
"""

import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer

from benchmarks.sizes import sized
from spmld import SelfPacedEnsemble
from spmld.datasets import make_songs
from spmld.labels import hide_labels, read_tags
from spmld.metrics import macro_average_precision
from spmld.tables import TableEncoder, read_table

N_TRAIN = sized(1500, 60)
N_TEST = sized(3000, 60)
N_LABELS = sized(30, 3)
FACETS = {
    "purpose": ("use", "works-with", "field", "game", "web", "network", "security", "sound", "admin", "mail"),
    "technology": ("implemented-in", "interface", "uitoolkit", "devel", "role", "scope", "suite", "made-of"),
}
"""Facets of debtags, which are the parts of the tags before the colons."""


def main(*arguments):
    paths = list(arguments)
    embed = None
    if "--embed" in paths:
        i = paths.index("--embed")
        embed = paths[i + 1]
        del paths[i : i + 2]
    elif find_spec("wordllama"):
        folder = tempfile.TemporaryDirectory()
        embed = folder.name
        write_wordllama(embed)
    tables = {path: read_table(path) for path in paths} or default_tables()
    print(f"{'table':<14}{'features':<20}{'all observed':>16}{'half missing':>16}")
    for name, table in tables.items():
        table = table.dropna(subset="text").drop_duplicates("text")
        tags = read_tags(table["tags"], sep=";", empty_is="negative")
        Y = tags.Y[:, np.argsort(-tags.Y.sum(axis=0), kind="stable")[:N_LABELS]]
        for features, scores in evaluate(table[["text"]], Y, embed):
            print(f"{Path(name).stem:<14}{features:<20}" + "".join(f"{score:>16.3f}" for score in scores), flush=True)
    if embed is None:
        print("embeddings are left out: pass --embed MODEL, or install wordllama")


def write_wordllama(folder):
    """Write the static embeddings in the package wordllama as a model of model2vec."""
    from model2vec import StaticModel
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    package = Path(find_spec("wordllama").origin).parent
    (vectors,) = load_file(next(package.glob("weights/*.safetensors"))).values()
    tokenizer = Tokenizer.from_file(str(next(package.glob("tokenizers/*.json"))))
    tokenizer.no_padding()
    StaticModel(vectors, tokenizer, normalize=True).save_pretrained(folder)


def default_tables():
    """Return the descriptions and tags of Debian packages, songs in a smoke run, or nothing with the reason."""
    if sized(False, True):
        songs = make_songs(200, random_state=0)
        tags = [";".join(np.array(songs.label_names)[row == 1]) for row in songs.Y_true]
        return {"songs": pd.DataFrame({"text": songs.texts, "tags": tags})}
    if shutil.which("apt-cache") is None:
        print("no texts: apt-cache is not installed; pass a table with the columns text and tags")
        return {}
    packages = read_packages(subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True).stdout)
    if not packages:
        print("no texts: apt-cache lists no packages with tags; run apt-get update, or pass a table")
        return {}
    tables = {}
    for name, facets in FACETS.items():
        chosen = {text: [tag for tag in tags if tag.split("::")[0] in facets] for text, tags in packages.items()}
        rows = [(text, ";".join(tags)) for text, tags in chosen.items() if tags]
        tables[name] = pd.DataFrame(rows, columns=["text", "tags"])
    return tables


def read_packages(dump):
    """Return the tags of each text, the name and the description of a package, with different descriptions."""
    packages = {}
    for paragraph in dump.split("\n\n"):
        lines = paragraph.replace("\n ", " ").splitlines()
        fields = dict(line.split(": ", 1) for line in lines if ": " in line)
        if fields.get("Tag") and fields.get("Description"):
            tags = [tag.strip() for tag in fields["Tag"].split(",")]
            packages.setdefault(fields["Description"], (fields["Package"], tags))
    return {f"{name}: {description}": tags for description, (name, tags) in packages.items()}


def evaluate(texts, Y, embed):
    """Yield the average precisions with all labels, and with half of them, for each kind of features."""
    order = np.random.default_rng(0).permutation(len(texts))
    train = order[:N_TRAIN]
    test = order[N_TRAIN : N_TRAIN + N_TEST]
    Y_half = hide_labels(Y[train], 0.5, random_state=0)
    words = TfidfVectorizer(sublinear_tf=True, min_df=2, max_features=20_000)
    encoders = {"words": words, "and characters": TableEncoder(text="text")}
    if embed is not None:
        encoders["and embeddings"] = TableEncoder(text="text", embed=embed)
    for name, encoder in encoders.items():
        columns = texts["text"] if encoder is words else texts
        X = encoder.fit_transform(columns.iloc[train])
        X_test = encoder.transform(columns.iloc[test])
        models = [SelfPacedEnsemble(random_state=0).fit(X, observed) for observed in (Y[train], Y_half)]
        yield name, [macro_average_precision(Y[test], model.decision_function(X_test)) for model in models]


if __name__ == "__main__":
    main(*sys.argv[1:])

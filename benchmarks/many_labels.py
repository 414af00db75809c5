"""MaskedLogistic compared with libraries for many labels: napkinXC, omikuji and PECOS.

``python -m benchmarks.many_labels --python NAPKINXC_AND_OMIKUJI --pecos PECOS`` prints a table for generated text with
4,000 and 10,000 labels, with all entries observed and with 30 % of them, which the other libraries read as negatives.
The options are Python interpreters in whose environments these libraries are installed (napkinxc 0.7, omikuji 0.5,
libpecos 1.2 with scipy < 1.14); methods without an interpreter are left out. ``--data FILE`` adds tables for files of
real data that `spmld.datasets.read_dataset` can read: ARFF, LIBSVM, the format of the extreme-classification repository
and others. ``--seed`` is that of the generated text, of the observed entries and of the split of a file.

Each method runs in a process of its own with two threads and its default parameters. MaskedLogistic is also run with
C = 30, which was selected on generated text with other seeds: it suits features of unit length and rare labels. Its
tolerance is then 0.1, which takes less time.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.peers import METHODS
from benchmarks.sizes import sized
from spmld._table import TextTable
from spmld.datasets import read_dataset

SIZES = sized({4000: (15_500, 5_000), 10_000: (15_000, 20_000)}, {100: (200, 300)})
"""Numbers of samples and of features by number of labels."""
LABELS_OF_TOPIC, TOPIC_WORDS, LABEL_WORDS = 20, 60, 30
KS = (1, 3, 5)


def make_text(n, d, l, seed=0):
    """Return tf-idf features and labels of generated documents.

    Labels have Zipf frequencies and belong to topics; a document has about 5 labels, most of one topic. 12 % of its 250
    words are words of its labels, of which 40 % are words of the topic; the others have Zipf frequencies.
    """
    rng = np.random.default_rng(seed)
    n_topics = l // LABELS_OF_TOPIC
    topic = np.sort(rng.integers(n_topics, size=l))
    mass = np.cumsum(1 / (rng.permutation(l) + 6.0))
    first, last = (np.searchsorted(topic, np.arange(n_topics), side) for side in ("left", "right"))
    low, high = np.append(0, mass)[first], np.append(0, mass)[last]

    def draw_labels(low, high, count):
        return np.minimum(np.searchsorted(mass, low + rng.random(count) * (high - low)), l - 1)

    main = draw_labels(0, mass[-1], n)
    rows = np.repeat(np.arange(n), rng.poisson(5.5, n))
    inside, of_row = rng.random(len(rows)) < 0.6, topic[main][rows]
    others = draw_labels(np.where(inside, low[of_row], 0), np.where(inside, high[of_row], mass[-1]), len(rows))
    Y = binary(np.append(np.arange(n), rows), np.append(main, others), (n, l))

    zipf = np.cumsum(1 / (np.arange(d) + 11.0))

    def draw_words(shape):
        return np.minimum(np.searchsorted(zipf, rng.random(shape) * zipf[-1]), d - 1)

    shape, topic_words = (l, LABEL_WORDS), rng.integers(d, size=(n_topics, TOPIC_WORDS))
    own = np.where(rng.random(shape) < 0.5, draw_words(shape), rng.integers(d, size=shape))
    shared = topic_words[topic[:, None], rng.integers(TOPIC_WORDS, size=shape)]
    label_words = np.where(rng.random(shape) < 0.4, shared, own)
    rows = np.repeat(np.arange(n), rng.poisson(250, n))
    label = Y.indices[Y.indptr[rows] + (rng.random(len(rows)) * np.diff(Y.indptr)[rows]).astype(int)]
    rank = (LABEL_WORDS * rng.random(len(rows)) ** 1.5).astype(int)
    words = np.where(rng.random(len(rows)) < 0.12, label_words[label, rank], draw_words(len(rows)))
    return tf_idf(sp.csr_array((np.ones(len(rows)), (rows, words)), shape=(n, d))), Y


def binary(rows, columns, shape):
    Y = sp.csr_array((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=shape)
    Y.sum_duplicates()
    Y.data[:] = 1
    return Y


def tf_idf(counts):
    """Return logarithmic word counts, weighted by inverse document frequency and scaled to unit length, as float32."""
    counts.sum_duplicates()
    n, d = counts.shape
    idf = np.log((1 + n) / (1 + np.bincount(counts.indices, minlength=d))) + 1
    values = (1 + np.log(counts.data)) * idf[counts.indices]
    X = sp.csr_array((values, counts.indices, counts.indptr), shape=(n, d))
    lengths = np.sqrt(X.multiply(X).sum(axis=1))
    X = sp.csr_array(X.multiply(1 / np.where(lengths > 0, lengths, 1)[:, None])).astype(np.float32)
    return sp.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=(n, d))


def inverse_propensities(Y, a=0.55, b=1.5):
    """Return the weights of positives of each label by the model of Jain, Prabhu and Varma (KDD 2016)."""
    C = (np.log(Y.shape[0]) - 1) * (b + 1) ** a
    return 1 + C * (np.bincount(Y.indices, minlength=Y.shape[1]) + b) ** -a


def precisions(Y, top, weights):
    """Return precision at 1, 3 and 5 and propensity-scored precision at 1, 3 and 5, in percent."""
    positives = np.split(Y.indices, Y.indptr[1:-1])
    hits = np.array([np.isin(labels, positive) for labels, positive in zip(top, positives, strict=True)])
    gains = [np.sort(weights[positive])[::-1] for positive in positives]
    best = [sum(gain[:k].sum() for gain in gains) for k in KS]
    scored = [100 * (hits * weights[top])[:, :k].sum() / b for k, b in zip(KS, best, strict=True)]
    return [100 * hits[:, :k].mean() for k in KS] + scored


def compare(title, X, Y, interpreters, observed, seed=0):
    """Print the table of all methods. A fifth of the samples are test samples, with all of their labels."""
    n_test = X.shape[0] // 5
    train, test = slice(0, -n_test), slice(-n_test, None)
    weights = inverse_propensities(Y[train])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        Y_train = Y[train]
        if observed < 1:
            mask = np.random.default_rng(seed).random(Y_train.shape, dtype=np.float32) < observed
            sp.save_npz(folder / "mask.npz", sp.csr_array(mask))
            Y_train = sp.csr_array(Y_train.multiply(mask))
            Y_train.eliminate_zeros()
        for file, matrix in (("X", X[train]), ("Y", Y_train), ("X_test", X[test])):
            sp.save_npz(folder / f"{file}.npz", matrix)
        rows = []
        for method, interpreter in interpreters.items():
            command = [interpreter, str(Path(__file__).with_name("peers.py")), method, name]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
            quality = precisions(Y[test], np.load(folder / "top.npy"), weights)
            values = [result["seconds"], result["cpu"], *quality, result["MiB"], result["GiB"], result["ms"]]
            rows.append([method, *(f"{value:.{1 if value > 5 else 2}f}" for value in values)])
            print(*rows[-1], flush=True)
    columns = ["method", "s", "CPU s", *(f"P@{k}" for k in KS), *(f"PSP@{k}" for k in KS), "MiB", "GiB", "ms"]
    print(f"\n{title}, {observed:.0%} of the entries observed\n{TextTable(columns, rows)}\n", flush=True)


def main(*arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", help="interpreter with napkinxc and omikuji")
    parser.add_argument("--pecos", help="interpreter with libpecos")
    parser.add_argument("--labels", type=int, nargs="*", default=list(SIZES), choices=list(SIZES))
    parser.add_argument("--methods", nargs="*", default=sized(list(METHODS), ["MaskedLogistic"]), choices=list(METHODS))
    parser.add_argument("--observed", type=float, nargs="*", default=sized([1.0, 0.3], [0.3]))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", nargs="*", default=[], metavar="FILE")
    options = parser.parse_args(arguments)
    interpreters = {"MaskedLogistic": sys.executable, "PECOS": options.pecos}
    chosen = {name: interpreters.get(name.split(",")[0].split()[0], options.python) for name in options.methods}
    chosen = {name: interpreter for name, interpreter in chosen.items() if interpreter}
    for observed in options.observed:
        for l in options.labels:
            n, d = SIZES[l]
            title = f"{n - n // 5:,} training samples, {d:,} features, {l:,} labels"
            compare(title, *make_text(n, d, l, options.seed), chosen, observed, options.seed)
        for file in options.data:
            data = read_dataset(file)
            X, Y = sp.csr_array(data.X, dtype=float), sp.csr_array(np.asarray(data.Y) == 1, dtype=np.int8)
            X.eliminate_zeros()
            # omikuji cannot read samples without features
            order = np.random.default_rng(options.seed).permutation(np.flatnonzero(np.diff(X.indptr)))
            X, Y = X[order], Y[order]
            compare(f"{Path(file).stem}, {Y.shape[1]} labels", tf_idf(X), Y, chosen, observed, options.seed)


if __name__ == "__main__":
    main(*sys.argv[1:])

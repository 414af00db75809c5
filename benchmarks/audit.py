"""Detection of label errors, of people and simulated: the lists of the audit, its self-confidence, and cleanlab.

``python -m benchmarks.audit [language or data set ...]`` takes about ten minutes and requires the data, from SPMLD_DATA
or by download. If cleanlab is installed, ``pip install --group bench``, there are columns of its label quality scores
per class, from the same out-of-fold probabilities. Since it does not support missing labels, each class is scored on
its observed samples; "adjusted" is self-confidence with probabilities adjusted by class.

The first table is of real errors: the labels of one of several annotators of 2,000 texts, two annotators in each
language. An entry is wrong if the majority of at least two others contradicts it; other entries are not counted. The
features are TF-IDF values of character 2- to 4-grams.

The second table is of simulated errors in 70 % of the training labels, mean of three seeds: 30 % of the samples have
the labels of another one ("permute"), 40 % of the positives are moved to another label ("swap") or dropped ("drop"),
or 3 % of the negatives become positive ("add"), or of the entries change ("flip").

There is a row for each list of `spmld.audit.find_label_issues`: labels that are present, that are absent, and both. The
columns are the fraction of wrong entries, the average precision of each order, and the precision of its first 100.
"""

import sys
import warnings
from importlib.util import find_spec

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import average_precision_score

from benchmarks.sizes import sized
from spmld._table import TextTable
from spmld.audit import find_label_issues
from spmld.audit.issues import LISTS
from spmld.labels import corrupt_labels, hide_labels
from studies.annotated_texts import LANGUAGES, contradicted, load_annotated_texts
from studies.data import load
from studies.methods import label_quality

NAMES = sized((*LANGUAGES, "emotions", "enron", "medical", "scene"), ("planted",))
KINDS = {"permute": 0.3, "swap": 0.4, "drop": 0.4, "add": 0.03, "flip": 0.03}
METHODS = {
    "margin": ("normalized_margin", False),
    "entropy": ("confidence_weighted_entropy", False),
    "adjusted": ("self_confidence", True),
}
if find_spec("cleanlab") is None:
    METHODS = {}
ORDERS = ("audit", "self", *METHODS)
SEEDS = range(sized(3, 1))
N_TEXTS = 2000
N_ANNOTATORS = 2
N_FIRST = 100


def main(names=NAMES):
    warnings.simplefilter("ignore")
    columns = ("data", "labels of", "list", "wrong", *ORDERS, *(f"{name}, first {N_FIRST}" for name in ORDERS))
    for kinds, run in ((range(N_ANNOTATORS), run_annotator), (KINDS, run_simulated)):
        chosen = [name for name in names if (name in LANGUAGES) == (run is run_annotator)]
        rows = [row for name in chosen for kind in kinds for row in rows_of(name, kind, run(name, kind))]
        if rows:
            print(TextTable(columns, rows).to_markdown() + "\n", flush=True)


def rows_of(name, kind, results):
    """Return a row of the table for each list that has wrong entries."""
    for listed, values in zip(LISTS, results, strict=True):
        if not np.isnan(values).any():
            yield [name, kind, listed, *(f"{value:.3f}" for value in values)]


def run_annotator(language, annotator):
    """Return the results of the lists for the labels of an annotator."""
    data = load_annotated_texts(language, N_TEXTS)
    X = TfidfVectorizer(analyzer="char", ngram_range=(2, 4), min_df=3).fit_transform(data.texts)
    return evaluate(X, data.answers[annotator], contradicted(data.answers, annotator), seed=0)


def run_simulated(name, kind):
    """Return the results of the lists for corrupted labels, means of the seeds."""
    data = load(name)
    return np.mean([evaluate(data.X_train, *corrupted(data.Y_train, kind, seed), seed) for seed in SEEDS], axis=0)


def corrupted(truth, kind, seed):
    """Return labels with errors, of which 70 % are observed, and which of them are wrong."""
    if kind == "add":
        Y = np.where(np.random.default_rng(seed).random(truth.shape) < KINDS[kind], 1, truth)
    else:
        Y = corrupt_labels(truth, kind, KINDS[kind], random_state=seed)
    Y = hide_labels(Y, 0.7, random_state=seed)
    return Y, np.where(np.isnan(Y), np.nan, truth != Y)


def evaluate(X, Y, wrong, seed):
    """Return, for each list, the fraction of wrong entries, and average precisions and precisions of the orders."""
    issues = find_label_issues(None, X, Y, random_state=seed)
    p = issues.probabilities
    qualities = [issues.quality_log_odds, np.where(Y == 1, p, 1 - p)]
    qualities += [label_quality(issues, *method) for method in METHODS.values()]
    results = []
    for listed in LISTS:
        entries = [place for place in issues.order(listed) if not np.isnan(wrong.flat[place])]
        answers = wrong.flat[entries]
        scores = [-quality.flat[entries] for quality in qualities]
        precisions = [average_precision_score(answers, score) if answers.any() else np.nan for score in scores]
        first = [answers[np.argsort(-score, kind="stable")[:N_FIRST]].mean() for score in scores]
        results.append([answers.mean(), *precisions, *first])
    return results


if __name__ == "__main__":
    main(sys.argv[1:] or NAMES)

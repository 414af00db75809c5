"""Track G, real missing labels: toxicity of compounds in twelve assays, 8 to 26 % of the results missing.

``python -m benchmarks.tox21`` takes about five minutes. It reads ``Tox21_compound.npz``, ``Tox21_assay.npz`` and
``published.csv`` (Walter et al. 2022) from the folder ``SPMLD_DATA``, fits `SelfPacedEnsemble` with default parameters
and a fixed seed, and prints means over the assays beside those that were published for eight models, each a mean of 20
runs. *New compounds* are test samples without any label. *Completion* predicts hidden results of compounds from their
features and their other results. Decisions are those of ``decision="macro_f1"``, chosen on the training labels.
"""

import csv
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import average_precision_score, f1_score, matthews_corrcoef, roc_auc_score

from benchmarks.sizes import sized
from spmld import MaskedBoosting, SelfPacedEnsemble
from spmld._table import TextTable
from spmld.datasets.registry import find_file
from spmld.ensemble.costs import LINEAR_VIEWS
from spmld.metrics import expected_calibration_error, log_loss
from studies.data import load

TASKS = sized(("compound", "assay"), ("planted",))
NAMES = {"compound": "new compounds", "assay": "completion", "planted": "planted"}
COLUMNS = ("task", "model", "AUC", "F1", "MCC", "average precision", "log loss", "ECE")


def evaluate(Y, p, predicted):
    """Return means over the assays of metrics of the observed entries, as they were published, and of probabilities."""
    rows = []
    for truth, probability, label in zip(Y.T, p.T, predicted.T, strict=True):
        known = ~np.isnan(truth)
        truth, probability, label = truth[known], probability[known], label[known]
        scores = roc_auc_score(truth, probability), f1_score(truth, label), matthews_corrcoef(truth, label)
        rows.append((*scores, average_precision_score(truth, probability)))
    return [*np.mean(rows, axis=0), log_loss(Y, p), expected_calibration_error(Y, p)]


def published(task):
    """Return the means over the assays of each published model."""
    if task == "planted":
        return
    with open(find_file("published.csv"), encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["split"] == task]
    for method in dict.fromkeys(row["method"] for row in rows):
        values = [[float(row[f"{name}_mean"]) for name in ("AUC", "F1", "MCC")] for row in rows]
        chosen = [row["method"] == method for row in rows]
        yield f"{method} (published)", np.mean(np.array(values)[chosen], axis=0)


def models(task):
    """Return the models of a task by name."""
    views = (*LINEAR_VIEWS, "boosting", "forest")
    options = {"completion": "boosting", "decision": "macro_f1", "random_state": 0}
    yield "SelfPacedEnsemble", SelfPacedEnsemble(**options)
    if task == "compound":
        yield "SelfPacedEnsemble with forests", SelfPacedEnsemble(views=views, **options)
        yield "MaskedBoosting", MaskedBoosting(random_state=0)


def read_parts(task):
    """Return features and labels of the training and test samples; features are stored by indices and row pointers."""
    if task == "planted":
        data = load(task)
        yield from (data.X_train, data.Y_train, data.X_test, data.Y_test)
        return
    with np.load(find_file(f"Tox21_{task}.npz")) as arrays:
        content = dict(arrays)
    n_features = 1 + int(max(content["Xi"].max(), content["Ti"].max()))
    for indices, starts, labels in (("Xi", "Xp", "Y"), ("Ti", "Tp", "Yt")):
        shape = len(content[starts]) - 1, n_features
        yield sp.csr_array((np.ones(len(content[indices])), content[indices], content[starts]), shape=shape)
        yield content[labels]


def results(task):
    """Yield the name and the metrics of each model."""
    X, Y, X_test, Y_test = read_parts(task)
    for name, model in models(task):
        model.fit(X, Y)
        if task == "compound":
            p, predicted = model.predict_proba(X_test), model.predict(X_test)
        else:
            labels, confidences = model.complete(X, Y)
            p, predicted = np.where(labels == 1, confidences, 1 - confidences), labels == 1
        yield name, evaluate(Y_test, p, predicted)


def main():
    warnings.simplefilter("ignore")
    rows = []
    for task in TASKS:
        for model, values in (*results(task), *published(task)):
            cells = [f"{value:.3f}" for value in values]
            rows.append([NAMES[task], model, *cells, *[""] * (len(COLUMNS) - 2 - len(cells))])
    print(TextTable(COLUMNS, rows).to_markdown())


if __name__ == "__main__":
    main()

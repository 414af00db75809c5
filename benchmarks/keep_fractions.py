"""Fraction of labels to keep in self-paced learning with wrong labels, chosen on held-out training samples.

``python -m benchmarks.keep_fractions`` takes a few minutes and requires Medical, from SPMLD_DATA or by download. Models
are fitted on two thirds of the training samples. 30 % of these have the labels of another sample, and 70 % of the
labels are observed. The output is the ranking loss on the correct labels of the other third, mean of three folds and
seeds 0 to 4: for MaskedLogistic, and for final fractions of negatives and positives of a pacing schedule at C = 3.
"""

import numpy as np

from spmld import MaskedLogistic, SelfPacedClassifier
from spmld.datasets import fetch_dataset
from spmld.labels import corrupt_labels, hide_labels
from spmld.metrics import ranking_loss
from spmld.model_selection import MultilabelStratifiedKFold
from spmld.pacing import HardPacing, QuantileSchedule


def models():
    for C in (0.3, 1.0, 3.0, 10.0):
        yield f"plain, C = {C}", MaskedLogistic(C=C)
    for negatives in (0.9, 0.97, 0.99, 1.0):
        for positives in (0.6, 0.7, 0.8, 0.9):
            pacing = HardPacing(schedule=QuantileSchedule(start=(0.9, 0.5), stop=(negatives, positives)))
            base = MaskedLogistic(C=3.0, warm_start=True)
            yield f"self-paced, {negatives} and {positives}", SelfPacedClassifier(base, pacing=pacing)


def main():
    try:
        data = fetch_dataset("medical")
    except ConnectionError as error:
        return print(error)
    X, truth, losses = data.X_train, data.Y_train, {}
    for seed in range(5):
        for train, test in MultilabelStratifiedKFold(3, random_state=seed).split(X, truth):
            Y = hide_labels(corrupt_labels(truth[train], "permute", 0.3, random_state=seed), 0.7, random_state=seed)
            for name, model in models():
                scores = model.fit(X[train], Y).decision_function(X[test])
                losses.setdefault(name, []).append(ranking_loss(truth[test], scores))
    for name, values in sorted(losses.items(), key=lambda item: np.mean(item[1])):
        print(f"{np.mean(values):.4f}  {name}")


if __name__ == "__main__":
    main()

"""How far to pacing where labels are wrong: on training samples held out from the fit, never on test samples.

``python -m benchmarks.shares`` takes some minutes and needs Medical, from SPMLD_DATA or by download. It fits on two
thirds of Medical's training samples, 30 % of them with the labels of another and 70 % of the labels kept, and prints
the ranking loss on the other third by its own labels: for MaskedLogistic, and for shares of negatives and positives
that a pacing ends with at C = 3. Means of three folds and seeds 0 to 4.
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
            host = MaskedLogistic(C=3.0, warm_start=True)
            yield f"paced to {negatives} and {positives}", SelfPacedClassifier(host, pacing=pacing)


def main():
    try:
        data = fetch_dataset("medical")
    except ConnectionError as error:
        return print(error)
    X, truth, found = data.X_train, data.Y_train, {}
    for seed in range(5):
        for train, held in MultilabelStratifiedKFold(3, random_state=seed).split(X, truth):
            Y = hide_labels(corrupt_labels(truth[train], "permute", 0.3, random_state=seed), 0.7, random_state=seed)
            for name, model in models():
                scores = model.fit(X[train], Y).decision_function(X[held])
                found.setdefault(name, []).append(ranking_loss(truth[held], scores))
    for name, losses in sorted(found.items(), key=lambda item: np.mean(item[1])):
        print(f"{np.mean(losses):.4f}  {name}")


if __name__ == "__main__":
    main()

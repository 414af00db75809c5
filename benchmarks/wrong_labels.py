"""Wrong labels: what pacing gains on Medical, and which labels it leaves out.

``python -m benchmarks.wrong_labels`` takes some minutes and needs Medical, from SPMLD_DATA or by download. 30 % of the
training rows get the labels of another, 70 % of the labels are kept; seeds 0 to 4. Where C is chosen, it is by
cross-validation on the observed training labels, wrong ones and all. Test labels are right, and choose nothing.
"""

import numpy as np

from spmld import MaskedLogistic, SelfPacedClassifier
from spmld.datasets import fetch_dataset
from spmld.labels import corrupt_labels, hide_labels
from spmld.metrics import label_ranking_average_precision, ranking_loss
from spmld.tune import tune

C = [0.3, 1.0, 3.0, 10.0]


def main():
    try:
        data = fetch_dataset("medical")
    except ConnectionError as error:
        return print(error)
    losses, weights = {}, []
    for seed in range(5):
        Y = hide_labels(corrupt_labels(data.Y_train, "permute", 0.3, random_state=seed), 0.7, random_state=seed)
        models = fit(data, Y, seed)
        for name, model in models.items():
            scores = model.decision_function(data.X_test)
            found = ranking_loss(data.Y_test, scores), label_ranking_average_precision(data.Y_test, scores)
            losses.setdefault(name, []).append(found)
        weights.append(mean_weights(models["paced, C = 3"].pace_weights_, Y, data.Y_train))
    print(f"{'':<34}{'ranking loss':>22}{'average precision':>22}   (mean and deviation of 5 seeds)")
    for name, found in losses.items():
        cells = zip(np.mean(found, axis=0), np.std(found, axis=0), strict=True)
        print(f"{name:<34}" + "".join(f"{f'{mean:.4f} ({spread:.4f})':>22}" for mean, spread in cells))
    print("\nmean weight of positives, C = 3       right     wrong")
    for name, (right, wrong) in zip(("all labels", "labels with 5 or more observed"), np.mean(weights, 0), strict=True):
        print(f"{name:<34}{right:>9.3f}{wrong:>10.3f}")


def fit(data, Y, seed):
    def chosen(model, name):
        return tune(model, data.X_train, Y, {name: C}, random_state=seed).best_estimator

    host = MaskedLogistic(C=3.0, warm_start=True)
    return {
        "logistic, C chosen": chosen(MaskedLogistic(), "C"),
        "paced, C chosen": chosen(SelfPacedClassifier(host), "estimator__C"),
        "logistic, C = 3": MaskedLogistic(C=3.0).fit(data.X_train, Y),
        "paced, C = 3": SelfPacedClassifier(host).fit(data.X_train, Y),
        "told what is wrong, C = 3": MaskedLogistic(C=3.0).fit(data.X_train, Y, mask=data.Y_train == Y),
    }


def mean_weights(P, Y, truth):
    """Of right and of wrong positives: of all labels, and of those of which the pace leaves something out.

    Of fewer than five positives four fifths, rounded up, are all.
    """
    many = (Y == 1).sum(axis=0) >= 5
    return [
        [P[(Y == 1) & (truth == right) & labels].mean() for right in (1, 0)] for labels in (np.ones_like(many), many)
    ]


if __name__ == "__main__":
    main()

"""Wrong labels: what pacing gains on Medical, what it costs where no label is wrong, and which labels it leaves out.

``python -m benchmarks.wrong_labels`` takes some minutes and needs Medical, from SPMLD_DATA or by download. 70 % of the
training labels are kept, first as they are, then with 30 % of the rows given the labels of another; seeds 0 to 4. C is
3, or chosen by cross-validation on the observed training labels, wrong ones and all. Test labels are there to judge.
"""

import numpy as np

from spmld import MaskedLogistic, SelfPacedClassifier
from spmld.datasets import fetch_dataset
from spmld.labels import corrupt_labels, hide_labels
from spmld.metrics import label_ranking_average_precision, ranking_loss
from spmld.model_selection import tune
from spmld.pacing import HardPacing, QuantileSchedule

C = [0.3, 1.0, 3.0, 10.0]
HALF = HardPacing(schedule=QuantileSchedule(start=(0.9, 0.5), stop=(0.97, 0.5)))


def main():
    try:
        data = fetch_dataset("medical")
    except ConnectionError as error:
        return print(error)
    print(f"mean and deviation of 5 seeds{'ranking loss':>27}{'average precision':>22}")
    for rate in (0.0, 0.3):
        found, weights, chosen = {}, [], []
        for seed in range(5):
            Y = hide_labels(corrupt_labels(data.Y_train, "permute", rate, random_state=seed), 0.7, random_state=seed)
            models = fit(data, Y, seed)
            for name, model in models.items():
                found.setdefault(name, []).append(judge(model, data))
            chosen.append([models["logistic, C chosen"].C, models["paced, C chosen"].estimator.C])
            weights.append(mean_weights(models["paced, C = 3"].self_paced_weights_, Y, data.Y_train))
        print(f"\n{rate:.0%} of the rows with the labels of another")
        for name, values in found.items():
            cells = zip(np.mean(values, axis=0), np.std(values, axis=0), strict=True)
            print(f"{name:<34}" + "".join(f"{f'{mean:.4f} ({spread:.4f})':>22}" for mean, spread in cells), flush=True)
        plain, paced = np.transpose(chosen).tolist()
        print(f"C chosen, by seed: {plain} and, paced, {paced}")
    print(f"\n{'mean weight of positives, C = 3':<34}{'right':>22}{'wrong':>22}")
    for name, (right, wrong) in zip(("all labels", "labels with 5 or more observed"), np.mean(weights, 0), strict=True):
        print(f"{name:<34}{right:>22.3f}{wrong:>22.3f}")


def fit(data, Y, seed):
    def chosen(model, name):
        return tune(model, data.X_train, Y, {name: C}, random_state=seed).best_estimator

    host = MaskedLogistic(C=3.0, warm_start=True)
    return {
        "logistic, C chosen": chosen(MaskedLogistic(), "C"),
        "paced, C chosen": chosen(SelfPacedClassifier(host), "estimator__C"),
        "logistic, C = 3": MaskedLogistic(C=3.0).fit(data.X_train, Y),
        "paced, C = 3": SelfPacedClassifier(host).fit(data.X_train, Y),
        "paced to half of the positives": SelfPacedClassifier(host, pacing=HALF).fit(data.X_train, Y),
        "told what is wrong, C = 3": MaskedLogistic(C=3.0).fit(data.X_train, Y, mask=data.Y_train == Y),
    }


def judge(model, data):
    scores = model.decision_function(data.X_test)
    return ranking_loss(data.Y_test, scores), label_ranking_average_precision(data.Y_test, scores)


def mean_weights(P, Y, truth):
    """Of right and of wrong positives: in all labels, and in those that leave some out.

    Four fifths of fewer than five positives, rounded up, are all of them.
    """
    many = (Y == 1).sum(axis=0) >= 5

    def mean(chosen):
        return P[chosen].mean() if chosen.any() else np.nan

    return [[mean((Y == 1) & (truth == sign) & labels) for sign in (1, 0)] for labels in (np.ones_like(many), many)]


if __name__ == "__main__":
    main()

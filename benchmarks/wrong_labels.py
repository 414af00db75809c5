"""Wrong labels: self-paced learning on Medical, the weights of correct and wrong positives, and decisions with a floor.

``python -m benchmarks.wrong_labels`` takes a few minutes and requires Medical, from SPMLD_DATA or by download. 70 % of
the training labels are observed; seeds 0 to 4. The labels are correct, or 30 % of the samples have the labels of
another sample. C is 3, or selected by cross-validation on the observed training labels, including the wrong ones. The
metrics are computed on the test labels.

The last table has the micro F1 of `SelfPacedEnsemble` on correct test labels, with decisions that are made without the
floor, as by default, and with it. The labels of Medical are correct, or 10 % of the entries are flipped; those of three
designs of `benchmarks.designs` are correct, but have a floor.
"""

import numpy as np
from sklearn.model_selection import GridSearchCV

from benchmarks.designs import draw
from benchmarks.sizes import sized
from spmld import MaskedLogistic, SelfPacedClassifier, SelfPacedEnsemble
from spmld._table import TextTable
from spmld.core.losses import logistic
from spmld.labels import corrupt_labels, hide_labels
from spmld.metrics import label_ranking_average_precision, micro_f1, ranking_loss, scorer
from spmld.model_selection import DecisionRule, MultilabelStratifiedKFold
from spmld.pacing import HardPacing, QuantileSchedule
from studies.data import load

NAME, N_SEEDS = sized(("medical", 5), ("planted", 1))
C = sized([0.3, 1.0, 3.0, 10.0], [1.0, 3.0])
DESIGNS = sized(("unobserved causes", "threshold with floors", "one sided floor"), ("unobserved causes",))
HALF = HardPacing(schedule=QuantileSchedule(start=(0.9, 0.5), stop=(0.97, 0.5)))


def main():
    try:
        data = load(NAME)
    except ConnectionError as error:
        return print(error)
    print(f"mean (std) of {N_SEEDS} seeds{'ranking loss':>35}{'average precision':>22}")
    for rate in (0.0, 0.3):
        results, weights, selected = {}, [], []
        for seed in range(N_SEEDS):
            Y = hide_labels(corrupt_labels(data.Y_train, "permute", rate, random_state=seed), 0.7, random_state=seed)
            models = fit(data, Y, seed)
            for name, model in models.items():
                results.setdefault(name, []).append(test_metrics(model, data))
            selected.append([models["logistic, selected C"].C, models["self-paced, selected C"].estimator.C])
            weights.append(mean_weights(models["self-paced, C = 3"].self_paced_weights_, Y, data.Y_train))
        print(f"\n{rate:.0%} of the samples with the labels of another sample")
        for name, values in results.items():
            columns = zip(np.mean(values, axis=0), np.std(values, axis=0), strict=True)
            print(f"{name:<34}" + "".join(f"{f'{mean:.4f} ({std:.4f})':>22}" for mean, std in columns), flush=True)
        plain, paced = np.transpose(selected).tolist()
        print(f"selected C by seed: {plain}, self-paced {paced}")
    print(f"\n{'mean weight of positives, C = 3':<34}{'correct':>22}{'wrong':>22}")
    names = ("all labels", "labels with at least 5 positives")
    for name, (correct, wrong) in zip(names, np.mean(weights, 0), strict=True):
        print(f"{name:<34}{correct:>22.3f}{wrong:>22.3f}")
    print_decisions(data)


def print_decisions(data):
    """Print the micro F1 of decisions without and with the floor."""
    rows = []
    for rate in (0.0, 0.1):
        values = []
        for seed in range(N_SEEDS):
            flipped = np.random.default_rng(seed).random(data.Y_train.shape) < rate
            Y = np.where(flipped, 1 - data.Y_train, data.Y_train)
            values.append(f1_of_decisions(data.X_train, Y, data.X_test, data.Y_test, seed))
        rows.append([f"{NAME}, {rate:.0%} of the entries flipped", *np.mean(values, axis=0)])
    for name in DESIGNS:
        values = [f1_of_decisions(*draw(name, seed), seed) for seed in range(N_SEEDS)]
        rows.append([name, *np.mean(values, axis=0)])
    columns = ("labels", "mean floor", "micro F1 without the floor", "micro F1 with it")
    print("\n" + TextTable(columns, rows).to_markdown())


def f1_of_decisions(X, Y, X_test, Y_test, seed):
    """Return the floor, and the micro F1 of decisions without it and with it."""
    model = SelfPacedEnsemble(random_state=seed).fit(X, Y)
    with_floor = DecisionRule().fit(logistic(model.out_of_fold_scores_))
    p = model.predict_proba(X_test)
    rules = model.decision_rule_, with_floor
    return [model.noise_.floor.alpha.mean(), *(micro_f1(Y_test, rule.positive(p).astype(int)) for rule in rules)]


def fit(data, Y, seed):
    def select(model, name):
        folds = MultilabelStratifiedKFold(5, random_state=seed)
        search = GridSearchCV(model, {name: C}, cv=folds, scoring=scorer("ranking_loss"))
        return search.fit(data.X_train, Y).best_estimator_

    base = MaskedLogistic(C=3.0, warm_start=True)
    return {
        "logistic, selected C": select(MaskedLogistic(), "C"),
        "self-paced, selected C": select(SelfPacedClassifier(base), "estimator__C"),
        "logistic, C = 3": MaskedLogistic(C=3.0).fit(data.X_train, Y),
        "self-paced, C = 3": SelfPacedClassifier(base).fit(data.X_train, Y),
        "self-paced, half of the positives": SelfPacedClassifier(base, pacing=HALF).fit(data.X_train, Y),
        "oracle, C = 3": MaskedLogistic(C=3.0).fit(data.X_train, Y, mask=data.Y_train == Y),
    }


def test_metrics(model, data):
    scores = model.decision_function(data.X_test)
    return ranking_loss(data.Y_test, scores), label_ranking_average_precision(data.Y_test, scores)


def mean_weights(P, Y, truth):
    """Return mean weights of correct and of wrong positives, for all labels and for labels with at least 5 positives.

    The default schedule keeps four fifths of the positives, rounded up, which is all of them if there are fewer than 5.
    """
    frequent = (Y == 1).sum(axis=0) >= 5

    def mean(entries):
        return P[entries].mean() if entries.any() else np.nan

    groups = (np.ones_like(frequent), frequent)
    return [[mean((Y == 1) & (truth == label) & labels) for label in (1, 0)] for labels in groups]


if __name__ == "__main__":
    main()

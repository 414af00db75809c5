"""
Custom estimator
================

``MultiLabelEstimator`` reads labels in all supported forms, validates features, and computes predictions, probabilities
and completions from scores. A subclass implements the fit. This one is a Bernoulli naive Bayes classifier with a weight
for each entry of Y, so that it can be used as the base estimator of ``SelfPacedClassifier``.
"""

import numpy as np
from matplotlib import pyplot as plt

from spmld import SelfPacedClassifier
from spmld.estimators import MultiLabelEstimator
from spmld.labels import corrupt_labels, hide_labels
from spmld.metrics import evaluate


class NaiveBayes(MultiLabelEstimator):
    """Naive Bayes on binary features. `weights` are 0 where a label is missing."""

    def __init__(self, *, smoothing=1.0):
        self.smoothing = smoothing

    def _fit(self, X, labels, weights):
        def log_probabilities(sign):
            selected = np.where(labels.signs == sign, weights, 0.0)
            total = selected.sum(axis=0) + 2 * self.smoothing
            p = (selected.T @ (X != 0) + self.smoothing) / total[:, None]
            return np.log(p), np.log1p(-p), total

        (log_p, log_not_p, n_positive), (log_q, log_not_q, n_negative) = log_probabilities(1), log_probabilities(-1)
        self.coef_ = log_p - log_q - log_not_p + log_not_q
        self.intercept_ = (log_not_p - log_not_q).sum(axis=1) + np.log(n_positive / n_negative)

    def _scores(self, X):
        return (X != 0) @ self.coef_.T + self.intercept_


# %%
# Documents with a vocabulary of 60 words, some of which are more likely for each label. A fifth of the samples have the
# labels of another sample, and a third of the labels are missing.
rng = np.random.default_rng(0)
truth = (rng.uniform(size=(1500, 8)) < 0.2).astype(float)
topics = rng.exponential(size=(8, 60)) * (rng.uniform(size=(8, 60)) < 0.15)
X = (rng.uniform(size=(1500, 60)) < 1 - np.exp(-(0.1 + truth @ topics))).astype(float)
train, test = slice(0, 1000), slice(1000, None)
corrupted = corrupt_labels(truth[train], "permute", 0.2, random_state=0)
Y = hide_labels(corrupted, observed_fraction=0.67, random_state=0)

# %%
# Metrics, searches, thresholds and self-paced learning work as with the estimators of the library.
models = {"plain": NaiveBayes().fit(X[train], Y), "self-paced": SelfPacedClassifier(NaiveBayes()).fit(X[train], Y)}
for name, model in models.items():
    metrics = evaluate(truth[test], model.decision_function(X[test]), model.predict(X[test]))
    print(f"{name}: ranking loss {metrics['ranking_loss']:.4f}, macro F1 {metrics['macro_f1']:.3f}")

P = models["self-paced"].self_paced_weights_
for kind, label in (("correct", 1), ("wrong", 0)):
    print(f"mean weight of {kind} positives: {P[(Y == 1) & (truth[train] == label)].mean():.0%}")

# %%
# The losses of the positive labels. The pacing rule leaves out those with the largest losses.
figure, axis = plt.subplots(figsize=(7, 3.2), layout="constrained")
edges = np.linspace(0, 12, 49)
for kind, label, color in (("correct", 1, "#0072B2"), ("wrong", 0, "#D55E00")):
    losses = models["self-paced"].losses_[(Y == 1) & (truth[train] == label)]
    axis.hist(losses, edges, color=color, alpha=0.7, label=kind)
axis.set(xlabel="loss of a positive label", ylabel="number of labels", yscale="log")
axis.legend(frameon=False)
axis.spines[["top", "right"]].set_visible(False)
plt.show()

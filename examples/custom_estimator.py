"""
A host of your own
==================

A host is the learner that is paced. ``MultiLabelEstimator`` reads labels in every form, checks features, and makes
labels, probabilities and completions out of scores; what is left to write is how to learn. Here that is naive Bayes on
words that occur or not, with a weight for every label of every sample.
"""

import numpy as np
from matplotlib import pyplot as plt

from spmld import SelfPacedClassifier
from spmld.estimators import MultiLabelEstimator
from spmld.labels import corrupt_labels, hide_labels
from spmld.metrics import evaluate


class NaiveBayes(MultiLabelEstimator):
    """Words are independent, given whether the label is there. `weights` are 0 where a label is missing."""

    def __init__(self, *, smoothing=1.0):
        self.smoothing = smoothing

    def _fit(self, X, labels, weights):
        def log_shares(sign):
            chosen = np.where(labels.signs == sign, weights, 0.0)
            total = chosen.sum(axis=0) + 2 * self.smoothing
            p = (chosen.T @ (X != 0) + self.smoothing) / total[:, None]
            return np.log(p), np.log1p(-p), total

        (there, absent, n), (there_not, absent_not, n_not) = log_shares(1), log_shares(-1)
        self.coef_ = there - there_not - absent + absent_not
        self.intercept_ = (absent - absent_not).sum(axis=1) + np.log(n / n_not)

    def _scores(self, X):
        return (X != 0) @ self.coef_.T + self.intercept_


# %%
# Documents of 60 words, of which each label makes some likelier. A fifth of the rows have the labels of another, and a
# third of the labels are missing.
rng = np.random.default_rng(0)
truth = (rng.uniform(size=(1500, 8)) < 0.2).astype(float)
topics = rng.exponential(size=(8, 60)) * (rng.uniform(size=(8, 60)) < 0.15)
X = (rng.uniform(size=(1500, 60)) < 1 - np.exp(-(0.1 + truth @ topics))).astype(float)
train, test = slice(0, 1000), slice(1000, None)
wrong = corrupt_labels(truth[train], "permute", 0.2, random_state=0)
Y = hide_labels(wrong, observed_fraction=0.67, random_state=0)

# %%
# Everything works as with the estimators of the library: metrics, searches, thresholds, and the pacing.
models = {"plain": NaiveBayes().fit(X[train], Y), "paced": SelfPacedClassifier(NaiveBayes()).fit(X[train], Y)}
for name, model in models.items():
    found = evaluate(truth[test], model.decision_function(X[test]), model.predict(X[test]))
    print(f"{name}: ranking loss {found['ranking_loss']:.4f}, macro F1 {found['macro_f1']:.3f}")

P = models["paced"].self_paced_weights_
for kind, sign in (("right", 1), ("wrong", 0)):
    print(f"{kind} positives in use: {P[(Y == 1) & (truth[train] == sign)].mean():.0%}")

# %%
# What the pacing sees: the losses of positives, of which those to the right are left out.
figure, axis = plt.subplots(figsize=(7, 3.2), layout="constrained")
edges = np.linspace(0, 12, 49)
for kind, sign, colour in (("right", 1, "#0072B2"), ("wrong", 0, "#D55E00")):
    axis.hist(models["paced"].losses_[(Y == 1) & (truth[train] == sign)], edges, color=colour, alpha=0.7, label=kind)
axis.set(xlabel="loss of a positive label", ylabel="labels", yscale="log")
axis.legend(frameon=False)
axis.spines[["top", "right"]].set_visible(False)
plt.show()

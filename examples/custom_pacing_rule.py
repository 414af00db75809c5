"""
Custom pacing rule
==================

A pacing rule computes weights from losses. The rule in this example is not part of the library. With the penalty
:math:`t (p^q / q - p)` the weight of an entry with loss L is :math:`p = (1 - L / t)^{1 / (q - 1)}`, and 0 above the
threshold t. It is the linear rule for q = 2 and approaches the hard rule for large q.
"""

import numpy as np
from array_api_compat import array_namespace
from matplotlib import pyplot as plt

from spmld import MaskedLogistic, SelfPacedClassifier
from spmld.datasets import make_planted
from spmld.labels import corrupt_labels
from spmld.metrics import ranking_loss
from spmld.pacing import ColumnGroups, PacingParameters, PacingRule, QuantileSchedule


class PolynomialPacing(PacingRule):
    """Weights (1 - L / threshold)^(1 / (power - 1))."""

    def __init__(self, *, schedule=None, power=4.0):
        super().__init__(schedule=schedule)
        self.power = power

    def weights(self, losses, parameters, groups):
        def rule(L, t):
            return array_namespace(L).clip(1 - L / t, 0) ** (1 / (self.power - 1))

        return groups.map(rule, losses, groups.per_group(parameters.threshold, losses))

    def penalty(self, weights, parameters, groups):
        xp, threshold = array_namespace(weights[0]), groups.per_group(parameters.threshold, weights)
        threshold = xp.where(xp.isfinite(threshold), threshold, xp.zeros_like(threshold))
        (sums,) = groups.sum(lambda P, t: (t * (P**self.power / self.power - P),), weights, threshold)
        return xp.sum(sums)


# %%
# The weights for a threshold of 1.
losses = np.linspace(0, 1.5, 301)[:, None]
figure, axis = plt.subplots(figsize=(6, 3.2), layout="constrained")
for power, color in ((1.5, "#D55E00"), (2, "#9A9A9A"), (4, "#0072B2"), (20, "#009E73")):
    (P,) = PolynomialPacing(power=power).weights([losses], PacingParameters(1.0), ColumnGroups())
    axis.plot(losses, P, color=color, label=f"q = {power}")
axis.set(xlabel="loss / threshold", ylabel="weight")
axis.legend(frameon=False)
axis.spines[["top", "right"]].set_visible(False)

# %%
# The rule works with any base estimator. 30 % of the samples have the labels of another sample. The wrong positives
# among them get lower weights.
data = make_planted(1200, 30, 8, n_groups=1, noise=0.1, frequencies=np.geomspace(0.2, 0.05, 8), random_state=0)
X, truth, X_test, Y_test = data.X[::2], data.Y[::2], data.X[1::2], data.Y[1::2]
Y = corrupt_labels(truth, "permute", 0.3, random_state=0)
schedule = QuantileSchedule(start=(0.9, 0.5), stop=(0.97, 0.8))

print(f"{'':<10}{'ranking loss':>14}{'weight of correct positives':>30}{'of wrong positives':>20}")
loss = ranking_loss(Y_test, MaskedLogistic(C=0.3).fit(X, Y).decision_function(X_test))
print(f"{'no pacing':<10}{loss:>14.4f}{1:>30.2f}{1:>20.2f}")
results = {"no pacing": (loss, 1, 1)}
for power in (2, 4, 20):
    model = SelfPacedClassifier(
        MaskedLogistic(C=0.3, warm_start=True), pacing=PolynomialPacing(schedule=schedule, power=power)
    ).fit(X, Y)
    correct, wrong = (model.self_paced_weights_[(Y == 1) & (truth == label)].mean() for label in (1, 0))
    loss = ranking_loss(Y_test, model.decision_function(X_test))
    print(f"{f'q = {power}':<10}{loss:>14.4f}{correct:>30.2f}{wrong:>20.2f}")
    results[f"q = {power}"] = loss, correct, wrong

# %%
# All three rules down-weight wrong positives, and lower the ranking loss on the test samples.
figure, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
losses, correct, wrong = np.transpose(list(results.values()))
positions = np.arange(len(results))
axes[0].bar(positions - 0.2, correct, 0.38, color="#0072B2", label="correct positives")
axes[0].bar(positions + 0.2, wrong, 0.38, color="#D55E00", label="wrong positives")
axes[0].set(title="mean weight", ylim=(0, 1.3))
axes[0].legend(frameon=False, ncols=2, loc="upper center")
bars = axes[1].bar(positions, losses, 0.6, color="#009E73")
axes[1].bar_label(bars, fmt="%.3f", padding=2)
axes[1].set(title="ranking loss", yticks=[], ylim=(0, 1.15 * losses.max()))
for axis in axes:
    axis.set_xticks(positions, results)
    axis.spines[["top", "right"]].set_visible(False)
plt.show()

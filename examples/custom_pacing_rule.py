"""
A pacing of your own
==================

A pacing turns losses into weights. This one is not in the library: with the penalty :math:`t (p^q / q - p)` the weight
of a label with loss L is :math:`p = (1 - L / t)^{1 / (q - 1)}`, and 0 from the threshold t on. A large q is nearly the
hard rule, q = 2 the linear one.
"""

import numpy as np
from array_api_compat import array_namespace
from matplotlib import pyplot as plt

from spmld import MaskedLogistic, SelfPacedClassifier
from spmld.datasets import make_planted
from spmld.labels import corrupt_labels
from spmld.metrics import ranking_loss
from spmld.pacing import ColumnGroups, PacingParameters, PacingRule, QuantileSchedule


class PolynomialPace(PacingRule):
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
# The rule in a figure, for a threshold of 1.
losses = np.linspace(0, 1.5, 301)[:, None]
figure, axis = plt.subplots(figsize=(6, 3.2), layout="constrained")
for power, colour in ((1.5, "#D55E00"), (2, "#9A9A9A"), (4, "#0072B2"), (20, "#009E73")):
    (P,) = PolynomialPace(power=power).weights([losses], PacingParameters(1.0), ColumnGroups())
    axis.plot(losses, P, color=colour, label=f"q = {power}")
axis.set(xlabel="loss over threshold", ylabel="weight")
axis.legend(frameon=False)
axis.spines[["top", "right"]].set_visible(False)

# %%
# It paces any learner. 30 % of the rows have the labels of another: positives that come with them lose their weight.
data = make_planted(1200, 30, 8, n_groups=1, noise=0.1, frequencies=np.geomspace(0.2, 0.05, 8), random_state=0)
X, truth, X_test, Y_test = data.X[::2], data.Y[::2], data.X[1::2], data.Y[1::2]
Y = corrupt_labels(truth, "permute", 0.3, random_state=0)
schedule = QuantileSchedule(start=(0.9, 0.5), stop=(0.97, 0.8))

print(f"{'':<10}{'ranking loss':>14}{'weight of right positives':>28}{'of wrong ones':>16}")
plain = MaskedLogistic(C=0.3).fit(X, Y)
print(f"{'no pacing':<10}{ranking_loss(Y_test, plain.decision_function(X_test)):>14.4f}{1:>28.2f}{1:>16.2f}")
for power in (2, 4, 20):
    model = SelfPacedClassifier(
        MaskedLogistic(C=0.3, warm_start=True), pacing=PolynomialPace(schedule=schedule, power=power)
    ).fit(X, Y)
    right, wrong = (model.self_paced_weights_[(Y == 1) & (truth == sign)].mean() for sign in (1, 0))
    loss = ranking_loss(Y_test, model.decision_function(X_test))
    print(f"{f'q = {power}':<10}{loss:>14.4f}{right:>28.2f}{wrong:>16.2f}")
plt.show()

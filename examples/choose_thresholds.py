"""
A threshold for each label
==========================

A score above 0 is rarely the best place to say yes: rare labels are then hardly ever predicted. The figure shows F1 on
test samples for every threshold, and the one that was chosen on other samples, by observed labels alone.
"""

import numpy as np
from matplotlib import pyplot as plt

from spmld import MaskedLogistic
from spmld.datasets import make_planted
from spmld.labels import hide_labels
from spmld.metrics import macro_f1, micro_f1
from spmld.model_selection import ThresholdClassifier

shares = np.geomspace(0.4, 0.03, 6)
data = make_planted(2000, 20, 6, noise=0.8, frequencies=shares, random_state=0)
X, X_test, Y_test = data.X[::2], data.X[1::2], data.Y[1::2]
Y = hide_labels(data.Y[::2], observed_fraction=0.5, random_state=0)

# %%
# The thresholds come from folds: each sample is scored by a model that has not seen it.
plain = MaskedLogistic().fit(X, Y)
ways = {"score above 0": plain}
for method in ("f1", "proportional"):
    ways[f"method={method!r}"] = ThresholdClassifier(plain, method=method, random_state=0).fit(X, Y)
print(f"{'':<24}{'macro F1':>10}{'micro F1':>10}")
for name, model in ways.items():
    said = model.predict(X_test)
    print(f"{name:<24}{macro_f1(Y_test, said):>10.3f}{micro_f1(Y_test, said):>10.3f}")

# %%
# The chosen thresholds lie below 0, and the rarest label gains most. Few positives make a rough curve, and a choice
# that may miss its top.
decided = ways["method='f1'"]
scores = plain.decision_function(X_test)
grid = np.linspace(-4, 2, 121)
figure, axes = plt.subplots(2, 3, figsize=(9, 4.6), sharex=True, sharey=True, layout="constrained")
for j, axis in enumerate(axes.flat):
    values = [macro_f1(Y_test[:, [j]], (scores[:, [j]] > cut).astype(int)) for cut in grid]
    axis.plot(grid, values, color="#0072B2")
    axis.axvline(0, color="#9A9A9A", ls="--", lw=1)
    axis.axvline(decided.thresholds_[j], color="#D55E00", lw=1.5)
    axis.set_title(f"{shares[j]:.0%} positives", fontsize=10)
    axis.spines[["top", "right"]].set_visible(False)
figure.supxlabel("threshold: grey 0, red the chosen one")
figure.supylabel("F1 on test samples")
plt.show()

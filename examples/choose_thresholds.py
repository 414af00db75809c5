"""
Per-label thresholds
====================

A threshold of 0 for all scores is rarely optimal: rare labels are then almost never predicted. The figure shows F1 on
the test samples for every threshold, and the threshold chosen on the observed training labels.
"""

import numpy as np
from matplotlib import pyplot as plt

from spmld import MaskedLogistic
from spmld.datasets import make_planted
from spmld.labels import hide_labels
from spmld.metrics import macro_f1, micro_f1
from spmld.model_selection import ThresholdClassifier

frequencies = np.geomspace(0.4, 0.03, 6)
data = make_planted(2000, 20, 6, noise=0.8, frequencies=frequencies, random_state=0)
X, X_test, Y_test = data.X[::2], data.X[1::2], data.Y[1::2]
Y = hide_labels(data.Y[::2], observed_fraction=0.5, random_state=0)

# %%
# The thresholds are chosen on out-of-fold scores.
plain = MaskedLogistic().fit(X, Y)
models = {"score above 0": plain}
for method in ("f1", "proportional"):
    models[f"method={method!r}"] = ThresholdClassifier(plain, method=method, random_state=0).fit(X, Y)
print(f"{'':<24}{'macro F1':>10}{'micro F1':>10}")
for name, model in models.items():
    predicted = model.predict(X_test)
    print(f"{name:<24}{macro_f1(Y_test, predicted):>10.3f}{micro_f1(Y_test, predicted):>10.3f}")

# %%
# The chosen thresholds are below 0, and the rarest label gains most. With few positives the curve is noisy, and the
# chosen threshold may miss its maximum.
thresholds = models["method='f1'"].thresholds_
scores = plain.decision_function(X_test)
grid = np.linspace(-4, 2, 121)
figure, axes = plt.subplots(2, 3, figsize=(9, 4.6), sharex=True, sharey=True, layout="constrained")
for j, axis in enumerate(axes.flat):
    values = [macro_f1(Y_test[:, [j]], (scores[:, [j]] > threshold).astype(int)) for threshold in grid]
    axis.plot(grid, values, color="#0072B2")
    axis.axvline(0, color="#9A9A9A", ls="--", lw=1)
    axis.axvline(thresholds[j], color="#D55E00", lw=1.5)
    axis.set_title(f"{frequencies[j]:.0%} positives", fontsize=10)
    axis.spines[["top", "right"]].set_visible(False)
figure.supxlabel("threshold (gray: 0, red: chosen)")
figure.supylabel("F1 on test samples")
plt.show()

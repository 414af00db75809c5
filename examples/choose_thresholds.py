"""
Decisions by F1
===============

A threshold of 0.5 for all probabilities is rarely optimal: rare labels are then almost never predicted. The figure
shows F1 on the test samples for every threshold, and the threshold chosen by the calibrated probabilities of the
training samples.
"""

import numpy as np
from matplotlib import pyplot as plt

from spmld import MaskedLogistic
from spmld.datasets import make_planted
from spmld.labels import hide_labels
from spmld.metrics import macro_f1, micro_f1, sample_f1
from spmld.model_selection import ThresholdClassifier

frequencies = np.geomspace(0.4, 0.03, 6)
data = make_planted(2000, 20, 6, noise=0.8, frequencies=frequencies, random_state=0)
X, X_test, Y_test = data.X[::2], data.X[1::2], data.Y[1::2]
Y = hide_labels(data.Y[::2], observed_fraction=0.5, random_state=0)

# %%
# Probabilities are calibrated on out-of-fold scores, and thresholds maximize the expected F1.
print(f"{'':<22}{'macro F1':>10}{'micro F1':>10}{'sample F1':>11}{'labels':>8}")
models = {}
for decision in (0.5, "f1", "micro_f1", "macro_f1", "sample_f1", 2):
    model = ThresholdClassifier(MaskedLogistic(), decision=decision, random_state=0).fit(X, Y)
    models[decision], predicted = model, model.predict(X_test)
    f1 = macro_f1(Y_test, predicted), micro_f1(Y_test, predicted), sample_f1(Y_test, predicted)
    labels_per_sample = predicted.sum(axis=1).mean()
    print(f"{f'decision={decision!r}':<22}{f1[0]:>10.3f}{f1[1]:>10.3f}{f1[2]:>11.3f}{labels_per_sample:>8.2f}")
print(f"{'labels of a sample':<22}{Y_test.sum(axis=1).mean():>39.2f}")

# %%
# The chosen thresholds are below 0.5, and the rarest label gains most. With few positives the curve is noisy, and the
# chosen threshold may miss its maximum.
thresholds = models["macro_f1"].thresholds_
probabilities = models["macro_f1"].predict_proba(X_test)
grid = np.linspace(0.01, 0.99, 99)
figure, axes = plt.subplots(2, 3, figsize=(9, 4.6), sharex=True, sharey=True, layout="constrained")
for j, axis in enumerate(axes.flat):
    values = [macro_f1(Y_test[:, [j]], (probabilities[:, [j]] > threshold).astype(int)) for threshold in grid]
    axis.plot(grid, values, color="#0072B2")
    axis.axvline(0.5, color="#9A9A9A", ls="--", lw=1)
    axis.axvline(thresholds[j], color="#D55E00", lw=1.5)
    axis.set_title(f"{frequencies[j]:.0%} positives", fontsize=10)
    axis.spines[["top", "right"]].set_visible(False)
figure.supxlabel("threshold (gray: 0.5, red: chosen)")
figure.supylabel("F1 on test samples")
plt.show()

"""
Complete a label matrix
=======================

Two thirds of the labels are missing. ``complete`` fills them in and returns its confidence. Confident labels can be
accepted, and the least confident ones are the first to annotate by hand.
"""

import numpy as np
from matplotlib import pyplot as plt

from spmld import GLOCAL, MaskedLogistic
from spmld.datasets import make_planted
from spmld.labels import hide_labels

data = make_planted(800, 20, 12, noise=0.3, random_state=0)
Y = hide_labels(data.Y, observed_fraction=0.33, random_state=0)
missing = np.isnan(Y)

# %%
# GLOCAL uses the observed labels of a sample as well as its features, MaskedLogistic only the features. On these data
# the features are informative enough for MaskedLogistic to be more accurate.
print(f"{'':<16}{'accuracy':>12}{'most confident half':>22}")
completions = {}
for model in (MaskedLogistic(), GLOCAL(random_state=0)):
    name = type(model).__name__
    completion = completions[name] = model.fit(data.X, Y).complete(data.X, Y)
    correct, confidence = (completion.labels == data.Y)[missing], completion.confidences[missing]
    print(f"{name:<16}{correct.mean():>12.1%}{correct[confidence >= np.median(confidence)].mean():>22.1%}")

# %%
# The labels of 30 samples before and after, and the accuracy of the completed labels by their confidence.
completion = completions["MaskedLogistic"]
samples = np.random.default_rng(0).choice(len(Y), 30, replace=False)
figure, axes = plt.subplots(1, 3, figsize=(10, 4.4), width_ratios=(1, 1, 1.4), layout="constrained")
signed = np.where(completion.labels == 1, completion.confidences, -completion.confidences)
titles = ("observed (red: 1, blue: 0)", "completed (pale: low confidence)")
for axis, values, title in zip(axes, (2 * Y - 1, signed), titles, strict=False):
    axis.imshow(np.where(np.isnan(values), 0, values)[samples], cmap="RdBu_r", vmin=-1.2, vmax=1.2, aspect="auto")
    axis.set(title=title, xlabel="label", xticks=[], yticks=[])
axes[0].set_ylabel("sample")

edges = np.linspace(0.5, 1, 6)
correct, confidence = (completion.labels == data.Y)[missing], completion.confidences[missing]
bins = np.clip(np.digitize(confidence, edges) - 1, 0, 4)
axes[2].plot([0.5, 1], [0.5, 1], color="#9A9A9A", ls="--")
x, y = ([values[bins == b].mean() for b in range(5)] for values in (confidence, correct))
axes[2].plot(x, y, "o-", color="#0072B2")
axes[2].set(xlabel="confidence", ylabel="accuracy", title="Calibration of the confidence")
axes[2].spines[["top", "right"]].set_visible(False)
plt.show()

"""
Fill the gaps of a label matrix
===============================

Two thirds of the labels are missing. ``complete`` fills them and says how sure it is; whoever adds labels by hand
starts where it is least sure, and takes over what it is sure of.
"""

import numpy as np
from matplotlib import pyplot as plt

from spmld import GLOCAL, MaskedLogistic
from spmld.datasets import make_planted
from spmld.labels import hide_labels

data = make_planted(800, 20, 12, noise=0.3, random_state=0)
Y = hide_labels(data.Y, observed_fraction=0.33, random_state=0)
gaps = np.isnan(Y)

# %%
# GLOCAL looks at the known labels of a row as well as at its features, MaskedLogistic at the features alone. Here the
# features say so much that it is ahead.
print(f"{'':<16}{'gaps right':>12}{'of the surest half':>20}")
completed = {}
for model in (MaskedLogistic(), GLOCAL(random_state=0)):
    name = type(model).__name__
    completed[name] = model.fit(data.X, Y).complete(data.X, Y)
    right, sure = (completed[name].labels == data.Y)[gaps], completed[name].confidences[gaps]
    print(f"{name:<16}{right.mean():>12.1%}{right[sure >= np.median(sure)].mean():>20.1%}")

# %%
# Before and after, for 30 samples; and how often a gap was filled right, by what the model said of it.
found = completed["MaskedLogistic"]
rows = np.random.default_rng(0).choice(len(Y), 30, replace=False)
figure, axes = plt.subplots(1, 3, figsize=(10, 4.4), width_ratios=(1, 1, 1.4), layout="constrained")
signed = np.where(found.labels == 1, found.confidences, -found.confidences)
titles = ("given: red yes, blue no", "completed: pale is unsure")
for axis, values, title in zip(axes, (2 * Y - 1, signed), titles, strict=False):
    axis.imshow(np.where(np.isnan(values), 0, values)[rows], cmap="RdBu_r", vmin=-1.2, vmax=1.2, aspect="auto")
    axis.set(title=title, xlabel="label", xticks=[], yticks=[])
axes[0].set_ylabel("sample")

edges = np.linspace(0.5, 1, 6)
right, sure = (found.labels == data.Y)[gaps], found.confidences[gaps]
bins = np.clip(np.digitize(sure, edges) - 1, 0, 4)
axes[2].plot([0.5, 1], [0.5, 1], color="#9A9A9A", ls="--")
axes[2].plot(
    [sure[bins == b].mean() for b in range(5)], [right[bins == b].mean() for b in range(5)], "o-", color="#0072B2"
)
axes[2].set(xlabel="confidence", ylabel="share of gaps filled right", title="How sure, how often right")
axes[2].spines[["top", "right"]].set_visible(False)
plt.show()

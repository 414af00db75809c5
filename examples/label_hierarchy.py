"""
Labels with a hierarchy
=======================

A product in the category garden/tools/rake belongs to garden/tools and to garden, too. If few labels are observed, the
hierarchy fills in many missing ones, and predictions never contradict it.
"""

from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from spmld import HierarchicalClassifier, MaskedLogistic
from spmld.labels import Hierarchy, hide_labels
from spmld.metrics import micro_average_precision

# %%
# Three levels with three labels below each other one: 3 + 9 + 27 labels, whose names are paths such as 1/3/2. A sample
# has one or two labels of the lowest level, and their ancestors. Each label changes the features in a direction of its
# own.
hierarchy = Hierarchy.from_paths("/".join(path) for path in product("123", repeat=3))
names, rng = list(hierarchy.names), np.random.default_rng(0)
lowest = [j for j, name in enumerate(names) if name.count("/") == 2]
tags = np.zeros((2000, len(names)))
for sample in tags:
    sample[rng.choice(lowest, rng.integers(1, 3), replace=False)] = 1
truth = pd.DataFrame((tags @ hierarchy.ancestors(names) > 0).astype(float), columns=names)
X = truth.to_numpy() @ rng.normal(size=(len(names), 30)) + 3 * rng.normal(size=(2000, 30))
train, test = slice(1000), slice(1000, None)

# %%
# Labels are hidden at random. The hierarchy implies some of the missing ones.
fractions, results = [0.03, 0.1, 0.3, 1.0], []
print("micro average precision\nobserved  filled in  without hierarchy  with hierarchy  incoherent samples")
for fraction in fractions:
    Y = hide_labels(truth[train], fraction, "uniform", random_state=0)
    filled_in = Y.isna().to_numpy().mean() - hierarchy.infer(Y).isna().to_numpy().mean()
    flat = MaskedLogistic().fit(X[train], Y)
    model = HierarchicalClassifier(MaskedLogistic(), hierarchy).fit(X[train], Y)
    p, coherent = flat.predict_proba(X[test]), model.predict_proba(X[test])
    flat_ap, ap = (micro_average_precision(truth[test], values) for values in (p, coherent))
    results.append((flat_ap, ap))
    changed, unchanged = ((hierarchy.project(values, names) != values).any(axis=1).mean() for values in (p, coherent))
    print(f"{fraction:8.0%}  {filled_in:9.0%}  {flat_ap:17.3f}  {ap:14.3f}  {changed:9.0%} and {unchanged:.0%}")

# %%
# Left: the quality with and without the hierarchy. Right: probabilities of a sample that contradict the hierarchy, and
# the nearest ones that do not.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
left.plot(fractions, results, "o-", label=["without hierarchy", "with hierarchy"])
left.set(xscale="log", xlabel="observed fraction of the labels", ylabel="micro average precision")
left.set_xticks(fractions, [f"{fraction:.0%}" for fraction in fractions])
left.minorticks_off()
projected = hierarchy.project(p, names)
sample = np.argmax(np.abs(projected - p).max(axis=1))
label = names[np.argmax(np.abs(projected - p)[sample])]
shown = [name for name in sorted(names) if name[0] == label[0]]
columns = [names.index(name) for name in shown]
for values, height, name in ((p, 0.8, "logistic regression"), (projected, 0.4, "projection")):
    right.barh(shown, values[sample, columns], height, label=name)
right.invert_yaxis()
right.set(xlabel="probability")
for axes in (left, right):
    axes.legend(frameon=False)
plt.show()

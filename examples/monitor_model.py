"""
Monitoring without labels
=========================

A model is applied to reviews that have no tags yet. Monitoring raises an alarm if words or the frequencies of labels
change.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from spmld import SelfPacedEnsemble
from spmld.datasets import make_songs
from spmld.monitoring import monitor

songs = make_songs(2000, observed_fraction=0.7, random_state=0)
model = make_pipeline(TfidfVectorizer(min_df=2), SelfPacedEnsemble(views=("linear",), random_state=0))
model.fit(songs.texts[:1000], songs.Y[:1000])
new, truth = songs.texts[1000:], songs.Y_true[1000:]

# %%
# Nothing has changed.
result = monitor(model, new, label_names=songs.label_names)
print(result.label_frequencies.table("Label frequencies", top=3), f"\nalarm: {result.alarm}\n")

# %%
# Now the most common label is three times as frequent as before, relative to the others.
label = int(np.argmax(truth.mean(axis=0)))
rows = np.concatenate([np.flatnonzero(truth[:, label] == 1), np.flatnonzero(truth[:, label] == 0)[::3]])
changed = monitor(model, [new[i] for i in rows], label_names=songs.label_names)
print(changed.label_frequencies.table("Label frequencies", top=3), f"\nalarm: {changed.alarm}")

# %%
# The p-values of the labels, from the smallest on. The alarm is raised by those below the level of the test.
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
for name, shifts in (("unchanged", result.label_frequencies), ("changed", changed.label_frequencies)):
    axes.plot(np.sort(shifts.p_value), "o-", label=name)
axes.set(yscale="log", xlabel="label, in the order of its p-value", ylabel="p-value of its frequency")
axes.legend()
plt.show()

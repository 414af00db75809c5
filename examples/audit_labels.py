"""
Audit labels
============

Find labels that are likely to be wrong: tags that songs have by mistake, and tags that they lack. The song reviews are
generated, and a fifth of the tags of each kind are on the wrong songs, so that the result can be compared with the
truth. The audit is not given the truth.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.feature_extraction.text import TfidfVectorizer

from spmld.audit import find_label_issues
from spmld.datasets import make_songs

songs = make_songs(1500, 8, noise=0.2, wrong_fraction=0.2, random_state=0)
X = TfidfVectorizer().fit_transform(songs.texts)
issues = find_label_issues(None, X, songs.Y, label_names=songs.label_names, random_state=0)
print(issues)

# %%
# The labels of lowest quality, which is the probability of the given label: tags that are present and unlikely, and
# tags that are absent and likely.
for kind in ("present", "absent"):
    print(f"{'sample':<8}{'label':<12}{'kind':<9}{'quality':>9}")
    for row in issues.table(top=5, kind=kind).itertuples():
        print(f"{row.sample:<8}{row.label:<12}{row.kind:<9}{row.label_quality:>9.4f}")

# %%
# The first one in words: the review, its tags, and the tags that it should have.
sample = issues.table(top=1)["sample"].iloc[0]
print(songs.texts[sample])
for name, labels in (("given", songs.Y), ("correct", songs.Y_true)):
    print(f"{name + ' tags:':<14}", ", ".join(np.array(songs.label_names)[labels[sample] == 1]) or "none")

# %%
# How many errors are among the first entries of the list of both kinds, and how many errors of each label the features
# could reveal. This is an upper limit, because labels that are hard to predict look like wrong labels.
wrong = np.not_equal(songs.Y, songs.Y_true)
found = np.cumsum(wrong.flat[issues.order()])
print(f"{found[99]} of the first 100 entries are wrong, {100 * wrong.mean():.0f} of 100 random entries")

figure, (curve, labels) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
curve.plot(np.arange(1, 1001), found[:1000], color="#0072B2", label="order of the audit")
curve.plot([0, 1000], [0, 1000 * wrong.mean()], "--", color="#9A9A9A", label="random order")
curve.set(xlabel="number of entries reviewed", ylabel="number of errors found")
places = np.arange(len(songs.label_names))
labels.barh(places, issues.per_label()["at_most"], 0.6, color="#A6CEE3", label="at most, by the audit")
labels.plot(wrong.sum(axis=0), places, "o", color="#D55E00", label="wrong")
labels.set_yticks(places, songs.label_names)
labels.set(xlabel="number of labels")
labels.invert_yaxis()
for axis in (curve, labels):
    axis.legend(frameon=False)
    axis.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# A person who verifies a random sample turns the range into an estimate with a confidence interval.
sample = issues.sample(100, random_state=0)
estimate = issues.estimate(wrong.ravel()[sample.index])
print(f"range of the audit:           {issues.total_range[0]:.0f} to {issues.total_range[1]:.0f}")
print(f"100 verified random entries:  {estimate.lower:.0f} to {estimate.upper:.0f}")
print(f"wrong:                        {wrong.sum()}")

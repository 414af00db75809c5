"""
Several annotators
==================

Four people tag song reviews, with different error rates, and each of them sees some of the reviews. The consensus
estimates to which side all of them lean and how often each differs, and finds the entries to show next.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from spmld import MaskedLogistic
from spmld.annotators import fit_consensus, read_annotators
from spmld.datasets import make_songs
from spmld.metrics import ranking_loss

NAMES, ERROR_RATES = ["ann", "bob", "dan", "eve"], np.array([0.03, 0.1, 0.2, 0.35])
songs, rng = make_songs(1600, 6, random_state=0), np.random.default_rng(0)
X = TfidfVectorizer(min_df=3).fit_transform(songs.texts)
X, X_new, truth, truth_new = X[:800], X[800:], songs.Y_true[:800], songs.Y_true[800:]
wrong = rng.random((800, 4, 6)) < ERROR_RATES[:, None]
full = np.where(wrong, 1.0 - truth[:, None], truth[:, None])  # samples, annotators, labels
answers = np.where(rng.random((800, 4, 1)) < 0.5, full, np.nan)

# %%
# The error rates are estimated without a verified label.
labels = read_annotators(answers, annotators=NAMES)
consensus = fit_consensus(X, labels)
quality = consensus.annotator_quality()
for row in quality:
    low, high = row["error_rate_interval"]
    print(f"{row['annotator']}: error rate {row['error_rate']:.3f}, 90 % interval {low:.3f} to {high:.3f}")

# %%
# The majority ignores that ann is right more often than eve. A model is fitted to the answers directly.
majority = np.sign(labels.by_sample(labels.signs))
answered = labels.counts > 0
for name, signs in (("majority", majority), ("consensus", np.sign(consensus.leaning - 0.5))):
    print(f"{name}: wrong labels {np.abs(truth - 0.5 - signs / 2)[answered].mean():.3f}")
voted = MaskedLogistic().fit(X, np.where(majority == 0, np.nan, majority > 0))
model = MaskedLogistic().fit(X, labels)
for name, fitted in (("model of the majority", voted), ("model of the answers", model)):
    print(f"{name}: ranking loss {ranking_loss(truth_new, fitted.decision_function(X_new)):.4f}")

# %%
# The next 300 answers are worth most where the consensus is uncertain, and if ann gives them.
remaining = np.argwhere(np.isnan(answers))
choices = {
    "random": remaining[rng.choice(len(remaining), 300, replace=False)],
    "chosen": np.array([(i, a, j) for i, j, a, _ in consensus.next_answers(300)]),
}
for name, places in choices.items():
    more = answers.copy()
    more[tuple(places.T)] = full[tuple(places.T)]
    p = fit_consensus(X, more).leaning
    print(f"{name} answers: log loss {-np.log(np.where(truth == 1, p, 1 - p)).mean():.4f}")

# %%
figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
estimates = np.array([row["error_rate"] for row in quality])
intervals = np.abs(np.transpose([row["error_rate_interval"] for row in quality]) - estimates)
axes.errorbar(NAMES, estimates, intervals, fmt="o", label="estimate, with 90 % interval")
axes.plot(NAMES, ERROR_RATES, "_", color="black", markersize=18, label="true")
axes.set(ylabel="error rate", ylim=(0, None))
axes.legend()
plt.show()

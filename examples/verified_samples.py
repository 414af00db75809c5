"""
Probabilities, decisions and verified samples
=============================================

`SelfPacedEnsemble` returns calibrated probabilities and decides which labels to predict. In the second part, many
training labels are wrong: up to 40 % of the negatives of a label are recorded as positives. A model cannot distinguish
such labels from labels that are hard to predict, unless a person verifies some samples.
"""

import numpy as np
from matplotlib import pyplot as plt

from spmld import SelfPacedEnsemble
from spmld.datasets import make_planted
from spmld.metrics import expected_calibration_error, log_loss, macro_f1, micro_f1, ranking_loss, sample_f1
from spmld.model_selection import DecisionRule

rng = np.random.default_rng(0)
data = make_planted(2000, 20, 10, noise=0.5, frequencies=np.geomspace(0.3, 0.05, 10), random_state=0)
X, truth, X_test, Y_test = data.X[::2], data.Y[::2], data.X[1::2], data.Y[1::2]

# %%
# With correct labels, the sum of the probabilities is close to the number of positives. Decisions by F1 predict about
# as many labels as there are; a threshold of 0.5 misses rare labels.
print(f"{'correct labels':<22}{'macro F1':>10}{'micro F1':>10}{'sample F1':>11}{'labels':>8}")
views = ("ridge", "linear")  # two views keep the example fast
model = SelfPacedEnsemble(views=views, random_state=0).fit(X, truth)
held_out, probabilities = 1 / (1 + np.exp(-model.out_of_fold_scores_)), model.predict_proba(X_test)
for decision in (0.5, "f1", "micro_f1", "macro_f1", "sample_f1", 2):
    predicted = (DecisionRule(decision=decision).fit(held_out).margins(probabilities) > 0).astype(int)
    f1 = macro_f1(Y_test, predicted), micro_f1(Y_test, predicted), sample_f1(Y_test, predicted)
    labels_per_sample = predicted.sum(axis=1).mean()
    print(f"{f'decision={decision!r}':<22}{f1[0]:>10.3f}{f1[1]:>10.3f}{f1[2]:>11.3f}{labels_per_sample:>8.2f}")
print(f"{'labels of a sample':<22}{Y_test.sum(axis=1).mean():>39.2f}")
print(f"{'sum of probabilities':<22}{probabilities.sum(axis=1).mean():>39.2f}")
print(f"{'calibration error':<22}{expected_calibration_error(Y_test, probabilities):>39.3f}")

# %%
# Now the training labels have false positives, at a different rate for each label. A number of random samples is
# verified: their labels are corrected, and ``trusted`` marks them. From enough of these samples, the model estimates
# the rates of all labels, and predicts probabilities of the true labels; with 20 of them, it assumes no errors among
# the other labels.
rates = rng.permutation(np.linspace(0, 0.4, truth.shape[1]))
noisy = np.where(rng.random(truth.shape) < rates, 1, truth)
order = rng.permutation(len(X))

print(f"\n{'verified samples':<18}{'ranking loss':>13}{'log loss':>10}{'macro F1':>10}{'error of the rates':>20}")
counts, results = (0, 20, 50, 200), []
for count in counts:
    verified = np.isin(np.arange(len(X)), order[:count])
    Y = np.where(verified[:, None], truth, noisy)
    model = SelfPacedEnsemble(views=views, random_state=0).fit(X, Y, trusted=verified)
    ranking = ranking_loss(Y_test, model.decision_function(X_test))
    probabilities = model.predict_true_proba(X_test) if count else model.predict_proba(X_test)
    likelihood, f1 = log_loss(Y_test, probabilities), macro_f1(Y_test, model.predict(X_test))
    error = np.abs(model.false_positive_rate_ - rates).mean()
    print(f"{count:<18}{ranking:>13.3f}{likelihood:>10.3f}{f1:>10.3f}{error:>20.3f}")
    results.append((likelihood, f1, error))

# %%
# On the command line, a column of the table marks the verified samples::
#
#     spmld fit songs.csv --trusted verified --decision micro_f1 -o songs.skops
#
# 50 verified samples already give most of the improvement.
figure, axes = plt.subplots(1, 3, figsize=(10, 2.8), layout="constrained")
titles = ("log loss", "macro F1", "error of the estimated rates")
for axis, values, title in zip(axes, np.transpose(results), titles, strict=True):
    axis.plot(range(len(counts)), values, "o-", color="#0072B2")
    axis.set(title=title, xlabel="verified samples", ylim=(0, 1.15 * values.max()))
    axis.set_xticks(range(len(counts)), counts)
    axis.spines[["top", "right"]].set_visible(False)
plt.show()

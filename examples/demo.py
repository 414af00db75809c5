"""
Predict, audit and complete the tags of songs
=============================================

Half of the reviews have no tags, and a fifth of the tags are on the wrong songs. ``SelfPacedEnsemble`` learns from them
and predicts the tags of other songs, the audit finds wrong tags, and missing tags are filled in. The data are
generated, so that the results can be compared with the truth. ``make demo`` runs this example, which writes a figure
and an HTML report to the folder ``demo``.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from spmld import PerLabelClassifier, SelfPacedEnsemble
from spmld.app.reports import model_report
from spmld.audit import find_label_issues
from spmld.datasets import make_songs
from spmld.metrics import macro_f1, micro_f1, ranking_loss

threadpool_limits(1)  # small matrices are faster with one thread
folder = Path("demo")
folder.mkdir(exist_ok=True)
songs = make_songs(3200, observed_fraction=0.5, wrong_fraction=0.2, random_state=0)
names, train, test = songs.label_names, slice(2000), slice(2000, None)
Y, Y_true, Y_test = songs.Y[train], songs.Y_true[train], songs.Y_true[test]
words = TfidfVectorizer()
X, X_test = words.fit_transform(songs.texts[train]), words.transform(songs.texts[test])

# %%
# Predict the tags of other songs. The baseline fits scikit-learn's LogisticRegression for each tag, to the same tags or
# to the true tags of all songs.
models = {
    "scikit-learn loop": PerLabelClassifier(LogisticRegression()).fit(X, Y),
    "SelfPacedEnsemble": SelfPacedEnsemble(random_state=0).fit(X, Y),
    "loop, true tags": PerLabelClassifier(LogisticRegression()).fit(X, Y_true),
}
print(f"{'1. Predict':<20}{'ranking loss':>14}{'micro F1':>10}{'macro F1':>10}")
for name, model in models.items():
    scores, labels = model.decision_function(X_test), model.predict(X_test)
    f1 = f"{micro_f1(Y_test, labels):>10.3f}{macro_f1(Y_test, labels):>10.3f}"
    print(f"{name:<20}{ranking_loss(Y_test, scores):>14.3f}{f1}")

# %%
# Find wrong tags. The audit lists the observed entries by the probability of the given label.
issues = find_label_issues(None, X, Y, label_names=names, random_state=0)
wrong = np.not_equal(Y, Y_true).flat[issues.order()]
print(f"\n2. Audit: {wrong[:100].sum()} of the first 100 entries are wrong, {100 * wrong.mean():.0f} of 100 random")
for row in issues.table(top=3).itertuples():
    print(f"   {songs.sample_names[row.sample]} {row.label}: {row.kind}, {row.label_quality:.4f}")

# %%
# Complete missing tags.
missing = np.isnan(Y)
completion = models["SelfPacedEnsemble"].complete(X, Y)
correct = completion.labels[missing] == Y_true[missing]
confident = completion.confidences[missing] >= 0.9
negative = (Y_true[missing] == 0).mean()
print(f"\n3. Complete: {correct.mean():.0%} of the missing entries are correct; all negative, {negative:.0%} would be")
print(f"   of the {confident.sum()} with a confidence of at least 0.9, {correct[confident].mean():.0%} are correct")

# %%
# F1 of each tag on the other songs, and the number of wrong entries that the audit finds.
figure, (left, right) = plt.subplots(1, 2, figsize=(7.4, 3.4), layout="constrained")
order = np.argsort(Y_test.mean(axis=0))
styles = zip(models, (("o", "#0072B2", 7), ("o", "#D55E00", 7), ("|", "black", 12)), strict=True)
for name, (marker, color, size) in styles:
    f1 = macro_f1(Y_test, models[name].predict(X_test), average=None)[order]
    left.plot(f1, range(len(order)), marker, color=color, markersize=size, label=name)
left.set_yticks(range(len(order)), [names[j] for j in order])
left.set(title="Predicted tags of new songs", xlabel="F1 of each tag", xlim=(0, 1))
right.plot(np.cumsum(wrong), color="#D55E00", label="order of the audit")
right.plot([0, len(wrong)], [0, wrong.sum()], "--", color="#999999", label="random order")
right.set(title="Wrong tags found", xlabel="checked entries", ylabel="wrong entries", xlim=(0, None), ylim=(0, None))
for axis, place in ((left, "upper left"), (right, "lower right")):
    axis.legend(loc=place, fontsize=8)
    axis.grid(alpha=0.3)
    axis.spines[["top", "right"]].set_visible(False)
figure.savefig(folder / "demo.png", dpi=150)

# %%
# The report has the metrics, likely label errors and missing labels as tables.
report = model_report(
    models["SelfPacedEnsemble"],
    X_test,
    pd.DataFrame(Y_test, columns=names, index=songs.sample_names[test]),
    X_train=X,
    Y_train=pd.DataFrame(Y, columns=names, index=songs.sample_names[train]),
    feature_names=words.get_feature_names_out(),
    title="Tags of songs",
)
(folder / "report.html").write_text(report, encoding="utf-8")
print(f"\nFiles in {folder}/: demo.png, report.html")

"""
Updates of a model
==================

Reviews of songs arrive in batches, some tags turn out to be wrong, and a tag is used for the first time. The model is
updated each time, without a new search for settings.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer

from spmld import SelfPacedEnsemble
from spmld.datasets import make_songs
from spmld.metrics import macro_auc, ranking_loss

songs = make_songs(1600, observed_fraction=0.6, wrong_fraction=0.1, random_state=0)
X = TfidfVectorizer(min_df=2).fit_transform(songs.texts)
Y = pd.DataFrame(songs.Y, columns=songs.label_names)
new_tag = Y.columns[0]
X_test, truth = X[1200:], pd.DataFrame(songs.Y_true[1200:], columns=Y.columns)
model = SelfPacedEnsemble(views=("linear", "ridge"), keep_data=True, random_state=0)
model.fit(X[:300], Y[:300].drop(columns=new_tag))


def test_loss():
    """Return the ranking loss of the test samples, for the labels that the model knows."""
    return ranking_loss(truth[list(model.label_names_)].to_numpy(), model.decision_function(X_test))


# %%
# Each batch of 150 reviews has the new tag, too. It is missing for the first 300 reviews.
n_samples, losses = [300], [test_loss()]
for start in range(300, 1200, 150):
    model.update(X[start : start + 150], Y[start : start + 150])
    n_samples.append(start + 150)
    losses.append(test_loss())
scores = pd.DataFrame(model.decision_function(X_test), columns=model.label_names_)
auc = macro_auc(truth[[new_tag]].to_numpy(), scores[[new_tag]].to_numpy())
print(f"AUC of the new tag {new_tag}: {auc:.3f}")

# %%
# The tags of the first 600 samples are verified, and replaced where they are wrong or missing.
verified = pd.DataFrame(songs.Y_true[:600], columns=Y.columns)
before = test_loss()
model.update(X[:600], verified, trusted=np.ones(verified.shape, dtype=bool), samples=np.arange(600))
print(f"ranking loss before the correction {before:.4f}, after it {test_loss():.4f}")

# %%
# The ranking loss decreases with each batch, as in a fit from scratch.
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.plot(n_samples, losses, "o-", label="updated")
scratch = SelfPacedEnsemble(views=("linear", "ridge"), random_state=0).fit(X[:1200], Y[:1200])
axes.plot(1200, ranking_loss(truth.to_numpy(), scratch.decision_function(X_test)), "s", label="fitted to all samples")
axes.plot(1200, test_loss(), "^", label="updated with verified tags")
axes.set(xlabel="number of samples", ylabel="ranking loss of test samples")
axes.legend()
plt.show()

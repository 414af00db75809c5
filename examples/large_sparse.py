"""
Large sparse data
=================

15,000 samples with 8,000 features, 40 of them nonzero per sample, and 40 labels, 70 % of them missing. The features
stay sparse: no estimator creates a dense matrix of this size, which would take 1 GB.
"""

import time

import numpy as np
import scipy.sparse as sp
from matplotlib import pyplot as plt

from spmld import LEML, LabelPrior, MaskedLogistic
from spmld.labels import hide_labels
from spmld.metrics import evaluate

# %%
# Word counts with a long-tailed distribution, and labels that depend on the words.
n, d, l, words = 15_000, 8_000, 40, 40
rng = np.random.default_rng(0)
columns = (d * rng.uniform(size=(n, words)) ** 3).astype(np.int32).ravel()
X = sp.csr_array((np.ones(n * words), (np.repeat(np.arange(n), words), columns)), shape=(n, d))
scores = X @ (rng.normal(size=(d, 10)) @ rng.normal(size=(10, l))) + 8 * rng.normal(size=(n, l))
truth = (scores > np.quantile(scores, 0.9, axis=0)).astype(float)
train, test = slice(0, 12_000), slice(12_000, None)
Y = hide_labels(truth[train], observed_fraction=0.3, random_state=0)
sparse, dense = (X.data.nbytes + X.indices.nbytes) / 2**20, 8 * n * d / 2**20
print(f"features: {sparse:.0f} MB sparse, {dense:,.0f} MB dense")

# %%
# All labels are fitted together, so 40 labels cost far less than 40 separate fits. LEML assumes a low-rank model, which
# is how these labels were generated.
print(f"{'':<16}{'seconds':>9}{'ranking loss':>14}{'precision at 3':>16}")
precision = {}
for model in (
    LabelPrior(),
    MaskedLogistic(C=0.03),
    LEML(loss="logistic", fit_intercept=True, max_iter=2, random_state=0),
):
    started = time.process_time()
    model.fit(X[train], Y)
    seconds = time.process_time() - started
    metrics = evaluate(truth[test], model.decision_function(X[test]), k=3)
    name = type(model).__name__
    precision[name] = metrics["precision_at_3"]
    print(f"{name:<16}{seconds:>9.1f}{metrics['ranking_loss']:>14.4f}{precision[name]:>16.3f}")

# %%
# The memory of the features, and the fraction of correct labels among the three labels with the highest scores.
figure, axes = plt.subplots(1, 2, figsize=(9, 2.4), layout="constrained")
for axis, values, title, digits in (
    (axes[0], {"dense": dense, "sparse": sparse}, "Features (MB)", 0),
    (axes[1], precision, "Precision at 3 on test samples", 3),
):
    bars = axis.barh(list(values), list(values.values()), color="#0072B2")
    axis.bar_label(bars, fmt=f"%.{digits}f", padding=3)
    axis.set(title=title, xticks=[])
    axis.invert_yaxis()
    axis.margins(x=0.15)
    axis.spines[["top", "right", "bottom"]].set_visible(False)
plt.show()

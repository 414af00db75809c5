"""
Monitor a fit and stop it early
===============================

``callback`` is called with a record after each iteration, and stops the fit by returning True. ``verbose`` logs one
line per iteration. In this example a fit of 40 iterations stops once the objective has decreased by less than 0.1 % in
three iterations.
"""

import logging
import sys

from matplotlib import pyplot as plt

from spmld import SPMLD
from spmld.datasets import make_planted
from spmld.labels import hide_labels
from spmld.plotting import PacingDisplay

data = make_planted(600, 20, 10, noise=0.3, random_state=0)
Y = hide_labels(data.Y, observed_fraction=0.4, random_state=0)

# %%
# The callback stores the objectives.
objectives = []


def has_converged(record):
    """Return True if three iterations of the main stage have decreased the objective by less than 0.1 %."""
    if record["stage"] == "main" and record["mean_weight"] > 0.99:
        objectives.append(record["objective"])
    return len(objectives) > 3 and objectives[-4] - objectives[-1] < 1e-3 * abs(objectives[-1])


full = SPMLD(tol=None, max_iter=40, random_state=0).fit(data.X, Y)
stopped = SPMLD(tol=None, max_iter=40, random_state=0, callback=has_converged).fit(data.X, Y)
for name, model in (("all iterations", full), ("stopped early", stopped)):
    print(f"{name:<15} {model.n_iter_:>3} iterations, objective {model.history_[-1]['objective']:.2f}")

# %%
# Lines are sent to the logger "spmld", which the application configures.
logging.basicConfig(stream=sys.stdout, format="%(message)s", level=logging.WARNING)
logging.getLogger("spmld").setLevel(logging.INFO)
logged = SPMLD(n_components=4, max_iter=3, tol=None, verbose=True, random_state=0).fit(data.X, Y)

# %%
# The objective and the mean weight of each latent label, plotted from the same records.
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
axes[0].plot([record["objective"] for record in stopped.history_ if record["stage"] == "main"], color="black")
axes[0].set(xlabel="iteration", ylabel="objective")
PacingDisplay.from_estimator(stopped, ax=axes[1])
plt.show()

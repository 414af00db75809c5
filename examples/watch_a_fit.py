"""
Watch a fit, and end it
=======================

``callback`` gets the record of each round while a fit runs, and ends it by returning True; ``verbose`` logs a line a
round. Here a fit of 40 rounds is ended when three of them have gained less than a thousandth of the objective.
"""

import logging
import sys

from matplotlib import pyplot as plt

from spmld import SPMLD
from spmld.datasets import make_planted
from spmld.labels import hide_labels
from spmld.plotting import ObjectiveDisplay, PacingDisplay

data = make_planted(600, 20, 10, noise=0.3, random_state=0)
Y = hide_labels(data.Y, observed_fraction=0.4, random_state=0)

# %%
# A callback is any function of a record. This one remembers objectives.
values = []


def enough(record):
    """True when three rounds of the main stage together have gained little."""
    if record["stage"] == "main" and record["mean_weight"] > 0.99:
        values.append(record["objective"])
    return len(values) > 3 and values[-4] - values[-1] < 1e-3 * abs(values[-1])


full = SPMLD(tol=None, max_iter=40, random_state=0).fit(data.X, Y)
ended = SPMLD(tol=None, max_iter=40, random_state=0, callback=enough).fit(data.X, Y)
for name, model in (("to the end", full), ("ended early", ended)):
    print(f"{name:<12} {model.n_iter_:>3} rounds, objective {model.history_[-1]['objective']:.2f}")

# %%
# Lines go to the logger "spmld", so that an application decides where they end up.
logging.basicConfig(stream=sys.stdout, format="%(message)s", level=logging.WARNING)
logging.getLogger("spmld").setLevel(logging.INFO)
logged = SPMLD(n_components=4, max_iter=3, tol=None, verbose=True, random_state=0).fit(data.X, Y)

# %%
# The same records drawn: the objective by its terms, and how much of each latent label is in use.
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
ObjectiveDisplay.from_estimator(ended, ax=axes[0])
PacingDisplay.from_estimator(ended, ax=axes[1])
plt.show()

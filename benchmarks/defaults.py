"""Choice of the defaults of GLOCAL and SPMLD on held-out training samples.

``python -m benchmarks.defaults`` takes a few minutes and requires the data sets, from SPMLD_DATA or by download. Models
are fitted on the first 2,000 training samples of three data sets, with 30 % and 70 % of the labels observed. The output
is the ranking loss on the other 1,000 training samples for every setting, sorted by the mean ratio to the lowest loss.
"""

import itertools
from functools import partial

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import ParameterGrid

from benchmarks.sizes import sized
from spmld import GLOCAL
from spmld.labels import hide_labels
from spmld.metrics import ranking_loss
from studies.data import load

NAMES = sized(("business", "education", "computers"), ("planted",))
N_FITTED, N_JOBS = sized((2000, 2), (100, 1))
GRID = {
    "loss": ["squared", "logistic"],
    "coupling": sized([0.1, 0.3, 1.0, 3.0], [1.0]),
    "ridge": sized([0.01, 0.03, 0.125, 0.5], [0.125]),
    "feature_ridge": sized([0.25, 0.5, 1.0, 3.0], [1.0]),
}


def main():
    evaluate_grid(partial(GLOCAL, random_state=0), GRID)


def evaluate_grid(make, grid):
    """Print the ranking loss of `make(**setting)` for every setting of a grid."""
    try:
        data = [load(name) for name in NAMES]
    except ConnectionError as error:
        return print(error)
    cases = list(itertools.product(data, (0.3, 0.7)))
    settings = list(ParameterGrid(grid))
    losses = np.array(Parallel(n_jobs=N_JOBS)(delayed(ranking_losses)(make(**s), cases) for s in settings))
    ratios = (losses / losses.min(axis=0)).mean(axis=1)
    print(f"{len(settings)} settings; {', '.join(f'{n} {r:.0%}' for n in NAMES for r in (0.3, 0.7))}")
    for i in np.argsort(ratios):
        setting = ", ".join(f"{key}={value}" for key, value in settings[i].items())
        print(f"{ratios[i]:.4f}  " + " ".join(f"{loss:.4f}" for loss in losses[i]) + f"  {setting}")


def ranking_losses(model, cases):
    losses = []
    for data, observed in cases:
        Y = hide_labels(data.Y_train[:N_FITTED], observed, random_state=0)
        model.fit(data.X_train[:N_FITTED], Y)
        losses.append(ranking_loss(data.Y_train[N_FITTED:], model.decision_function(data.X_train[N_FITTED:])))
    return losses


if __name__ == "__main__":
    main()

"""Changes that should not matter: by how much they move the probabilities of the ensemble.

``python -m benchmarks.invariances`` takes half a minute and requires the data set emotions, from SPMLD_DATA or by
download. `SelfPacedEnsemble` with default parameters is fitted to two designs of `benchmarks.designs` and to emotions,
and again after each of these changes:

- constant: a column of ones is added to the features;
- noise: a column of independent normal numbers is added;
- rare labels: thirty labels are added that are positive in 1 % of the samples, independently of everything;
- order: the training samples are permuted;
- seed: another `random_state`.

The tables have the largest and the mean absolute difference of `predict_proba` of new samples and the same labels.
"""

import warnings

import numpy as np

from benchmarks.designs import draw
from benchmarks.sizes import sized
from spmld import SelfPacedEnsemble
from spmld._table import TextTable
from studies.data import load

DESIGNS = sized(("strong labels", "interactions of categories"), ("few samples",))
DATA = sized(("emotions",), ("planted",))
N_RARE = 30


def read(name):
    """Return features and labels of the training samples, and features of new ones."""
    if name in DESIGNS:
        return draw(name, 0)[:3]
    data = load(name)
    return data.X_train, np.asarray(data.Y_train, dtype=float), data.X_test


def changes(X, Y, X_new):
    """Return the changed features and labels, new features and seed, by the name of the change."""
    rng = np.random.default_rng(0)
    n, n_new = len(X), len(X_new)
    noise = rng.standard_normal((n + n_new, 1))
    rare = (rng.random((n, N_RARE)) < 0.01).astype(float)
    order = rng.permutation(n)
    return {
        "constant": (np.hstack([X, np.ones((n, 1))]), Y, np.hstack([X_new, np.ones((n_new, 1))]), 0),
        "noise": (np.hstack([X, noise[:n]]), Y, np.hstack([X_new, noise[n:]]), 0),
        "rare labels": (X, np.hstack([Y, rare]), X_new, 0),
        "order": (X[order], Y[order], X_new, 0),
        "seed": (X, Y, X_new, 1),
    }


def probabilities(X, Y, X_new, seed):
    """Return probabilities of new samples."""
    return SelfPacedEnsemble(random_state=seed).fit(X, Y).predict_proba(X_new)


def main():
    """Print both tables."""
    warnings.simplefilter("ignore")
    largest, means, kinds = [], [], []
    for name in (*DESIGNS, *DATA):
        X, Y, X_new = read(name)
        before = probabilities(X, Y, X_new, 0)
        changed = changes(X, Y, X_new)
        moves = [np.abs(probabilities(*change)[:, : Y.shape[1]] - before) for change in changed.values()]
        largest.append([name, *(f"{move.max():.3f}" for move in moves)])
        means.append([name, *(f"{move.mean():.3f}" for move in moves)])
        kinds = list(changed)
        print(*largest[-1], sep=" | ", flush=True)
    for title, rows in (("Largest difference", largest), ("Mean difference", means)):
        print(f"\n{title}\n\n{TextTable(['data', *kinds], rows).to_markdown()}")


if __name__ == "__main__":
    main()

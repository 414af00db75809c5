"""MaskedLogistic beside a loop of scikit-learn's LogisticRegression over the labels, on Education and Corel5k.

Both minimise the same objective on the same sparse features; the objective that each reaches is printed with its time.
Needs the paper's data, see `spmld.datasets.fetch_dataset`.
"""

import time

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from spmld import MaskedLogistic
from spmld.datasets import fetch_dataset
from spmld.labels import hide_labels

C, REPEATS = 1.0, 3


def objective(X, Y, coef, intercept):
    signs, known = np.where(Y == 1, 1, -1), ~np.isnan(Y)
    losses = np.logaddexp(0, -signs * (X @ coef.T + intercept))
    return C * losses[known].sum() + 0.5 * np.sum(coef**2)


def loop(X, Y, solver):
    coef, intercept = np.zeros((Y.shape[1], X.shape[1])), np.zeros(Y.shape[1])
    for j in range(Y.shape[1]):
        rows = ~np.isnan(Y[:, j])
        one = LogisticRegression(C=C, solver=solver).fit(X[rows], Y[rows, j])
        coef[j], intercept[j] = one.coef_[0], one.intercept_[0]
    return coef, intercept


def ours(X, Y, **options):
    model = MaskedLogistic(C=C, **options).fit(X, Y)
    return model.coef_, model.intercept_


def best(fit, *args, **options):
    """The least of some times, and the last answer."""
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        answer = fit(*args, **options)
        times.append(time.perf_counter() - started)
    return min(times), answer


def main():
    for name in ("education", "corel5k"):
        try:
            data = fetch_dataset(name)
        except ConnectionError as error:
            print(f"skipped: {error}")
            return
        X = sp.csr_array(data.X_train)
        Y = hide_labels(data.Y_train, observed_fraction=0.7, random_state=0)
        both = np.array([len(np.unique(column[~np.isnan(column)])) == 2 for column in Y.T])
        Y = Y[:, both]  # the loop cannot fit a label of one class
        print(f"{name}, 70 % observed: {X.shape[0]} x {X.shape[1]}, {Y.shape[1]} labels with both classes")
        competitors = {}
        for threads in (1, 2):
            with threadpool_limits(threads):
                for solver in ("lbfgs", "newton-cg"):
                    competitors[f"loop, {solver}, {threads} threads"] = best(loop, X, Y, solver)
        with threadpool_limits(1):
            found = {f"MaskedLogistic, n_jobs={jobs}": best(ours, X, Y, n_jobs=jobs) for jobs in (None, 2)}
        for title, (seconds, answer) in {**competitors, **found}.items():
            print(f"  {title:28} {seconds:7.3f} s   objective {objective(X, Y, *answer):.3f}")
        for title, (seconds, answer) in found.items():
            reached = objective(X, Y, *answer)
            fastest = min(s for s, other in competitors.values() if objective(X, Y, *other) >= reached)
            print(f"  the fastest loop that ends no lower takes {fastest / seconds:.1f} times as long as {title}")


if __name__ == "__main__":
    main()

"""MaskedLogistic compared with a loop of scikit-learn's LogisticRegression over the labels.

Both minimize the same objective on the sparse features of Education and Corel5k. The output has the time and the final
objective of each, and the times of SPMLD and SelfPacedEnsemble relative to a loop and to MaskedLogistic. The data sets
come from SPMLD_DATA or by download.
"""

import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from benchmarks.ratios import fastest_time, record
from benchmarks.sizes import sized
from spmld import SPMLD, MaskedLogistic, SelfPacedEnsemble
from spmld.labels import LabelWarning, hide_labels
from studies.data import load

C = 1.0


def objective(X, Y, coef, intercept):
    signs = np.where(Y == 1, 1, -1)
    losses = np.logaddexp(0, -signs * (X @ coef.T + intercept))
    return C * losses[~np.isnan(Y)].sum() + 0.5 * np.sum(coef**2)


def loop(X, Y, solver):
    coef, intercept = np.zeros((Y.shape[1], X.shape[1])), np.zeros(Y.shape[1])
    for j in range(Y.shape[1]):
        observed = ~np.isnan(Y[:, j])
        model = LogisticRegression(C=C, solver=solver).fit(X[observed], Y[observed, j])
        coef[j], intercept[j] = model.coef_[0], model.intercept_[0]
    return coef, intercept


def masked(X, Y, **options):
    model = MaskedLogistic(C=C, tol=1e-4, **options).fit(X, Y)
    return model.coef_, model.intercept_


def fastest(fit, X, Y, *args, **options):
    """Return the minimum time and the final objective."""
    return fastest_time(lambda: fit(X, Y, *args, **options)), objective(X, Y, *fit(X, Y, *args, **options))


def main():
    for name in sized(("education", "corel5k"), ("planted",)):
        try:
            data = load(name)
        except ConnectionError as error:
            print(f"skipped: {error}")
            return
        X = sp.csr_array(data.X_train)
        Y = hide_labels(data.Y_train, observed_fraction=0.7, random_state=0)
        Y = Y[:, np.nanmax(Y, axis=0) > np.nanmin(Y, axis=0)]  # LogisticRegression needs both classes
        print(f"{name}, 70 % observed: {X.shape[0]} x {X.shape[1]}, {Y.shape[1]} labels with both classes")
        loops = {}
        for threads in (1, 2):
            with threadpool_limits(threads):
                for solver in ("lbfgs", "newton-cg"):
                    loops[f"loop, {solver}, {threads} threads"] = fastest(loop, X, Y, solver)
        with threadpool_limits(1):
            models = {f"MaskedLogistic, n_jobs={jobs}": fastest(masked, X, Y, n_jobs=jobs) for jobs in (None, 2)}
        for title, (seconds, value) in {**loops, **models}.items():
            print(f"  {title:28} {seconds:7.3f} s   objective {value:.3f}")
        for title, (seconds, value) in models.items():
            loop_seconds = min(other for other, loop_value in loops.values() if loop_value >= value)
            ratio = record(f"{title}, {name} 70 % / fastest loop of LogisticRegression", seconds, loop_seconds)
            print(f"  {title} is {1 / ratio:.1f} times as fast as the fastest loop with no lower objective")
    compare_costs()


def compare_costs():
    """Print the times of SPMLD and SelfPacedEnsemble on Business with 30 % of the labels observed."""
    warnings.simplefilter("ignore", LabelWarning)
    try:
        data = load(sized("business", "planted"))
    except ConnectionError as error:
        return print(f"skipped: {error}")
    X, Y = sp.csr_array(data.X_train), hide_labels(data.Y_train, observed_fraction=0.3, random_state=0)
    both = np.nanmax(Y, axis=0) > np.nanmin(Y, axis=0)
    times = {
        "loop": fastest_time(lambda: loop(X, Y[:, both], "lbfgs")),
        "MaskedLogistic": fastest_time(lambda: MaskedLogistic().fit(X, Y)),
        "SPMLD": fastest_time(lambda: SPMLD(random_state=0).fit(X, Y)),
        "SelfPacedEnsemble": fastest_time(lambda: SelfPacedEnsemble(random_state=0).fit(X, Y)),
    }
    print("business, 30 % observed: " + ", ".join(f"{name} {seconds:.3f} s" for name, seconds in times.items()))
    for name, other in (("SPMLD", "loop"), ("SelfPacedEnsemble", "MaskedLogistic")):
        ratio = record(f"{name}, business 30 % / {other}", times[name], times[other])
        print(f"  {name} takes {ratio:.1f} times as long as {other}")


if __name__ == "__main__":
    main()

"""The views of SelfPacedEnsemble on dense tables: which enter, what they cost, and the losses beside stock learners.

``python -m benchmarks.views [data set ...]`` takes about an hour of processor time. Half of the labels are observed,
with five masks for each data set: generated tables where each label depends on interactions of its own, and real ones.
The competitors are scikit-learn's random forest and histogram gradient boosting, LightGBM if it is installed, each with
default settings for each label, and MaskedLogistic with the best of six C. The losses are those of correct labels of
test samples. Seconds are processor time.
"""

import sys
import time
import warnings

import numpy as np
from joblib import Parallel, cpu_count, delayed
from scipy.special import expit
from scipy.stats import ttest_rel
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from benchmarks.sizes import sized
from spmld import MaskedLogistic, PerLabelClassifier, SelfPacedEnsemble
from spmld._table import TextTable
from spmld.datasets import Dataset
from spmld.ensemble.costs import tree_costs
from spmld.estimators import FeatureScaler
from spmld.labels import hide_labels
from spmld.metrics import log_loss, ranking_loss
from spmld.model_selection import cross_fit, make_folds
from studies.data import load

DATA = sized(("interactions 1200", "interactions 5000", "planted 1200", "emotions", "scene"), ("interactions 90",))
MASKS = range(sized(5, 1))
CS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
N_TEST = 2000
EPSILON = 1e-3
"""Distance of probabilities from 0 and 1: trees are certain of labels that all samples of a leaf share."""


def interactions(n, seed=0, d=20, l=10):
    """Return a data set in which each label depends on four products of signs of features."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n + N_TEST, d))
    log_odds = X @ (rng.standard_normal((d, l)) / 4) - 1.5
    for j in range(l):
        for _ in range(4):
            a, b = rng.choice(d, 2, replace=False)
            log_odds[:, j] += rng.choice([-2, 2]) * np.sign(X[:, a]) * np.sign(X[:, b])
    Y = (rng.random(log_odds.shape) < expit(log_odds)).astype(float)
    return Dataset(X, Y, train=np.arange(n), test=np.arange(n, n + N_TEST))


def read(name):
    """Return a data set by its name."""
    kind, _, n = name.partition(" ")
    if kind == "interactions":
        return interactions(int(n))
    return load(kind)


def tuned_logistic(X, Y, seed):
    """Return the probabilities of logistic regression with the C of the lowest out-of-fold log loss."""
    scaler = FeatureScaler().fit(X)
    scaled = scaler.transform(X)
    folds = make_folds(3, X, Y, random_state=seed)
    losses = [log_loss(Y, expit(cross_fit(MaskedLogistic(C=C), scaled, Y, folds).scores)) for C in CS]
    model = MaskedLogistic(C=CS[int(np.argmin(losses))]).fit(scaled, Y)
    return lambda X_test: model.predict_proba(scaler.transform(X_test))


def of_labels(make):
    """Return the fit of a classifier for each label."""
    return lambda X, Y, seed: PerLabelClassifier(make(seed)).fit(X, Y).predict_proba


COMPETITORS = {
    "forest": of_labels(lambda seed: RandomForestClassifier(random_state=seed)),
    "histogram": of_labels(lambda seed: HistGradientBoostingClassifier(random_state=seed)),
    "logistic": tuned_logistic,
}
try:
    from lightgbm import LGBMClassifier
except ImportError:
    print("without LightGBM, which is not installed")
else:
    COMPETITORS["LightGBM"] = of_labels(lambda seed: LGBMClassifier(random_state=seed, verbose=-1, n_jobs=1))


def run(name, seed):
    """Return the losses and the seconds of all models, and the weights of the views and the names of those tried."""
    warnings.simplefilter("ignore")
    data = read(name)
    X, Y_test = data.X_train, data.Y_test
    Y = hide_labels(data.Y_train, 0.5, random_state=seed)
    ensemble = SelfPacedEnsemble(random_state=seed)
    fits = {"ensemble": lambda X, Y, _: ensemble.fit(X, Y).predict_proba, **COMPETITORS}
    results = {}
    for model, fit in fits.items():
        start = time.process_time()
        predict = fit(X, Y, seed)
        seconds = time.process_time() - start
        p = np.clip(predict(data.X_test), EPSILON, 1 - EPSILON)
        results[model] = ranking_loss(Y_test, p), log_loss(Y_test, p), seconds
    tried = dict.fromkeys(record["part"] for record in ensemble.cv_results_)
    return results, {view: ensemble.view_weights_.get(view) for view in tried}, tree_costs(len(X) / 2, *shape(data))


def shape(data):
    """Return the numbers of features and labels."""
    return data.X.shape[1], data.Y.shape[1]


def main(names=None):
    names = names or DATA
    jobs = [(name, seed) for name in names for seed in MASKS]
    runs = Parallel(n_jobs=cpu_count())(delayed(run)(*job) for job in jobs)
    models = ["ensemble", *COMPETITORS]
    tables = {"ranking loss": [], "log loss": [], "seconds": []}
    views, ratios, losing = [], [], []
    for name in names:
        of_name = [result for (other, _), result in zip(jobs, runs, strict=True) if other == name]
        values = np.array([[results[model] for model in models] for results, _, _ in of_name])  # (mask, model, value)
        for (title, rows), means in zip(tables.items(), values.mean(axis=0).T, strict=True):
            rows.append([name, *(f"{mean:.1f}" if title == "seconds" else f"{mean:.4f}" for mean in means)])
        ranking = values[:, :, 0]
        best = 1 + int(ranking.mean(axis=0)[1:].argmin())
        ratios.append(ranking[:, 0].mean() / ranking[:, best].mean())
        worse = ranking[:, 0].mean() > ranking[:, best].mean()
        if worse and len(MASKS) > 1 and ttest_rel(ranking[:, 0], ranking[:, best]).pvalue < 0.05:
            losing.append(f"{name} ({models[best]})")
        costs = of_name[0][2]
        for view in dict.fromkeys(view for _, weights, _ in of_name for view in weights):
            weights = [weights[view] for _, weights, _ in of_name if weights.get(view) is not None]
            share = f"{len(weights)} of {len(of_name)}"
            cost = f"{costs[view]:.0e}" if view in costs else ""
            views.append([name, view, cost, share, f"{np.sum(weights) / len(of_name):.2f}"])
    for title, rows in tables.items():
        print("\n" + TextTable((title, *models), rows).to_markdown())
    print("\n" + TextTable(("data", "view", "operations of a fit", "enters", "mean weight"), views).to_markdown())
    mean = np.exp(np.mean(np.log(ratios)))
    print(f"\nRanking loss / that of the best competitor, geometric mean: {mean:.3f}")
    print(f"Significantly worse than the best competitor: {', '.join(losing) or 'on no data set'}")


if __name__ == "__main__":
    main(sys.argv[1:])

"""Trees of scikit-learn and LightGBM for each label, with default parameters, as competitors in the tracks."""

from typing import Any

import scipy.sparse as sp
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from spmld._io import need
from spmld.estimators import PerLabelClassifier


def random_forest() -> PerLabelClassifier:
    """Return a random forest of 200 trees for each label.

    Examples
    --------
    >>> from spmld.studies.tree_methods import random_forest
    >>> random_forest().estimator.n_estimators
    200
    """
    return PerLabelClassifier(RandomForestClassifier(200, random_state=0))


def gradient_boosting() -> PerLabelClassifier:
    """Return scikit-learn's histogram-based gradient boosting for each label.

    Examples
    --------
    >>> from spmld.studies.tree_methods import gradient_boosting
    >>> len(gradient_boosting().estimator)
    2
    """
    dense = FunctionTransformer(_dense, accept_sparse=True)
    return PerLabelClassifier(make_pipeline(dense, HistGradientBoostingClassifier(random_state=0)))


def lightgbm() -> PerLabelClassifier:
    """Return LightGBM for each label.

    Examples
    --------
    >>> from spmld.studies.tree_methods import lightgbm
    >>> lightgbm().estimator.n_estimators  # doctest: +SKIP
    100
    """
    return PerLabelClassifier(need("lightgbm", "bench").LGBMClassifier(random_state=0, n_jobs=1, verbose=-1))


def _dense(X: Any) -> Any:
    return X.toarray() if sp.issparse(X) else X

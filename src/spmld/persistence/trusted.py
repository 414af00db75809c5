"""Names of types and functions that a model file may contain, in addition to those that skops trusts.

skops trusts the estimators of scikit-learn. The names below are their parts: data types, Python classes without
compiled state, and functions that compute statistics of arrays. None of them reads files or runs commands. Compiled
trees and neighbor indices are not among them, because their contents are not validated.
"""

import importlib

from spmld.metrics import METRICS

# The packages of models and their parts. They neither read files nor run commands.
_PACKAGES = (
    "spmld.core",
    "spmld.estimators",
    "spmld.labels",
    "spmld.metrics",
    "spmld.model_selection",
    "spmld.noise",
    "spmld.pacing",
    "spmld.preprocessing",
)
_PARTS = {
    # Data types, by which columns are selected and imputed.
    "builtins": ("object",),
    "numpy": ("dtype", "number", "mean"),
    "sklearn.compose._column_transformer": ("make_column_selector",),
    # Arrays that compiled code uses; they are validated after loading.
    "scipy.sparse._csr": ("csr_array", "csr_matrix"),
    "scipy.sparse._csc": ("csc_array", "csc_matrix"),
    "scipy.interpolate._bsplines": ("BSpline",),
    "scipy._lib.array_api_compat.numpy._aliases": ("asarray",),
    # Statistics for the selection of features.
    "sklearn.feature_selection._univariate_selection": (
        "chi2",
        "f_classif",
        "f_oneway",
        "f_regression",
        "r_regression",
    ),
    "sklearn.feature_selection._mutual_info": ("mutual_info_classif", "mutual_info_regression"),
    # Parts of classifiers, of clustering and of searches.
    "sklearn.calibration": ("_CalibratedClassifier", "_SigmoidCalibration"),
    "sklearn.cluster._bisect_k_means": ("_BisectingTree",),
    "sklearn.cluster._kmeans": ("_kmeans_single_lloyd",),
    "sklearn.metrics._scorer": ("_PassthroughScorer",),
    "sklearn.model_selection._split": ("KFold", "StratifiedKFold"),  # what cv=3 becomes in a search
    "sklearn.multiclass": ("_ConstantPredictor",),
    "sklearn.neural_network._stochastic_optimizers": ("AdamOptimizer", "SGDOptimizer"),
    "sklearn.utils._bunch": ("Bunch",),
}
_NAMES = {f"{module}.{name}" for module, names in _PARTS.items() for name in names}
_METRICS = {f"{metric.function.__module__}.{metric.name}" for metric in METRICS.values()}


def is_trusted(name: str) -> bool:
    """Return whether a full name is that of a class of the packages of models, a metric, or a part of scikit-learn.

    Other functions are not trusted, nor is anything that these packages import from elsewhere.

    Examples
    --------
    >>> from spmld.persistence.trusted import is_trusted
    >>> is_trusted("spmld.estimators.spmld.SPMLD"), is_trusted("spmld.labels.read_labels"), is_trusted("os.system")
    (True, False, False)
    """
    module, _, _ = name.rpartition(".")
    if not any(module == package or module.startswith(f"{package}.") for package in _PACKAGES):
        return name in _NAMES
    cls = find(name)
    return name in _METRICS or (isinstance(cls, type) and cls.__module__ == module)


def find(name: str) -> object | None:
    """Return the object with a full name, or None if it cannot be imported.

    Examples
    --------
    >>> from spmld.persistence.trusted import find
    >>> find("builtins.len"), find("builtins.<lambda>")
    (<built-in function len>, None)
    """
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), attribute, None)
    except ImportError:
        return None

"""What a model file may contain: types, arrays of NumPy and valid sparse matrices, and no callbacks."""

import copy
import gc
import importlib
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.interpolate import BSpline
from sklearn.base import BaseEstimator

from spmld._arrays import to_numpy
from spmld.metrics.registry import METRICS

_CODE = (type, ModuleType, FunctionType, BuiltinFunctionType)
# The packages of models and their parts. They neither read files nor run commands, except `TextEmbedder`, which reads a
# model from a folder, without code.
_PACKAGES = tuple(
    f"spmld.{name}."
    for name in (
        *("annotators", "core", "ensemble", "estimators", "labels", "metrics", "model_selection"),
        *("monitoring", "noise", "pacing", "tables"),
    )
)
# Names of types and functions that a model file may contain, in addition to those that skops trusts: the estimators
# of scikit-learn. These are their parts: data types, Python classes without compiled state, and functions that compute
# statistics of arrays. None of them reads files or runs commands. Compiled trees and neighbor indices are not among
# them, because their contents are not validated.
_PARTS = {
    # Data types, by which columns are selected and imputed.
    "builtins": ("object",),
    "numpy": ("dtype", "number", "mean"),
    "sklearn.compose._column_transformer": ("make_column_selector",),
    # Arrays that compiled code uses; they are validated after loading.
    "scipy.sparse._csr": ("csr_array", "csr_matrix"),
    "scipy.sparse._csc": ("csc_array", "csc_matrix"),
    "scipy.interpolate._bsplines": ("BSpline", "_BSpline"),  # from SciPy 1.18 on, the first contains the second
    "scipy._lib.array_api_compat.numpy._aliases": ("asarray",),
    # Statistics for the selection of features.
    "sklearn.feature_selection._univariate_selection": (
        *("chi2", "f_classif", "f_oneway", "f_regression", "r_regression"),
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
    "sklearn.utils._metadata_requests": ("MetadataRequest", "MethodMetadataRequest"),  # of scorers before version 1.8
}
_NAMES = {f"{module}.{name}" for module, names in _PARTS.items() for name in names}
_METRICS = {f"{metric.function.__module__}.{name}" for name, metric in METRICS.items()}


def replace_parts(part: Any, function: Callable[[Any], Any]) -> Any:
    """Apply a function to a model and to its parts, and return the model, a copy if a part changes.

    Examples
    --------
    >>> from spmld import GLOCAL, SelfPacedClassifier
    >>> from spmld.export.contents import as_array, replace_parts, without_callback
    >>> model = SelfPacedClassifier(GLOCAL(callback=print))
    >>> replace_parts(model, as_array) is model, replace_parts(model, without_callback).estimator.callback
    (True, None)
    """
    part = function(part)
    if type(part) in (list, tuple):
        parts = [replace_parts(item, function) for item in part]
        return part if all(new is old for new, old in zip(parts, part, strict=True)) else type(part)(parts)
    if isinstance(part, BaseEstimator):
        state = {name: replace_parts(value, function) for name, value in vars(part).items()}
        if any(state[name] is not value for name, value in vars(part).items()):
            part = copy.copy(part)
            vars(part).update(state)
    return part


def as_array(part: Any) -> Any:
    """Return a torch tensor as a NumPy array, and other parts of a model unchanged."""
    return to_numpy(part) if hasattr(part, "detach") else part


def without_callback(part: Any) -> Any:
    """Return an estimator without its callbacks, and other parts of a model unchanged."""
    if not isinstance(part, BaseEstimator):
        return part
    has_callback = getattr(part, "callback", None) is not None
    if has_callback or hasattr(part, "_skl_callbacks"):  # scikit-learn's set_callbacks sets the latter
        part = copy.copy(part)
        vars(part).pop("_skl_callbacks", None)
        vars(part).update({"callback": None} if has_callback else {})
    return part


def check_arrays(model: Any) -> None:
    """Raise an error if a sparse matrix or a spline has invalid contents, which compiled code would not check."""
    for part in _compiled_parts(model):
        if sp.issparse(part):
            part.check_format(full_check=True)
        else:
            BSpline(part.t, part.c, part.k)  # the constructor validates the arguments


def _compiled_parts(model: Any) -> Iterator[Any]:
    """Yield the sparse matrices and splines of a model and of all objects in it."""
    seen: dict[int, Any] = {}
    remaining = [model]
    while remaining:
        part = remaining.pop()
        if id(part) in seen or isinstance(part, _CODE):
            continue
        seen[id(part)] = part
        if sp.issparse(part) or type(part).__module__ == BSpline.__module__:
            yield part
        elif isinstance(part, np.ndarray):
            remaining += part.ravel().tolist() if part.dtype.hasobject else []
        else:
            remaining += gc.get_referents(part)  # attributes, slots, items, and the object of a bound method


def is_trusted(name: str) -> bool:
    """Return whether a full name is that of a class of the packages of models, a metric, or a part of scikit-learn.

    Other functions are not trusted, nor is anything that these packages import from elsewhere.

    Examples
    --------
    >>> from spmld.export.contents import is_trusted
    >>> is_trusted("spmld.estimators.spmld.SPMLD"), is_trusted("spmld.labels.read_labels"), is_trusted("os.system")
    (True, False, False)
    """
    module, _, _ = name.rpartition(".")
    if not f"{module}.".startswith(_PACKAGES):
        return name in _NAMES
    cls = import_object(name)
    return name in _METRICS or (isinstance(cls, type) and cls.__module__ == module)


def import_object(name: str) -> object | None:
    """Return the object with a full name, or None if it cannot be imported.

    Examples
    --------
    >>> from spmld.export.contents import import_object
    >>> import_object("builtins.len"), import_object("builtins.<lambda>")
    (<built-in function len>, None)
    """
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), attribute, None)
    except ImportError:
        return None

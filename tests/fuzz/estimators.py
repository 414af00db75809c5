"""Fits to random input: any type, layout, scale, labels and weights."""

import warnings

import numpy as np
import scipy.sparse as sp

from spmld import GLOCAL, LEML, MLLRC, SPMLD, LabelPrior, MaskedLogistic, MaskedRidge, PerLabelClassifier
from tests.estimators.cases import make

ESTIMATORS = [GLOCAL, LEML, MLLRC, SPMLD, LabelPrior, MaskedLogistic, MaskedRidge, PerLabelClassifier]
LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "read-only": lambda X: np.frombuffer(X.tobytes(), X.dtype).reshape(X.shape),
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "coo": sp.coo_array,
    "list": lambda X: X.tolist(),
}
LABELS = {
    "random": lambda rng, Y: Y,
    "missing": lambda rng, Y: np.where(rng.random(Y.shape) < 0.5, np.nan, Y),
    "all positive": lambda rng, Y: np.ones_like(Y),
    "all negative": lambda rng, Y: np.zeros_like(Y),
    "one class": lambda rng, Y: np.where(np.arange(Y.shape[1]) == 0, 1, Y),
    "positive-only": lambda rng, Y: np.where(Y > 0, 1, np.nan),
    "never observed": lambda rng, Y: np.where(np.arange(Y.shape[1]) == 0, np.nan, Y),
    "equal": lambda rng, Y: np.repeat(Y[:, :1], Y.shape[1], axis=1),
}


MAY_BE_INFINITE = {"threshold", "class_prior_"}
"""Infinite when all entries are selected; NaN for labels with observed negatives."""


def not_finite(value, name=""):
    """Return the names of the fitted attributes and their parts that contain NaN or infinity."""
    if isinstance(value, (np.ndarray, float)):
        floating = np.asarray(value).dtype.kind == "f"
        return [] if not floating or np.isfinite(value).all() else [name]
    if hasattr(value, "get_params"):
        value = {key: item for key, item in vars(value).items() if key.endswith("_")}
    if isinstance(value, (list, tuple)):
        value = dict(enumerate(value))
    if not isinstance(value, dict):
        return []
    items = ((key, item) for key, item in value.items() if key not in MAY_BE_INFINITE)
    return [part for key, item in items for part in not_finite(item, f"{name}.{key}")]


def _choose(rng, options):
    return options[rng.integers(len(options))]


def fit_problem(seed, index):
    """Fit one random case; return what is wrong with its scores or error, or None."""
    rng = np.random.default_rng([seed, index])
    n, d, l = (int(_choose(rng, sizes)) for sizes in ((1, 2, 5, 20, 40), (1, 2, 6, 50), (1, 2, 3, 8)))
    dtype, layout, labels = (_choose(rng, options) for options in ([np.float64, np.float32], [*LAYOUTS], [*LABELS]))
    scale = 10.0 ** rng.uniform(-300, 300) if rng.random() < 0.5 else 10.0 ** rng.uniform(-10, 10)
    X = rng.normal(size=(n, d)) * np.where(rng.random(d) < 0.3, scale, 1) + _choose(rng, [0, 0, 1e4, scale])
    X *= rng.random(X.shape) < _choose(rng, [1, 1, 0.1])
    Y = LABELS[labels](rng, (rng.random((n, l)) < 0.5).astype(float))
    weights = _choose(rng, [None, None, 10 ** rng.uniform(-20, 15, size=Y.shape)])
    cls = _choose(rng, ESTIMATORS)
    case = f"{cls.__name__}, X {X.shape} {dtype.__name__} {layout} of scale {scale:.1e}, labels {labels}"
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        features = LAYOUTS[layout](X.astype(dtype))
        try:
            model = make(cls).fit(features, Y, entry_weight=weights)
            scores, probabilities = model.decision_function(features), model.predict_proba(features)
        except ValueError:
            return None
        except Exception as error:
            return f"{case}: {type(error).__name__}: {str(error)[:200]}"
    if not np.isfinite(scores).all():
        return f"{case}: scores that are not finite"
    if names := not_finite(model):
        return f"{case}: {', '.join(names)[:200]} not finite"
    if not ((probabilities >= 0) & (probabilities <= 1)).all():
        return f"{case}: probabilities outside of [0, 1]"
    return None

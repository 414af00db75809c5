"""Views of the ensemble: a transformer of the features, a base estimator, and the settings to try.

To add a view, write a function that returns a `View`, and list it in `VIEWS` and `make_views`. Other views can be
passed to ``SelfPacedEnsemble(views=...)``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from spmld._validation import MAX_SEED, POSITIVE, POSITIVE_INT
from spmld.core.latent_solver import exact_steps
from spmld.core.steps import BlockUpdate
from spmld.estimators.label_boosting import LabelBoosting
from spmld.estimators.linear_models import MaskedLogistic, MaskedRidge
from spmld.estimators.masked_boosting import MAX_TREE_SAMPLES, MaskedBoosting
from spmld.estimators.masked_forest import MaskedForest
from spmld.estimators.spmld import SPMLD
from spmld.estimators.transformers import FeatureScaler, LandmarkFeatures
from spmld.model_selection.path_search import Params

VIEWS = ("linear", "ridge", "kernel", "boosting", "label boosting", "forest", "latent")
"""Names of the built-in views."""
PRECISION = "float32"
"""Precision of the features of the built-in views but "latent"."""
TOL = 1e-2
"""Tolerance of the logistic views; a smaller one changes scores by less than their sampling error."""
N_TREES = (50, 100, 200, 400)
CS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
ALPHAS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


@dataclass(frozen=True)
class View:
    """A base estimator on transformed features, with the settings to choose from.

    Parameters
    ----------
    name : str
        Name of the view.
    transformer : transformer
        Transformer of the features, with ``fit`` and ``transform``.
    estimator : multi-label estimator
        Base estimator, with ``fit(X, Y, entry_weight=...)`` and ``decision_function``. Estimators with
        ``warm_start=True`` start from the last setting of the path.
    path : sequence of dict, default=({},)
        Parameters of the estimator, ordered by regularization strength or another property.
    start : int, default=0
        Index of the setting of the path with which the search starts, see `search_path`.
    costly : bool, default=False
        Whether fits take long. The fraction to keep in trimming is then chosen by another view.
    dtype : {"float32", "float64"} or None, default=None
        Precision of the transformed features of fits; None is that of the transformer.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from spmld import PerLabelClassifier, SelfPacedEnsemble
    >>> from spmld.datasets import make_planted
    >>> from spmld.ensemble import View
    >>> from spmld.estimators import FeatureScaler
    >>> path = [{"estimator__var_smoothing": value} for value in (1e-9, 0.1, 1.0)]
    >>> bayes = View("bayes", FeatureScaler(), PerLabelClassifier(GaussianNB()), path)
    >>> data = make_planted(n_samples=300, random_state=0)
    >>> model = SelfPacedEnsemble(views=["linear", bayes], random_state=0).fit(data.X, data.Y)
    >>> sorted(model.view_weights_)
    ['bayes', 'linear']
    """

    name: str
    transformer: Any
    estimator: Any
    path: Sequence[Params] = ({},)
    start: int = 0
    costly: bool = False
    dtype: Any = None

    def __post_init__(self) -> None:
        try:
            name = None if self.dtype is None else np.dtype(self.dtype).name
        except TypeError:
            name = "unknown"
        if name not in ("float32", "float64", None):
            raise ValueError(f"dtype of a view must be 'float32', 'float64' or None, got {self.dtype!r}")
        object.__setattr__(self, "dtype", name)

    def with_params(self, **params: Any) -> "View":
        """Return the view with those of the parameters that its estimator has."""
        return replace(self, estimator=set_accepted(clone(self.estimator), **params))

    def with_seed(self, rng: np.random.RandomState) -> "View":
        """Return the view with a seed for its estimator, if that is random."""
        if "random_state" not in self.estimator.get_params():
            return self
        return self.with_params(random_state=rng.randint(MAX_SEED))


def ridge_view(alphas: Sequence[float] = ALPHAS) -> View:
    """Return the view "ridge": a linear model per label with the squared loss.

    Parameters
    ----------
    alphas : sequence of float, default=(0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
        Regularization strengths to choose from.

    Examples
    --------
    >>> from spmld.ensemble.views import ridge_view
    >>> ridge_view([10.0, 1.0]).path
    [{'alpha': 1.0}, {'alpha': 10.0}]
    """
    path = [{"alpha": alpha} for alpha in sorted(alphas)]
    return View("ridge", FeatureScaler(), MaskedRidge(warm_start=True), path, _nearest(alphas, 1.0), dtype=PRECISION)


def linear_view(Cs: Sequence[float] = CS, label_graph_penalty: float = 1.0) -> View:
    """Return the view "linear": a linear model per label with the logistic loss and the label graph.

    Parameters
    ----------
    Cs : sequence of float, default=(0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
        Inverse regularization strengths to choose from.
    label_graph_penalty : float, default=1.0
        Penalty of the label graph, see `MaskedLogistic`.

    Examples
    --------
    >>> from spmld.ensemble.views import linear_view
    >>> linear_view([10.0, 1.0]).path
    [{'C': 1.0}, {'C': 10.0}]
    """
    estimator = MaskedLogistic(label_graph_penalty=label_graph_penalty, tol=TOL, warm_start=True)
    return View(
        "linear", FeatureScaler(), estimator, [{"C": C} for C in sorted(Cs)], _nearest(Cs, 3.0), dtype=PRECISION
    )


def kernel_view(Cs: Sequence[float] = CS, label_graph_penalty: float = 1.0, n_landmarks: int = 300) -> View:
    """Return the view "kernel": the model of `linear_view` on similarities to landmarks.

    Parameters
    ----------
    Cs, label_graph_penalty
        As in `linear_view`.
    n_landmarks : int, default=300
        Number of landmarks, see `LandmarkFeatures`.

    Examples
    --------
    >>> from spmld.ensemble.views import kernel_view
    >>> kernel_view(n_landmarks=50).transformer
    LandmarkFeatures(n_landmarks=50)
    """
    linear = linear_view(Cs, label_graph_penalty)
    return replace(linear, name="kernel", transformer=LandmarkFeatures(n_landmarks), start=_nearest(Cs, 10.0))


def kernel_ridge_view(alphas: Sequence[float] = ALPHAS[:-1], n_landmarks: int = 2000) -> View:
    """Return the view "kernel ridge": a linear model per label with the squared loss on similarities to many landmarks.

    Parameters
    ----------
    alphas : sequence of float, default=(0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
        Regularization strengths to choose from.
    n_landmarks : int, default=2000
        Number of landmarks, see `LandmarkFeatures`.

    Examples
    --------
    >>> from spmld.ensemble.views import kernel_ridge_view
    >>> kernel_ridge_view(n_landmarks=50).transformer
    LandmarkFeatures(n_landmarks=50)
    """
    start = _nearest(alphas, 0.3)
    return replace(ridge_view(alphas), name="kernel ridge", transformer=LandmarkFeatures(n_landmarks), start=start)


def boosting_view(n_estimators: Sequence[int] = N_TREES) -> View:
    """Return the view "boosting": gradient boosting with trees that all labels share, `MaskedBoosting`.

    Parameters
    ----------
    n_estimators : sequence of int, default=(50, 100, 200, 400)
        Numbers of trees to choose from.

    Examples
    --------
    >>> from spmld.ensemble.views import boosting_view
    >>> boosting_view().estimator.max_samples
    20000
    """
    path = [{"n_estimators": n} for n in sorted(n_estimators)]
    start = _nearest(n_estimators, 200)
    estimator = MaskedBoosting(max_samples=MAX_TREE_SAMPLES, warm_start=True).set_params(**path[start])
    return View("boosting", FeatureScaler(), estimator, path, start, costly=True, dtype=PRECISION)


def label_boosting_view() -> View:
    """Return the view "label boosting": boosted trees for each label, by `LabelBoosting` with fixed settings.

    Examples
    --------
    >>> from spmld.ensemble.views import label_boosting_view
    >>> label_boosting_view().estimator.max_leaf_nodes
    15
    """
    return View("label boosting", FeatureScaler(), LabelBoosting(), costly=True, dtype=PRECISION)


def forest_view() -> View:
    """Return the view "forest": a random forest for each label, `MaskedForest`.

    Examples
    --------
    >>> from spmld.ensemble.views import forest_view
    >>> forest_view().estimator.n_estimators
    100
    """
    return View("forest", FeatureScaler(), MaskedForest(max_samples=MAX_TREE_SAMPLES), costly=True, dtype=PRECISION)


def latent_view() -> View:
    """Return the view "latent": all labels from a few latent labels, by `SPMLD` with fixed settings.

    Examples
    --------
    >>> from spmld.ensemble.views import latent_view
    >>> latent_view().estimator.n_components
    20
    """
    return View("latent", FeatureScaler(), ReproducibleSPMLD(standardize=False, tol=1e-2))


def make_views(
    views: Sequence[str | View],
    Cs: Sequence[float],
    alphas: Sequence[float],
    n_trees: Sequence[int],
    label_graph_penalty: float,
    n_landmarks: int,
) -> dict[str, View]:
    """Return the views by name, the built-in ones first.

    Parameters
    ----------
    views, Cs, alphas, n_trees, label_graph_penalty, n_landmarks
        As in `SelfPacedEnsemble`.
    """
    built_in: dict[str, Callable[[], View]] = {
        "linear": partial(linear_view, Cs, label_graph_penalty),
        "ridge": partial(ridge_view, alphas),
        "kernel": partial(kernel_view, Cs, label_graph_penalty, n_landmarks),
        "boosting": partial(boosting_view, n_trees),
        "label boosting": label_boosting_view,
        "forest": forest_view,
        "latent": latent_view,
    }
    chosen = [make() for name, make in built_in.items() if name in views]
    chosen += [view for view in views if isinstance(view, View)]
    return {view.name: view for view in chosen}


def set_accepted(estimator: Any, **params: Any) -> Any:
    """Set those of the parameters that the estimator has, and return it."""
    accepted = estimator.get_params()
    return estimator.set_params(**{name: value for name, value in params.items() if name in accepted})


def check_views(views: str | Sequence[Any], Cs: Sequence[Any], alphas: Sequence[Any], n_trees: Sequence[Any]) -> None:
    """Raise ValueError unless the views are names of built-in views, or `View` objects with other names."""
    paths = {"Cs": (Cs, POSITIVE, "numbers"), "alphas": (alphas, POSITIVE, "numbers")}
    for name, (values, accepted, kind) in {**paths, "n_trees": (n_trees, POSITIVE_INT, "integers")}.items():
        if len(values) == 0 or not all(map(accepted.is_satisfied_by, values)):
            raise ValueError(f"{name} must be a non-empty sequence of positive {kind}, got {values!r}")
    names = ", ".join(map(repr, VIEWS))
    if isinstance(views, str):
        return
    if len(views) == 0 or not all(
        isinstance(view, View) or (isinstance(view, str) and view in VIEWS) for view in views
    ):
        raise ValueError(f"views must be a non-empty sequence of {names} or View, got {views!r}")
    custom = [view.name for view in views if isinstance(view, View)]
    if len({*custom, *VIEWS}) < len(custom) + len(VIEWS):
        raise ValueError(f"views must have distinct names other than {names}, got {custom!r}")


class ReproducibleSPMLD(SPMLD):
    """`SPMLD` with block updates that are accurate enough for scores that do not depend on the CPU.

    Examples
    --------
    >>> from spmld.ensemble.views import ReproducibleSPMLD
    >>> ReproducibleSPMLD().loss
    'logistic'
    """

    def _steps(self) -> tuple[BlockUpdate, ...]:
        return exact_steps(self.tol, reproducible=True)


def _nearest(values: Sequence[float], value: float) -> int:
    """Return the index of the value of a sorted sequence that is nearest on a logarithmic scale."""
    return int(np.argmin(np.abs(np.log(np.sort(values)) - np.log(value))))

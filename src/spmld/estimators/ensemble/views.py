"""Views of the ensemble: a transformer of the features, a base estimator, and the settings to try.

To add a view, write a function that returns a `View`, and list it in `VIEWS` and `SelfPacedEnsemble._make_views`. Other
views can be passed to ``SelfPacedEnsemble(views=...)``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spmld.core.latent_solver import exact_steps
from spmld.core.steps import BlockUpdate
from spmld.estimators.masked_linear import MaskedLogistic
from spmld.estimators.scaling import FeatureScaler, LandmarkFeatures
from spmld.estimators.spmld import SPMLD

Params = Mapping[str, Any]
CS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
LABEL_GRAPH_PENALTIES = (1.0, 0.0, 5.0)


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
        Parameters of the estimator, tried in this order until the loss has risen twice in a row.
    changes : sequence of dict, default=()
        Changes to the best parameters of the path, each tried once.

    Examples
    --------
    >>> from spmld import MLkNN, SelfPacedEnsemble
    >>> from spmld.datasets import make_planted
    >>> from spmld.estimators import FeatureScaler, View
    >>> neighbors = View("neighbors", FeatureScaler(), MLkNN(), path=[{"n_neighbors": k} for k in (5, 10, 20)])
    >>> data = make_planted(n_samples=300, random_state=0)
    >>> model = SelfPacedEnsemble(views=["linear", neighbors], random_state=0).fit(data.X, data.Y)
    >>> sorted(model.view_weights_)
    ['linear', 'neighbors']
    """

    name: str
    transformer: Any
    estimator: Any
    path: Sequence[Params] = ({},)
    changes: Sequence[Params] = ()

    @property
    def n_settings(self) -> int:
        """Maximum number of settings that are tried."""
        return len(self.path) + len(self.changes)


def linear_view(Cs: Sequence[float] = CS, label_graph_penalties: Sequence[float] = LABEL_GRAPH_PENALTIES) -> View:
    """Return the view "linear": a linear model per label, with the label graph of `MaskedLogistic`.

    Parameters
    ----------
    Cs : sequence of float, default=(1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
        Inverse regularization strengths. All are tried with the first label graph penalty, in ascending order.
    label_graph_penalties : sequence of float, default=(1.0, 0.0, 5.0)
        Penalties of the label graph. All but the first are tried with the best C.

    Examples
    --------
    >>> from spmld.estimators.ensemble import linear_view
    >>> linear_view([10.0, 1.0]).path
    [{'C': 1.0, 'label_graph_penalty': 1.0}, {'C': 10.0, 'label_graph_penalty': 1.0}]
    """
    first, *others = label_graph_penalties
    path = [{"C": C, "label_graph_penalty": first} for C in sorted(Cs)]
    changes = [{"label_graph_penalty": penalty} for penalty in others]
    return View("linear", FeatureScaler(), MaskedLogistic(warm_start=True), path, changes)


def kernel_view(Cs: Sequence[float] = CS, n_landmarks: int = 300, *, random_state: Any = None) -> View:
    """Return the view "kernel": a linear model per label of similarities to landmarks.

    Parameters
    ----------
    Cs
        As in `linear_view`.
    n_landmarks : int, default=300
        Number of landmarks, see `LandmarkFeatures`.
    random_state : int, RandomState or None, default=None
        Seed for the landmarks.

    Examples
    --------
    >>> from spmld.estimators.ensemble import kernel_view
    >>> kernel_view(n_landmarks=50).transformer
    LandmarkFeatures(n_landmarks=50)
    """
    transformer = LandmarkFeatures(n_landmarks, random_state=random_state)
    path = [{"C": C, "label_graph_penalty": 1.0} for C in sorted(Cs)]
    return View("kernel", transformer, MaskedLogistic(warm_start=True), path)


def latent_view(*, random_state: Any = None) -> View:
    """Return the view "latent": all labels from a few latent labels, by `SPMLD` with fixed settings.

    Parameters
    ----------
    random_state : int, RandomState or None, default=None
        Seed for the base estimator.

    Examples
    --------
    >>> from spmld.estimators.ensemble import latent_view
    >>> latent_view().n_settings
    1
    """
    return View("latent", FeatureScaler(), ReproducibleSPMLD(standardize=False, tol=1e-2, random_state=random_state))


class ReproducibleSPMLD(SPMLD):
    """`SPMLD` with block updates that are accurate enough for scores that do not depend on the CPU.

    Examples
    --------
    >>> from spmld.estimators.ensemble.views import ReproducibleSPMLD
    >>> ReproducibleSPMLD().solver
    'exact'
    """

    def _steps(self) -> tuple[BlockUpdate, ...]:
        return exact_steps(self.tol, reproducible=True)

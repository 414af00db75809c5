"""SPMLD: self-paced multi-label learning with diversity on the GLOCAL host (Seyedi et al., 2019)."""

from __future__ import annotations

from typing import Any, Literal

from sklearn.base import clone

from spmld.core.outer import PacingRule
from spmld.estimators._inputs import check_pacing
from spmld.estimators.glocal import GLOCAL, RELEASED
from spmld.pacing import GeometricSchedule, GroupSparsePacing, QuantileSchedule, ReleasedPacing

__all__ = ["SPMLD"]


class SPMLD(GLOCAL):
    r"""Self-paced multi-label learning with diversity, on partly observed labels.

    GLOCAL's objective with a weight :math:`P_{ji} \in [0, 1]` for latent label i of sample j,

    .. math::

        \frac{\alpha}{2} \|\sqrt{P} \circ (V - X W)\|^2 - \lambda \sum P + \gamma \sum_i \|P_{:i}\|_2

    in place of the coupling. Latent labels that the features explain well come first; the pacing grows with the rounds.

    Parameters
    ----------
    pacing : pacing object or None, default=None
        Rule and schedule of the weights, see `spmld.pacing`. None is ``GroupSparsePacing(schedule=QuantileSchedule())``: the
        exact rule for a share of each latent label that grows to all of it.
    n_components, n_groups, correlation_rank, coupling, global_correlation, local_correlation
        As in `GLOCAL`.
    ridge, feature_ridge, standardize, rescale, loss, fit_intercept, solver, init
        As in `GLOCAL`.
    n_warmup_iter : int, default=2
        Rounds with all weights 1 and without correlation before the pacing sets in.
    max_iter, tol, convention, random_state, callback, verbose
        As in `GLOCAL`.

    Attributes
    ----------
    self_paced_weights_ : array of shape (n_samples, k)
        P after the last round.
    history_ : list of dict
        As in `GLOCAL`. "threshold" and "diversity" are lambda and gamma (their means, where each latent label has its
        own), "mean_weight" the mean weight and "mean_weight_per_component" that of each latent label.
    label_factors_, latent_labels_, feature_weights_, latent_offsets_, coef_, intercept_
        As in `GLOCAL`.
    correlation_factors_, group_sizes_, n_iter_, converged_
        As in `GLOCAL`.
    classes_, n_labels_, label_names_, n_features_in_, feature_names_in_
        As in `GLOCAL`.

    See Also
    --------
    GLOCAL : The host, without pacing.

    Examples
    --------
    >>> from spmld import SPMLD
    >>> from spmld.datasets import make_planted
    >>> from spmld.labels import hide_labels
    >>> data = make_planted(n_samples=300, random_state=0)
    >>> Y = hide_labels(data.Y, observed_fraction=0.5, random_state=0)
    >>> model = SPMLD(random_state=0).fit(data.X, Y)
    >>> [round(record["mean_weight"], 1) for record in model.history_ if record["stage"] == "main"][:4]
    [0.5, 0.7, 0.8, 1.0]
    """

    _row_sparse_when_released = True

    def __init__(
        self,
        *,
        pacing: Any = None,
        n_components: int = 20,
        n_groups: int = 3,
        correlation_rank: int = 20,
        coupling: float = 0.3,
        global_correlation: float = 1e-3,
        local_correlation: float = 1e-5,
        ridge: float = 0.03,
        feature_ridge: float = 0.25,
        standardize: bool = True,
        rescale: bool = True,
        loss: Literal["logistic", "squared", "squared_hinge"] = "logistic",
        fit_intercept: bool = True,
        solver: Literal["exact", "descent"] = "exact",
        init: Literal["spectral", "random"] = "spectral",
        n_warmup_iter: int = 2,
        max_iter: int = 100,
        tol: float | None = 1e-3,
        convention: Literal["paper", "released"] = "paper",
        random_state: Any = None,
        callback: Any = None,
        verbose: bool | int = False,
    ):
        super().__init__(
            n_components=n_components,
            n_groups=n_groups,
            correlation_rank=correlation_rank,
            coupling=coupling,
            global_correlation=global_correlation,
            local_correlation=local_correlation,
            ridge=ridge,
            feature_ridge=feature_ridge,
            standardize=standardize,
            rescale=rescale,
            loss=loss,
            fit_intercept=fit_intercept,
            solver=solver,
            init=init,
            n_warmup_iter=n_warmup_iter,
            max_iter=max_iter,
            tol=tol,
            convention=convention,
            random_state=random_state,
            callback=callback,
            verbose=verbose,
        )
        self.pacing = pacing

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_pacing(self)

    def _pacing(self) -> PacingRule:
        return self.pacing if self.pacing is not None else GroupSparsePacing(schedule=QuantileSchedule())

    def without(self, *parts: str) -> SPMLD:
        """The same model without some of its parts, unfitted: the paper's ablations.

        Parameters
        ----------
        *parts : {"pacing", "diversity", "global_correlation", "local_correlation"}
            "pacing": all weights 1, as in `GLOCAL`. "diversity": the pacing without its diversity term, which the default
            pacing does not have. A correlation: its strength 0.

        Returns
        -------
        SPMLD

        Examples
        --------
        >>> from spmld import SPMLD
        >>> SPMLD.paper().without("diversity").pacing.schedule.diversity
        0.0
        >>> SPMLD().without("global_correlation", "local_correlation").local_correlation
        0.0
        """
        changes: dict[str, Any] = {
            "pacing": {"pacing": GroupSparsePacing(schedule=QuantileSchedule(start=1.0, stop=1.0))},
            "diversity": dict.fromkeys({"pacing__schedule__diversity"} & set(self.get_params()), 0.0),
            "global_correlation": {"global_correlation": 0.0},
            "local_correlation": {"local_correlation": 0.0},
        }
        model = clone(self)
        for part in parts:
            if part not in changes:
                raise ValueError(f"parts must be of {list(changes)}, got {part!r}")
            model.set_params(**changes[part])
        return model

    @classmethod
    def paper(cls, **changes: Any) -> SPMLD:
        """The paper's text: squared loss, no intercept, no latent entry in use until it is easy, absolute schedule.

        The blocks are solved exactly and lambda and gamma are half of the paper's 0.1 and 1, as our objective is half
        of its equation 8; their factors are 1.1 and 0.95. The host has the values its authors released, which the
        paper refers to.

        Parameters
        ----------
        **changes
            Constructor parameters to set otherwise.

        Examples
        --------
        >>> from spmld import SPMLD
        >>> SPMLD.paper(n_components=10).fit_intercept
        False
        """
        schedule = GeometricSchedule(threshold=0.05, growth=1.1, diversity=0.5, decay=0.95)
        settings = {**RELEASED, "solver": "exact", "convention": "paper", "max_iter": 100, "tol": 1e-4}
        return cls(**{"pacing": GroupSparsePacing(schedule=schedule), **settings, **changes})

    @classmethod
    def released(cls, **changes: Any) -> SPMLD:
        """The settings and the algorithm of the authors' released code, whose results are the paper's tables.

        As `GLOCAL.released`, with squared weights in the coupling, weights in the correlation term too, row norms as
        the penalty on W, and `ReleasedPacing`.

        Parameters
        ----------
        **changes
            Constructor parameters to set otherwise.

        Examples
        --------
        >>> from spmld import SPMLD
        >>> SPMLD.released(random_state=0).pacing
        ReleasedPacing(...)
        """
        return cls(**{"pacing": ReleasedPacing(), **RELEASED, **changes})

"""SPMLD: self-paced multi-label learning with diversity, based on GLOCAL (Seyedi et al., 2019)."""

from dataclasses import dataclass
from typing import Any, Self

from spmld._validation import NonNegativeInt
from spmld.core.latent_solver import Pacing
from spmld.estimators.glocal import GLOCAL
from spmld.pacing import GeometricSchedule, GroupSparsePacing, PacingRule, QuantileSchedule


@dataclass(kw_only=True, eq=False, repr=False)
class SPMLD(GLOCAL):
    r"""Self-paced multi-label learning with diversity, for partially observed labels.

    The objective of `GLOCAL` with a weight :math:`P_{ji} \in [0, 1]` for latent label i of sample j,

    .. math::

        \frac{\alpha}{2} \|\sqrt{P} \circ (V - X W)\|^2 - \lambda \sum P + \gamma \sum_i \|P_{:i}\|_2

    in place of the coupling. Latent labels that the features explain well are used first; the others follow as the
    pacing schedule advances.

    Parameters
    ----------
    pacing : PacingRule or None, default=None
        Pacing rule with its schedule, see `spmld.pacing`. None is ``GroupSparsePacing(schedule=QuantileSchedule())``:
        the exact rule for a fraction of each latent label that grows to 1.
    n_components, n_groups, correlation_rank, coupling, global_correlation, local_correlation
        As in `GLOCAL`.
    ridge, feature_ridge, standardize, rescale, loss, fit_intercept, solver, init
        As in `GLOCAL`.
    n_warmup_iter : int, default=2
        Number of warm-up iterations, with all weights 1 and without correlation.
    max_iter, tol, random_state, callback, verbose
        As in `GLOCAL`.

    Attributes
    ----------
    self_paced_weights_ : array of shape (n_samples, k)
        P after the last iteration.
    history_ : list of dict
        As in `GLOCAL`. "threshold" and "diversity" are the means of lambda and gamma over the latent labels.
    label_factors_, latent_labels_, feature_weights_, latent_offsets_, coef_, intercept_
        As in `GLOCAL`.
    correlation_factors_, group_sizes_, n_iter_, converged_
        As in `GLOCAL`.

    See Also
    --------
    GLOCAL : The same model without pacing.
    MultiLabelEstimator : The attributes that all estimators share.

    Examples
    --------
    >>> from spmld import SPMLD
    >>> from spmld.datasets import make_planted
    >>> data = make_planted(n_samples=300, observed_fraction=0.5, random_state=0)
    >>> model = SPMLD(random_state=0).fit(data.X, data.Y)
    >>> [round(record["mean_weight"], 1) for record in model.history_ if record["stage"] == "main"][:4]
    [0.5, 0.7, 0.8, 1.0]
    """

    pacing: PacingRule | None = None
    n_warmup_iter: NonNegativeInt = 2

    def _pacing(self) -> Pacing:
        rule = self.pacing if self.pacing is not None else GroupSparsePacing(schedule=QuantileSchedule())
        return rule._update_blocks

    @classmethod
    def paper(cls, **params: Any) -> Self:
        """Return the model of the paper's text: squared loss, no intercept, random initialization, geometric schedule.

        The blocks are solved exactly. The thresholds and diversities are half of the paper's 0.1 and 1, because our
        objective is half of its equation 8; their factors are 1.1 and 0.95. The other parameters have the values of
        the authors' released code, to which the paper refers. `params` replace parameters of the preset.

        Examples
        --------
        >>> from spmld import SPMLD
        >>> SPMLD.paper(n_components=10).fit_intercept
        False
        """
        schedule = GeometricSchedule(threshold=0.05, growth=1.1, diversity=0.5, decay=0.95)
        preset = {
            "pacing": GroupSparsePacing(schedule=schedule),
            "coupling": 1.0,
            "ridge": 0.125,
            "feature_ridge": 0.125,
            "standardize": False,
            "loss": "squared",
            "fit_intercept": False,
            "init": "random",
            "n_warmup_iter": 15,
            "tol": 1e-4,
        }
        return cls(**{**preset, **params})

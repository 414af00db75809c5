"""GLOCAL: latent labels with global and local label correlations (Zhu, Kwok and Zhou, 2018)."""

from __future__ import annotations

from typing import Any, Literal

from spmld.estimators._latent import LatentLabelModel

__all__ = ["GLOCAL"]


class GLOCAL(LatentLabelModel):
    r"""Multi-label learning with global and local label correlation, on partly observed labels.

    The labels are explained by few latent labels, :math:`Y \approx V U^\top + 1 b^\top`, and those by the features,
    :math:`V \approx X W`; correlations between labels, in all samples and in groups of them, are learned with it:

    .. math::

        \sum_{ij} J_{ij}\, \ell(Y_{ij}, (V U^\top + 1 b^\top)_{ij}) + \frac{\alpha}{2} \|V - X W\|^2
        + \sum_m \frac12 \Big[\frac{\beta_1 n_m}{n} \|F Z_m\|^2 + \beta_2 \|F_m Z_m\|^2\Big]
        + \frac12 \big(\tau_U \|U\|^2 + \tau_V \|V\|^2 + \tau_W \|W\|^2\big)

    with :math:`J` the observed entries, :math:`F = X W U^\top`, :math:`F_m` its rows in group m, and rows of
    :math:`Z_m` on the unit sphere. Scores of new samples are :math:`X W U^\top + b`.

    Parameters
    ----------
    n_components : int, default=20
        Number k of latent labels; no more than there are labels are used.
    n_groups : int, default=3
        Number of groups of samples with their own correlations, found by k-means; no more than there are samples.
    correlation_rank : int, default=20
        Columns of each correlation factor :math:`Z_m`.
    coupling : float, default=0.3
        :math:`\alpha`, how closely latent labels follow the features.
    global_correlation : float, default=1e-3
        :math:`\beta_1`. 0 switches the global correlation off.
    local_correlation : float, default=1e-5
        :math:`\beta_2`. 0 switches the groups off.
    ridge : float, default=0.03
        :math:`\tau_U` and :math:`\tau_V`.
    feature_ridge : float, default=0.25
        :math:`\tau_W`.
    standardize : bool, default=True
        Bring the features to a common scale within the fit, so that one strength of the penalty suits all: columns
        of mean 0 and equal variance, or, if more than half of X is 0, one factor for all of it.
    rescale : bool, default=True
        Multiply the penalties by size factors, so that one value serves problems of different size. With N observed
        entries, n samples, d features, l labels and g groups: N/(nk) for the coupling and :math:`\tau_V`,
        N/(lk) for :math:`\tau_U`, N/(dk) for :math:`\tau_W`, N/n^2 for :math:`\beta_1`, N/(n/g)^2 for
        :math:`\beta_2`.
    loss : {"logistic", "squared", "squared_hinge"}, default="logistic"
        Loss of an entry, on labels -1 and +1.
    fit_intercept : bool, default=True
        Whether each label has an intercept, which is not penalised.
    solver : {"exact", "descent"}, default="exact"
        Exact minimisation in each block of variables, or steepest descent as in the paper, which is far slower.
    init : {"spectral", "random"}, default="spectral"
        Leading factors of the observed labels, or uniform random factors as in the released code.
    n_warmup_iter : int, default=0
        Rounds without correlation before the first one with it.
    max_iter : int, default=100
        Most rounds after the warm ones.
    tol : float or None, default=1e-3
        Stop when a round changes the objective by less than this share of it. None: run `max_iter` rounds.
    convention : {"paper", "released"}, default="paper"
        "released" follows the authors' released code where it differs from the paper, to reproduce its results.
    random_state : int, RandomState or None, default=None
        Seed of the groups and of the starting factors.
    callback : callable or None, default=None
        Called after each round with its record of `history_`; if it returns True the fit ends there.
    verbose : bool or int, default=False
        Whether to log each round, at level INFO to the logger "spmld".

    Attributes
    ----------
    label_factors_ : array of shape (n_labels, k)
        U, the loadings of the labels on the latent labels.
    latent_labels_ : array of shape (n_samples, k)
        V, the latent labels of the training samples.
    feature_weights_ : array of shape (n_features, k)
        W, for features as given.
    latent_offsets_ : array of shape (k,)
        What the features' means come to: latent labels follow ``X @ feature_weights_ - latent_offsets_``.
    coef_ : array of shape (n_labels, n_features)
        U W^T.
    intercept_ : array of shape (n_labels,)
        b.
    correlation_factors_ : array of shape (n_groups, n_labels, correlation_rank)
        The factors Z_m, see `label_correlation`.
    group_sizes_ : array of shape (n_groups,)
        Training samples in each group.
    self_paced_weights_ : array of shape (n_samples, k)
        P, all ones in GLOCAL.
    history_ : list of dict
        For each round: its "stage", "warm-up" or "main", and number in it; the "objective" and its terms "fit",
        "coupling", "correlation", "ridge" and "pacing"; the share of weight in use; threshold and diversity of the
        pacing; seconds.
    n_iter_ : int
        Rounds run, warm ones included.
    converged_ : bool
        Whether the objective settled.
    classes_ : ndarray of shape (2,)
        How a negative and a positive label are written.
    n_labels_ : int
        Number of labels.
    label_names_ : list
        Their names, or numbers.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray
        Their names, where X had string ones.

    See Also
    --------
    SPMLD : The same model with self-paced weights.

    Examples
    --------
    >>> from spmld import GLOCAL
    >>> from spmld.datasets import make_planted
    >>> from spmld.labels import hide_labels
    >>> data = make_planted(n_samples=300, random_state=0)
    >>> Y = hide_labels(data.Y, observed_fraction=0.5, random_state=0)
    >>> model = GLOCAL(random_state=0).fit(data.X, Y)
    >>> model.predict_proba(data.X[:2]).shape
    (2, 12)
    """

    def __init__(
        self,
        *,
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
        n_warmup_iter: int = 0,
        max_iter: int = 100,
        tol: float | None = 1e-3,
        convention: Literal["paper", "released"] = "paper",
        random_state: Any = None,
        callback: Any = None,
        verbose: bool | int = False,
    ):
        self.n_components = n_components
        self.n_groups = n_groups
        self.correlation_rank = correlation_rank
        self.coupling = coupling
        self.global_correlation = global_correlation
        self.local_correlation = local_correlation
        self.ridge = ridge
        self.feature_ridge = feature_ridge
        self.standardize = standardize
        self.rescale = rescale
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.init = init
        self.n_warmup_iter = n_warmup_iter
        self.max_iter = max_iter
        self.tol = tol
        self.convention = convention
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    @classmethod
    def released(cls, **changes: Any) -> Any:
        """The settings and the algorithm of the authors' released code.

        Squared loss, no intercept, random start, 15 warm and 15 main rounds of steepest descent, and line searches
        that count the correlation term twice.

        Parameters
        ----------
        **changes
            Constructor parameters to set otherwise.

        Examples
        --------
        >>> from spmld import GLOCAL
        >>> GLOCAL.released(random_state=0).solver
        'descent'
        """
        return cls(**{**RELEASED, **changes})


RELEASED: dict[str, Any] = {
    "n_components": 20,
    "n_groups": 3,
    "correlation_rank": 20,
    "coupling": 1.0,
    "global_correlation": 1e-3,
    "local_correlation": 1e-5,
    "ridge": 0.125,
    "feature_ridge": 0.125,
    "standardize": False,
    "rescale": True,
    "loss": "squared",
    "fit_intercept": False,
    "solver": "descent",
    "init": "random",
    "n_warmup_iter": 15,
    "max_iter": 15,
    "tol": None,
    "convention": "released",
}

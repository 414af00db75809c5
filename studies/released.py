"""Differences of the released code from the paper: terms, line searches, pacing rule and defaults."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from sklearn.base import clone

from spmld._arrays import Array, namespace
from spmld.core.descent import DescendU, DescendV, DescendW, DescendZ
from spmld.core.problem import Block, Problem, Rows
from spmld.core.steps import BlockUpdate
from spmld.core.terms import Correlation, Coupling, Objective, Ridge
from spmld.estimators import GLOCAL, SPMLD
from spmld.pacing import GeometricSchedule, GroupSparsePacing, QuantileSchedule
from spmld.pacing.schedules import Schedule

__all__ = ["ReleasedGLOCAL", "ReleasedPacing", "ReleasedSPMLD"]

Estimator = TypeVar("Estimator", bound=type)


class ReleasedCoupling(Coupling):
    """a/2 |P o (V - T)|^2: the weights are squared."""

    def weights(self, P: Array) -> Array:
        return self.a * P**2

    def value(self, V: Array, T: Array, P: Array) -> Array:
        return namespace(V).sum(P**2 * self.losses(V, T))


class ReleasedCorrelation(Correlation):
    """The correlation term with P o T in place of T."""

    def block_moments(self, n_groups: int, block: Block, rows: Rows) -> Array:
        return super().block_moments(n_groups, block, replace(rows, T=rows.P * rows.T))

    def gradient_T(self, block: Block, rows: Rows, N: Array) -> Array:
        return rows.P * super().gradient_T(block, replace(rows, T=rows.P * rows.T), N)


class RowNormRidge(Ridge):
    """The ridge penalty with the sum of the row norms of W in place of |W|^2."""

    def value_W(self, W: Array) -> Array:
        return self.tW / 2 * namespace(W).sum(self._norms(W, 0.0))

    def slope_W(self, W: Array) -> Array:
        return self.tW / 2 / self._norms(W, 1e-12) * W

    def curvature_W(self, W: Array) -> Array:
        # Row norms have no finite curvature at 0, the initial value. The lower bound lets rows leave 0; below it the
        # step is that of smoothed norms, which may raise the penalty by up to tW / 2 times the bound per row.
        return self.tW / 2 / self._norms(W, 1e-3)

    def _norms(self, W: Array, floor: float) -> Array:
        xp = namespace(W)
        norms = xp.sqrt(xp.sum(W * W, axis=1, keepdims=True))
        return xp.where(norms > floor, norms, floor)


RELEASED_DESCENT: tuple[BlockUpdate, ...] = (DescendZ(), DescendV(), DescendU(2.0), DescendW(2.0))
"""Steps of which the line searches of U and W count the correlation term twice, though their gradients do not."""


class ReleasedPacing(GroupSparsePacing):
    """The pacing rule of the released code.

    Losses are scaled to [0, 1] over the whole matrix. The rule of the paper's text follows, with its two sums fixed at
    the first index, and its breaking point chosen from a vector padded with zeros; it acts as hard selection. The
    penalty is that of the paper, which these weights do not minimize.

    Parameters
    ----------
    schedule : GeometricSchedule, similar object or None, default=None
        Threshold and diversity of each iteration, the same for all columns. None is ``GeometricSchedule()``.

    Examples
    --------
    >>> from studies.released import ReleasedPacing
    >>> ReleasedPacing().active_schedule.growth
    1.3
    """

    def default_schedule(self) -> Schedule:
        """Return the schedule of the paper."""
        return GeometricSchedule()

    def _check_parameters(self) -> None:
        if isinstance(self.schedule, QuantileSchedule):
            raise ValueError(
                "The 'schedule' parameter of ReleasedPacing must have one threshold for all columns, such as "
                f"GeometricSchedule(). Got {self.schedule!r} instead."
            )

    def weights(self, losses: Array, threshold: Any, diversity: Any = 0.0) -> Array:
        """Return the weights of the released code."""
        xp = namespace(losses)
        if xp.any(xp.isnan(losses)):
            raise ValueError("ReleasedPacing requires losses of all entries, as in SPMLD")
        low, high = float(xp.min(losses)), float(xp.max(losses))
        scaled = (losses - low) / (high - low if high > low else 1.0)
        columns = [released_weights(scaled[:, i], threshold, diversity) for i in range(losses.shape[1])]
        return xp.stack(columns, axis=1)


def released_weights(L: Array, threshold: float, gamma: float) -> Array:
    """Return the weights of one column. The sums r and q are fixed at the first index, and h is padded with zeros."""
    xp = namespace(L)
    n = L.shape[0]
    order = xp.argsort(L)
    l = L[order]
    at = xp.arange(1, n + 1, device=L.device)
    below = int(xp.sum(xp.astype(l < threshold, at.dtype)))
    k1 = below + 1 if below < n else n
    s = max(1, int(xp.sum(xp.astype(l <= threshold - gamma, at.dtype))))
    a = threshold - l[1 : k1 - 1]
    r, q = float(xp.sum(a * a)), float(xp.sum(a))

    def c(k: int) -> float:
        gap = gamma**2 - r
        if gap != 0:
            return float((k / gap) ** 0.5) if gap > 0 else 0.0
        return 1 / (threshold - float(l[k])) if gamma**2 < q and k < n else 0.0

    c1 = c(1)
    k = xp.astype(at, l.dtype)
    h = xp.cumulative_sum(l) - threshold * (k + c1 * q) + gamma * xp.sqrt(k + r * c1**2)
    h = xp.where((at >= s) & (at < k1), h, xp.zeros_like(h))
    k0 = int(xp.argmin(h)) + 1
    p = xp.where(at < k1, c(k0) * (threshold - l), xp.zeros_like(l))
    p = xp.where(at <= k0, xp.ones_like(l), p)
    return p[xp.argsort(order)]


def with_defaults(**defaults: Any) -> Callable[[Estimator], Estimator]:
    """Return a class decorator that changes defaults of the inherited constructor. Default objects are copied."""

    def decorate(cls: Estimator) -> Estimator:
        inherited = cls.__init__  # type: ignore[misc]
        signature = inspect.signature(inherited)
        parameters = [p.replace(default=defaults.get(p.name, p.default)) for p in signature.parameters.values()]

        def init(self: Any, **params: Any) -> None:
            values = {name: clone(value, safe=False) for name, value in defaults.items()}
            inherited(self, **{**values, **params})

        init.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        cls.__init__ = init  # type: ignore[misc]
        return cls

    return decorate


DEFAULTS: dict[str, Any] = {
    "coupling": 1.0,
    "ridge": 0.125,
    "feature_ridge": 0.125,
    "standardize": False,
    "loss": "squared",
    "fit_intercept": False,
    "solver": "descent",
    "init": "random",
    "n_warmup_iter": 15,
    "max_iter": 15,
    "tol": None,
}


class _ReleasedDescent(GLOCAL):
    def _steps(self) -> tuple[BlockUpdate, ...]:
        return super()._steps() if self.solver == "exact" else RELEASED_DESCENT


@with_defaults(**DEFAULTS)
class ReleasedGLOCAL(_ReleasedDescent):
    """GLOCAL with the settings and the line searches of the released code.

    Squared loss, no intercept, random initialization, 15 warm-up and 15 main iterations of steepest descent, and line
    searches that count the correlation term twice.

    Examples
    --------
    >>> from studies.released import ReleasedGLOCAL
    >>> ReleasedGLOCAL(random_state=0).solver
    'descent'
    """


@with_defaults(**DEFAULTS, pacing=ReleasedPacing(schedule=GeometricSchedule()))
class ReleasedSPMLD(SPMLD, _ReleasedDescent):
    """SPMLD with the settings and the algorithm of the released code, whose results are the tables of the paper.

    As `ReleasedGLOCAL`, with squared weights in the coupling, weights in the correlation term, row norms as the penalty
    on W, and `ReleasedPacing`.

    Examples
    --------
    >>> from studies.released import ReleasedSPMLD
    >>> ReleasedSPMLD(random_state=0).pacing
    ReleasedPacing(...)
    """

    def _objective(self, problem: Problem, observed: float, k: int) -> Objective:
        terms = super()._objective(problem, observed, k)
        return replace(
            terms,
            coupling=ReleasedCoupling(**vars(terms.coupling)),
            correlation=ReleasedCorrelation(**vars(terms.correlation)),
            ridge=RowNormRidge(**vars(terms.ridge)),
        )

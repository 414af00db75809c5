"""Steepest descent with Armijo backtracking for every block, as described in the paper.

Step lengths and stopping rules are those of the authors' released code. The tests compare the exact updates with it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from spmld._arrays import Array, namespace
from spmld.core.newton import SUFFICIENT
from spmld.core.problem import Block, Problem, Rows, State, set_rows
from spmld.core.steps import BlockUpdate, normalize_rows
from spmld.core.terms import Objective, square

Point = tuple[Array, ...]

MAX_BACKTRACKS = 25
"""Maximum number of trials of a step."""
SMALL_GRADIENT = 1e-6
"""Norm of the gradient at which a descent ends; its other ends are small steps and small changes of the value."""
SMALL_STEP = 1e-10
SMALL_CHANGE = 1e-5


def descend(
    x: Point,
    value: Callable[[Point], float],
    gradient: Callable[[Point], Point],
    retract: Callable[[Point], Point] = lambda x: x,
    n_variables: int | None = None,
    max_iter: int = 60,
) -> Point:
    """Minimize `value` from x along the negative `gradient`; each trial point is passed through `retract`.

    The first trial step has length 1; later ones are guessed from the last decrease. A trial is halved until the value
    decreases enough. `n_variables` is the number of leading arrays of x that are variables; the others are products
    that are updated with them and are not part of the norm of the gradient.
    """

    def backtrack(x: Point, g: Point, f: float, norm2: float, step: float) -> tuple[Point, float, float]:
        for _ in range(MAX_BACKTRACKS):
            trial = retract(tuple(a - step * d for a, d in zip(x, g, strict=True)))
            new = value(trial)
            if new <= f - SUFFICIENT * step * norm2:
                return trial, new, step
            step /= 2
        return (trial, new, 2 * step) if new < f else (x, f, 0.0)

    f = value(x)
    before = None
    values = [f]
    for _ in range(max_iter):
        g = gradient(x)
        norm2 = sum(float(square(part)) for part in g[:n_variables])
        if norm2**0.5 < SMALL_GRADIENT:
            break
        step = 4 * (before - f) / norm2 if before is not None else 0.0
        if step <= 0:
            step = norm2**-0.5
        x, new, step = backtrack(x, g, f, norm2, step)
        before = f
        f = new
        values.append(f)
        small = [abs(a - b) < SMALL_CHANGE for a, b in zip(values[-5:-1], values[-4:-1], strict=False)]
        if step * norm2**0.5 < SMALL_STEP or (len(values) >= 5 and all(small)):
            break
    return x


@dataclass(frozen=True)
class Descent:
    """Base class of the descent steps. The objective is evaluated exactly, so that no step raises it."""

    correlation_factor: float = 1.0
    """Factor of the correlation term in the line searches of U and W, though not in the gradient."""
    max_iter: int = 60
    """Maximum number of iterations of a step."""
    models_fit: ClassVar[bool] = False


class DescendV(Descent):
    """Lower fit, coupling and ridge in V."""

    def __call__(self, problem: Problem, objective: Objective, state: State, safe: bool = True) -> State:
        fit = objective.fit
        coupling = objective.coupling
        tV = objective.ridge.tV
        U, b = state.U, state.b

        def value(V: Point) -> float:
            def value_block(block: Block, rows: Rows, V: Array) -> Array:
                return fit.value(block, V, U, b) + coupling.value(V, rows.T, rows.P) + tV / 2 * square(V)

            return float(problem.sum(value_block, state.rows, V))

        def gradient(V: Point) -> Point:
            def gradient_block(block: Block, rows: Rows, V: Array) -> Array:
                return block.entries.times(fit.slope(block, V, U, b), U) + coupling.slope(V, rows.T, rows.P) + tV * V

            return problem.map(gradient_block, state.rows, V)

        return set_rows(state, V=descend(tuple(r.V for r in state.rows), value, gradient, max_iter=self.max_iter))


class DescendU(Descent):
    """Lower fit, correlation and ridge in U, and in b if there are intercepts."""

    def __call__(self, problem: Problem, objective: Objective, state: State, safe: bool = True) -> State:
        fit = objective.fit
        correlation = objective.correlation
        tU = objective.ridge.tU
        H = correlation.moments(problem, state)

        def value(x: Point) -> float:
            U, b = x
            total = problem.sum(lambda block, rows: fit.value(block, rows.V, U, b), state.rows) + tU / 2 * square(U)
            return float(total + self.correlation_factor * correlation.value(H, U, state.Z))

        def gradient(x: Point) -> Point:
            U, b = x

            def gradient_block(block: Block, rows: Rows) -> tuple[Array, Array]:
                D = fit.slope(block, rows.V, U, b)
                return block.entries.transposed_times(D, rows.V), block.entries.column_sums(D)

            gU, gb = problem.sum(gradient_block, state.rows)
            return gU + tU * U + correlation.gradient_U(H, U, state.Z), problem.fit_intercept * gb

        U, b = descend((state.U, state.b), value, gradient, max_iter=self.max_iter)
        return replace(state, U=U, b=b)


class DescendW(Descent):
    """Lower coupling, correlation and the penalty on W. T = X W is updated with W, so a trial needs no product."""

    def __call__(self, problem: Problem, objective: Objective, state: State, safe: bool = True) -> State:
        coupling = objective.coupling
        correlation = objective.correlation
        ridge = objective.ridge
        N = correlation.couplings(problem, state.U, state.Z)

        def value(x: Point) -> float:
            W, *T = x
            total = problem.sum(lambda block, rows, T: coupling.value(rows.V, T, rows.P), state.rows, T)
            H = correlation.moments(problem, set_rows(state, T=T))
            return float(total + ridge.value_W(W) + self.correlation_factor * correlation.value(H, state.U, state.Z))

        def gradient(x: Point) -> Point:
            W, *T = x

            def gradient_block(block: Block, rows: Rows, T: Array) -> Array:
                correlated = correlation.gradient_T(block, replace(rows, T=T), N)
                return block.XT @ (correlated - coupling.slope(rows.V, T, rows.P))

            g = problem.sum(gradient_block, state.rows, T) + ridge.slope_W(W)
            return (g, *problem.map(lambda block: block.X @ g))

        W, *T = descend((state.W, *(r.T for r in state.rows)), value, gradient, n_variables=1, max_iter=self.max_iter)
        return replace(set_rows(state, T=T), W=W)


class DescendZ(Descent):
    """Lower the correlation term in Z along its gradient on the spheres of the rows."""

    def __call__(self, problem: Problem, objective: Objective, state: State, safe: bool = True) -> State:
        correlation = objective.correlation
        xp = namespace(state.U)
        H = correlation.moments(problem, state)

        def gradient(x: Point) -> Point:
            (Z,) = x
            G = correlation.gradient_Z(H, state.U, Z)
            return (G - xp.sum(G * Z, axis=-1, keepdims=True) * Z,)

        (Z,) = descend(
            (state.Z,),
            lambda x: float(correlation.value(H, state.U, x[0])),
            gradient,
            retract=lambda x: (normalize_rows(x[0]),),
            max_iter=self.max_iter,
        )
        return replace(state, Z=Z)


DESCENT: tuple[BlockUpdate, ...] = (DescendZ(), DescendV(), DescendU(), DescendW())

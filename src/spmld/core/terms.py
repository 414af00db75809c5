"""Terms of the objective, each with its value and gradients.

  sum J o loss(Y, V U^T + 1 b^T)                                fit
+ a/2 |sqrt(P) o (V - X W)|^2                                   coupling
+ sum_m 1/2 [b1 n_m/n |F Z_m|^2 + b2 |F_m Z_m|^2]               correlation, F = X W U^T, F_m its rows in group m
+ 1/2 (tU |U|^2 + tV |V|^2 + tW |W|^2)                          ridge
+ the penalty of the pacing rule on P                           pacing (see spmld.pacing)
"""

from dataclasses import dataclass, field
from functools import partial

from spmld._arrays import Array, namespace
from spmld.core.losses import Loss, Squared
from spmld.core.problem import Block, Problem, Rows, State


def square(A: Array) -> Array:
    """Return |A|^2."""
    return namespace(A).sum(A * A)


@dataclass(frozen=True)
class Fit:
    """sum over entries of J loss(Y, V U^T + 1 b^T)."""

    loss: Loss = field(default_factory=Squared)

    def value(self, block: Block, V: Array, U: Array, b: Array) -> Array:
        total = 0.0
        for s, part in block.parts(U.shape[1]):
            losses = self.loss.value(part.Y, part.entries.scores(V[s, :], U, b))
            total = total + namespace(U).sum(part.J * losses)
        return total

    def slope(self, block: Block, V: Array, U: Array, b: Array) -> Array:
        """Return D, the derivative in the scores. The gradients are D U in V, D^T V in U and D^T 1 in b."""
        return block.J * self.loss.slope(block.Y, block.entries.scores(V, U, b))

    def quadratic(self, block: Block, V: Array, U: Array, b: Array, safe: bool) -> tuple[Array, Array]:
        """Return G and C such that sum G S + 1/2 C S^2 models the change of the term if the scores change by S.

        With `safe` it lies above the change, so that its minimizer never raises the objective.
        """
        slope, curvature = self.loss.model(block.Y, block.entries.scores(V, U, b), safe)
        return block.J * slope, block.J * curvature


@dataclass(frozen=True)
class Coupling:
    """a/2 |sqrt(P) o (V - T)|^2, T = X W."""

    a: float = 1.0

    def weights(self, P: Array) -> Array:
        return self.a * P

    def losses(self, V: Array, T: Array) -> Array:
        """Return the losses of the pacing: the value of each entry with weight 1."""
        return self.a / 2 * (V - T) ** 2

    def value(self, V: Array, T: Array, P: Array) -> Array:
        return namespace(V).sum(P * self.losses(V, T))

    def slope(self, V: Array, T: Array, P: Array) -> Array:
        """Return the gradient in V. The gradient in T is its negative, and the gradient in W is X^T times that of T."""
        return self.weights(P) * (V - T)


@dataclass(frozen=True)
class Correlation:
    """sum_m 1/2 [b1 n_m/n |F Z_m|^2 + b2 |F_m Z_m|^2] with F = T U^T.

    It depends on the rows through the second moments of T in each group: with S_m = T_m^T T_m and
    H_m = b1 n_m/n sum_m S_m + b2 S_m the term is sum_m 1/2 tr(Z_m^T U H_m U^T Z_m).
    """

    b1: float = 0.0
    b2: float = 0.0

    @property
    def active(self) -> bool:
        return self.b1 > 0 or self.b2 > 0

    def moments(self, problem: Problem, state: State) -> Array:
        """Return the H_m, of shape (g, k, k)."""
        return self.weigh(problem, problem.sum(partial(self.block_moments, problem.sizes.shape[0]), state.rows))

    def block_moments(self, n_groups: int, block: Block, rows: Rows) -> Array:
        """Return the S_m of a block, of shape (g, k, k)."""
        T = rows.T
        k = rows.T.shape[1]
        S = namespace(T).zeros((n_groups, k, k), dtype=T.dtype, device=T.device)
        for m, members in enumerate(block.members):
            part = T[members, :] if len(block.members) > 1 else T
            S[m, :, :] = part.T @ part
        return S

    def weigh(self, problem: Problem, S: Array) -> Array:
        """Return the H_m from the second moments S_m."""
        fractions = (problem.sizes / problem.n)[:, None, None]
        return self.b1 * fractions * namespace(S).sum(S, axis=0) + self.b2 * S

    def value(self, H: Array, U: Array, Z: Array) -> Array:
        xp = namespace(U)
        Q = U.T @ Z
        return 0.5 * xp.sum(Q * (H @ Q))

    def gradient_U(self, H: Array, U: Array, Z: Array) -> Array:
        xp = namespace(U)
        return xp.sum(Z @ (xp.matrix_transpose(Z) @ (U @ H)), axis=0)

    def gradient_Z(self, H: Array, U: Array, Z: Array) -> Array:
        return U @ (H @ (U.T @ Z))

    def couplings(self, problem: Problem, U: Array, Z: Array) -> Array:
        """Return the N_m, of shape (g, k, k): a row t of T in group m contributes 1/2 t N_m t^T."""
        xp = namespace(U)
        Q = U.T @ Z
        M = Q @ xp.matrix_transpose(Q)
        fractions = (problem.sizes / problem.n)[:, None, None]
        return xp.sum(self.b1 * fractions * M, axis=0) + self.b2 * M

    def gradient_T(self, block: Block, rows: Rows, N: Array) -> Array:
        """Return the gradient in the rows of T; X^T times it is the gradient in W."""
        T = rows.T
        if len(block.members) == 1:
            return T @ N[0, :, :]
        D = 0 * T
        for m, members in enumerate(block.members):
            D[members, :] = T[members, :] @ N[m, :, :]
        return D


@dataclass(frozen=True)
class Ridge:
    """1/2 (tU |U|^2 + tV |V|^2 + tW |W|^2)."""

    tU: float = 0.0
    tV: float = 0.0
    tW: float = 0.0

    def value_W(self, W: Array) -> Array:
        return self.tW / 2 * square(W)

    def slope_W(self, W: Array) -> Array:
        return self.tW * W

    def curvature_W(self, W: Array) -> Array | float:
        """Return c, one number or one per row: c/2 |W'|^2 plus a constant majorizes the penalty and touches it at W."""
        return self.tW


@dataclass(frozen=True)
class Objective:
    """The terms of one fit."""

    fit: Fit = field(default_factory=Fit)
    coupling: Coupling = field(default_factory=Coupling)
    correlation: Correlation = field(default_factory=Correlation)
    ridge: Ridge = field(default_factory=Ridge)

    def value(self, problem: Problem, state: State) -> float:
        """Return the sum of all terms without the penalty of the pacing."""
        return sum(self.values(problem, state).values())

    def values(self, problem: Problem, state: State, fit: float | None = None) -> dict[str, float]:
        """Return the value of each term, without the penalty of the pacing. The fit is computed unless it is given."""
        U = state.U
        b = state.b
        Z = state.Z
        n_groups = problem.sizes.shape[0]
        active = self.correlation.active

        def sum_block(block: Block, rows: Rows) -> tuple[Array, ...]:
            fits = self.fit.value(block, rows.V, U, b) if fit is None else 0.0
            values = (fits, self.coupling.value(rows.V, rows.T, rows.P), square(rows.V))
            return (*values, self.correlation.block_moments(n_groups, block, rows)) if active else values

        fits, coupling, V2, *moments = problem.sum(sum_block, state.rows)
        ridge = self.ridge.tU / 2 * square(U) + self.ridge.tV / 2 * V2 + self.ridge.value_W(state.W)
        correlation = [self.correlation.value(self.correlation.weigh(problem, S), U, Z) for S in moments]
        return {
            "fit": float(fits) if fit is None else fit,
            "coupling": float(coupling),
            "correlation": float(sum(correlation)),
            "ridge": float(ridge),
        }

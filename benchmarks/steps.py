"""The steps of the solvers compared with the matrix products that they cannot do without.

``python -m benchmarks.steps`` prints for generated sparse data the fraction of the time of a fit of SPMLD that each
step takes. For the steps that are conjugate gradients, and for the Hessian-vector product of MaskedLogistic, it prints
the time of an iteration relative to that of its products alone, and for the pacing relative to sorting the losses.
"""

import time
from dataclasses import replace
from functools import partial

import numpy as np

from benchmarks.observed import make_data
from benchmarks.ratios import fastest_time, record
from benchmarks.sizes import sized
from spmld import SPMLD, MaskedLogistic
from spmld.core.linear_objective import Features, LinearObjective, Penalty
from spmld.core.losses import LOSSES
from spmld.core.problem import set_rows, set_W
from spmld.core.steps import UpdateV, UpdateW
from spmld.pacing import GroupSparsePacing, QuantileSchedule

N, D, L, K, OBSERVED = sized((20_000, 5_000, 100, 20, 0.3), (200, 100, 20, 4, 0.3))


class Timed(SPMLD):
    """SPMLD that adds up the time of its steps, and keeps its last state."""

    def _steps(self):
        self.seconds_ = {}
        return tuple(self._timed(type(step).__name__[-1], step) for step in super()._steps())

    def _pacing(self):
        return self._timed("P", super()._pacing())

    def _set_result(self, problem, objective, result, mean, factor):
        super()._set_result(problem, objective, result, mean, factor)
        self.last_ = problem, objective, result.state

    def _timed(self, name, function):
        def call(*args):
            start = time.perf_counter()
            result = function(*args)
            self.seconds_[name] = self.seconds_.get(name, 0.0) + time.perf_counter() - start
            return result

        call.models_fit = getattr(function, "models_fit", False)
        return call


def per_iteration(make_step, problem, objective, state):
    """Return the time of one conjugate-gradient iteration, from the times of 2 and of 12."""
    few, many = (fastest_time(partial(make_step(count), problem, objective, state)) for count in (2, 12))
    return (many - few) / 10


def print_floor(step, floor, seconds, floor_seconds):
    ratio = record(f"{step} / {floor}", seconds, floor_seconds)
    print(f"  {step}: {1000 * seconds:.2f} ms, {floor} {1000 * floor_seconds:.2f} ms, ratio {ratio:.2f}", flush=True)


def compare_latent_steps(X, Y):
    model = Timed(n_components=K, random_state=0)
    total = fastest_time(lambda: model.fit(X, Y), repeats=1)
    print(f"SPMLD, {N:,} x {D:,}, {L} labels, {OBSERVED:.0%} observed: {total:.2f} s, {model.n_iter_} iterations")
    fractions = ", ".join(f"{name} {seconds / total:.0%}" for name, seconds in model.seconds_.items())
    print(f"  {fractions}, other {1 - sum(model.seconds_.values()) / total:.0%}")
    problem, objective, state = model.last_
    (block,), (rows,) = problem.blocks, state.rows
    W, S = state.W, rows.V @ state.U.T
    start = set_W(problem, state, 0 * W)
    seconds = per_iteration(lambda count: UpdateW(tol=0.0, max_iter=count), problem, objective, start)
    print_floor("iteration of W", "X D and X^T T", seconds, fastest_time(lambda: (block.X @ W, block.XT @ rows.T)))
    start = set_rows(state, V=[0 * rows.V])
    seconds = per_iteration(lambda count: UpdateV(tol=0.0, max_iter=count), problem, objective, start)
    print_floor("iteration of V", "V U^T and S U", seconds, fastest_time(lambda: (rows.V @ state.U.T, S @ state.U)))
    losses = objective.coupling.losses(rows.V, rows.T)
    pacing = GroupSparsePacing(schedule=QuantileSchedule()).update
    print_floor(
        "pacing", "a sort", fastest_time(lambda: pacing(1, losses)), fastest_time(lambda: np.sort(losses, axis=0))
    )
    return problem


def compare_hessian_product(problem):
    (block,) = problem.blocks
    columns = slice(0, 16)  # as many labels as are fitted together
    Y, J = block.Y[:, columns].astype(float), block.J[:, columns].astype(float)
    small = replace(problem, blocks=(replace(block, Y=Y, J=J),))
    objective = LinearObjective(small, (LOSSES["logistic"],), Features(), Penalty(1.0, True), (0.0,))
    B = np.random.default_rng(0).normal(size=(D + 1, 16))
    _, C = objective.derivatives(B, objective.scores(B))
    seconds = fastest_time(lambda: objective.hessian_product(C, B))
    products = fastest_time(lambda: (block.X @ B[:-1], block.XT @ Y))
    print_floor(f"Hessian-vector product of {MaskedLogistic.__name__}", "X D and X^T S", seconds, products)


def main():
    X, Y, mask = make_data(N, D, L, OBSERVED)
    Y = np.where(mask.toarray(), Y.toarray(), np.nan)
    compare_hessian_product(compare_latent_steps(X, Y))


if __name__ == "__main__":
    main()

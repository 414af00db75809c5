"""Conjugate gradient for one linear system, or for several at once."""

from collections.abc import Callable

from spmld._arrays import Array, namespace

KEPT = 30_000_000
"""Maximum number of values in the residuals that are kept for reorthogonalization."""


def conjugate_gradient(
    apply: Callable[[Array], Array],
    precondition: Callable[[Array], Array],
    target: Array,
    x: Array | None,
    tol: float | Array,
    max_iter: int,
    axis: int | None = None,
    n_kept: int = 0,
    max_values: int = KEPT,
) -> Array:
    """Solve apply(x) = target for a positive definite operator, to a residual of `tol` times the norm of the target.

    Both norms are those of the preconditioner. With `axis` 1 (or 0) the operator acts on each row (or column) of x
    separately: all are solved together, with separate step lengths. Every iterate lowers
    1/2 <x, apply(x)> - <x, target>. With x None the iteration starts at zero.

    Residuals are orthogonal to all earlier ones in exact arithmetic. Rounding errors destroy that after some ten
    iterations, and iterates before convergence then depend on the CPU. Therefore each residual is made orthogonal to
    the first `n_kept` ones, or as many as have `max_values` values. For small systems, a few suffice: errors grow along
    eigenvectors of large eigenvalues, which are almost in the space of the first residuals.
    """
    xp = namespace(target)

    def inner(a: Array, b: Array) -> Array:
        if axis is None:
            return xp.sum(a * b)
        return xp.expand_dims(xp.vecdot(a, b, axis=axis), axis=axis)  # takes less than half of the time of a sum

    def ratio(a: Array, b: Array) -> Array:
        # Rounding errors can make the curvature of a direction negative: no step is made along it.
        return xp.where(b > 0, a, 0 * a) / xp.where(b > 0, b, xp.ones_like(b))

    x, r = (xp.zeros_like(target), target) if x is None else (x, target - apply(x))
    z = precondition(r)
    p = z
    rz = inner(r, z)
    goal = tol**2 * inner(target, precondition(target))
    kept: list[tuple[Array, Array, Array]] = []
    n_kept = min(n_kept, max_values // (2 * max(1, target.shape[0] * target.shape[1])))
    for _ in range(max_iter):
        if xp.all(rz <= goal):
            break
        Ap = apply(p)
        if len(kept) < n_kept:
            kept.append((r, z, rz))
        step = ratio(xp.where(rz > goal, rz, xp.zeros_like(rz)), inner(p, Ap))
        x = x + step * p
        r = r - step * Ap
        for residual, dual, size in kept:
            r = r - ratio(inner(dual, r), size) * residual
        z = precondition(r)
        before = rz
        rz = inner(r, z)
        # Systems that are solved have the direction 0, which an operator on a cluster need not send.
        p = xp.where(rz > goal, z + ratio(rz, before) * p, xp.zeros_like(p))
    return x

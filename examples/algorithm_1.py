"""
Algorithm 1 of the paper in NumPy
=================================

Algorithm 1 of *Self-Paced Multi-Label Learning with Diversity* (ACML 2019), SPMLD on GLOCAL, line by line, with the
equations, symbols and shapes of the paper: samples are columns, in contrast to the library. ``SPMLD.paper`` with
``solver="descent"``, ``rescale=False`` and ``n_warmup_iter=0`` gives the same results; other solvers are much faster.

=================== ================================================================================================
symbol              meaning
=================== ================================================================================================
X (d, n), Y (l, n)  features, and labels in {-1, +1}, which are ignored where missing
J (l, n)            1 where a label is observed, 0 where it is missing
U (l, k), V (k, n)  loadings of the labels on the latent labels, and latent labels: Y is approximated by U V
W (d, k)            map from features to latent labels: V is approximated by W'X, and scores are U W'X
Z (g, l, r)         factors with unit rows: Z_b Z_b' is the Laplacian of the label correlations in group b of samples
P (k, n)            self-paced weights in [0, 1]
=================== ================================================================================================
"""

import numpy as np


def algorithm_1(X, Y, J, groups, k, r, alpha, beta1, beta2, tau, lam, gamma, mu1, mu2, tol, max_iter, rng):
    """Return U and W, the history of half of the objective (8), and that of the mean weight of each latent label."""
    l, n = Y.shape
    members = groups == np.arange(groups.max() + 1)[:, None]
    # X diag(c_b) X' = beta_1 n_b/n X X' + beta_2 X_b X_b', the matrix of group b in equations 8, 11, 13 and 14.
    c = beta1 * members.mean(axis=1, keepdims=True) + beta2 * members

    def moments(T):
        return (T * c[:, None]) @ T.T

    def host_objective(U, V, W, Z):
        """Half of equation 8 without lambda and gamma; equations 11 to 14 are the gradients of the half."""
        T, Q = W.T @ X, U.T @ Z
        fit = np.sum(J * (Y - U @ V) ** 2)
        coupling = alpha * np.sum(P * (V - T) ** 2)
        correlation = np.sum(Q * (moments(T) @ Q))
        ridge = tau * (np.sum(U**2) + np.sum(V**2) + np.sum(W**2))
        return (fit + coupling + correlation + ridge) / 2

    def gradient_Z(Z):  # equation 11, without its component along the rows, which the normalization would undo
        G = U @ moments(W.T @ X) @ U.T @ Z
        return G - np.sum(G * Z, axis=2, keepdims=True) * Z

    def gradient_V(V):  # equation 12, in which the paper omits alpha
        return U.T @ (J * (U @ V - Y)) + alpha * P * (V - W.T @ X) + tau * V

    def gradient_U(U):  # equation 13
        return (J * (U @ V - Y)) @ V.T + tau * U + np.sum(Z @ Z.mT @ U @ moments(W.T @ X), axis=0)

    def gradient_W(W):  # equation 14
        T, Q = X.T @ W, U.T @ Z
        correlation = np.sum(c[:, :, None] * (T @ Q @ Q.mT), axis=0)
        return X @ (alpha * (T - V.T) * P.T + correlation) + tau * W

    # Line 1, as in the code of the authors. P is (k, n); the paper prints (l, n) in equation 8.
    U = rng.uniform(size=(l, k))
    Z = unit_rows(rng.uniform(size=(len(c), l, r)))
    V = rng.uniform(size=(n, k)).T
    W = np.zeros((len(X), k))
    P = np.ones((k, n))
    value, objectives, mean_weights = host_objective(U, V, W, Z), [], []
    for _ in range(max_iter):  # line 2
        last_value = value
        Z = descend(lambda Z: host_objective(U, V, W, Z), gradient_Z, Z, unit_rows)  # lines 3 to 5, all b at once
        V = descend(lambda V: host_objective(U, V, W, Z), gradient_V, V)  # line 6
        U = descend(lambda U: host_objective(U, V, W, Z), gradient_U, U)  # line 7
        W = descend(lambda W: host_objective(U, V, W, Z), gradient_W, W)  # line 8
        change = abs(host_objective(U, V, W, Z) - last_value)
        losses = alpha * (V - W.T @ X) ** 2
        P = np.stack([self_paced_weights(L, lam, gamma) for L in losses])  # line 9
        value = host_objective(U, V, W, Z)
        objectives.append(value + (gamma * np.sum(np.linalg.norm(P, axis=1)) - lam * np.sum(P)) / 2)
        mean_weights.append(P.mean(axis=1))
        lam, gamma = lam * mu1, gamma * mu2  # line 10
        if len(objectives) > 1 and change <= tol * last_value and np.all(P == 1):
            break
    return U, W, objectives, mean_weights  # line 12


def self_paced_weights(L, lam, gamma):
    """Return the weights p of one latent label that minimize p'L - lambda |p|_1 + gamma |p|_2, equation 9.

    Equation 10 has the form of the minimizer, but is undefined as printed: it searches theta_1 in an empty range, and
    its weights can be above 1. The minimizer is p = min(1, q / t) with q = max(lambda - L, 0), at the level t where
    the sum of min(t, q)^2 is gamma^2. If that sum is smaller for every t, then p = 0.
    """
    q = np.maximum(lam - L, 0)
    if np.linalg.norm(q) <= gamma:
        return np.zeros_like(q)
    squares = np.sort(q**2)
    smaller = np.cumsum(squares) - squares
    n_others = np.arange(len(q), 0, -1)
    i = np.argmax(smaller + n_others * squares >= gamma**2)  # t is at most the i-th smallest q
    t = np.sqrt((gamma**2 - smaller[i]) / n_others[i])
    return np.minimum(1, q / t)


def descend(value, gradient, x, retract=lambda x: x):
    """Minimize a function by steepest descent with backtracking, as the manopt toolbox, from which the paper has it."""
    values = [value(x)]
    for _ in range(60):
        g = gradient(x)
        square = np.sum(g**2)
        if square < 1e-12:
            break
        step = 4 * (values[-2] - values[-1]) / square if len(values) > 1 else 0
        step = step if step > 0 else square**-0.5
        while value(trial := retract(x - step * g)) > values[-1] - 1e-4 * step * square and step**2 * square > 1e-20:
            step /= 2
        x = trial
        values.append(value(x))
        if len(values) > 4 and np.abs(np.diff(values[-5:])).max() < 1e-5:
            break
    return x


def unit_rows(Z):
    """Scale rows to unit length."""
    return Z / np.linalg.norm(Z, axis=-1, keepdims=True)

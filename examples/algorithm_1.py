"""
Algorithm 1 of the paper in NumPy
=================================

SPMLD on GLOCAL as in *Self-Paced Multi-Label Learning with Diversity* (ACML 2019), with the symbols, equations and line
numbers of the paper. Samples are columns, as in the paper; in the library they are rows. The paper approaches the
minimum over V, U, W and Z by gradient descent. Here it is computed, as in the library: the gradients of V, U and W are
linear, and a row of Z has a closed form. ``SPMLD.paper(rescale=False, n_warmup_iter=0)`` has the same objective.

================================ ==================================================================================
X of shape (d, n), Y of (l, n)   features; labels in {-1, +1}, ignored where missing
J of shape (l, n)                1 where a label is observed, 0 where it is missing
U of shape (l, k), V of (k, n)   loadings of the labels on latent labels, and latent labels: UV approximates Y
W of shape (d, k)                map from features to latent labels: W'X approximates V, and the scores are UW'X
Z of shape (g, l, r)             factors with unit rows: Z_b Z_b' is the Laplacian of the label correlations in group b
P of shape (k, n)                self-paced weights in [0, 1], (l, n) in the paper's equation 8
================================ ==================================================================================
"""

import numpy as np


def algorithm_1(X, Y, J, groups, k, r, alpha, beta1, beta2, tau, lam, gamma, mu1, mu2, tol, max_iter, rng):
    """Return U and W, and for each iteration half of the objective and the mean weight of each latent label."""
    U, V, W, Z, P = initialize(len(X), Y.shape, groups.max() + 1, k, r, rng)  # line 1
    members = groups == np.arange(len(Z))[:, None]
    # X diag(c_b) X' is beta_1 n_b / n X X' + beta_2 X_b X_b', which equations 8, 11, 13 and 14 contain.
    c = beta1 * members.mean(axis=1, keepdims=True) + beta2 * members
    value = host_objective(X, Y, J, U, V, W, Z, P, c, alpha, tau)
    objectives, mean_weights = [], []
    for _ in range(max_iter):  # line 2
        Z = update_Z(U, W.T @ X, Z, c)  # lines 3 to 5
        V = update_V(Y, J, U, W.T @ X, P, alpha, tau)  # line 6
        U = update_U(Y, J, V, W.T @ X, Z, c, tau)  # line 7
        W = update_W(X, U, V, Z, P, c, alpha, tau)  # line 8
        converged = abs(host_objective(X, Y, J, U, V, W, Z, P, c, alpha, tau) - value) <= tol * value
        P = np.stack([update_p(losses, lam, gamma) for losses in alpha * (V - W.T @ X) ** 2])  # line 9
        value = host_objective(X, Y, J, U, V, W, Z, P, c, alpha, tau)
        objectives.append(value + (gamma * np.linalg.norm(P, axis=1).sum() - lam * P.sum()) / 2)
        mean_weights.append(P.mean(axis=1))
        lam, gamma = lam * mu1, gamma * mu2  # line 10
        if converged and np.all(P == 1):
            break
    return U, W, objectives, mean_weights  # line 12


def initialize(d, shape, g, k, r, rng):
    """Return random U, V and Z and W = 0, as in the code of the authors; the paper does not state it."""
    l, n = shape
    U = rng.uniform(size=(l, k))
    Z = rng.uniform(size=(g, l, r))
    V = rng.uniform(size=(n, k)).T
    return U, V, np.zeros((d, k)), Z / np.linalg.norm(Z, axis=2, keepdims=True), np.ones((k, n))


def moments(T, c):
    """Return W'(beta_1 n_b / n X X' + beta_2 X_b X_b')W of each group b, for T = W'X."""
    return (T * c[:, None]) @ T.T


def host_objective(X, Y, J, U, V, W, Z, P, c, alpha, tau):
    """Return half of equation 8 without lambda and gamma. Equations 11 to 14 are gradients of the half."""
    T = W.T @ X
    Q = U.T @ Z
    fit = np.sum(J * (Y - U @ V) ** 2)
    coupling = alpha * np.sum(P * (V - T) ** 2)
    correlation = np.sum(Q * (moments(T, c) @ Q))
    ridge = tau * (np.sum(U**2) + np.sum(V**2) + np.sum(W**2))
    return (fit + coupling + correlation + ridge) / 2


def update_Z(U, T, Z, c):
    """Minimize over the rows of Z_b in turn: a row is opposite to its gradient, equation 11, without its own term."""
    Z = Z.copy()
    for Z_b, H in zip(Z, moments(T, c), strict=True):
        A = U @ H @ U.T
        for i in range(len(U)):
            z = A[i, i] * Z_b[i] - A[i] @ Z_b
            Z_b[i] = z / np.linalg.norm(z) if z.any() else Z_b[i]
    return Z


def update_V(Y, J, U, T, P, alpha, tau):
    """Set the gradient of V to 0, equation 12, where alpha is missing in the paper: one system for each sample."""
    systems = np.einsum("ia,ij,ib->jab", U, J, U) + (alpha * P.T + tau)[:, :, None] * np.eye(len(T))
    right_sides = U.T @ (J * Y) + alpha * P * T
    return np.linalg.solve(systems, right_sides.T[:, :, None])[:, :, 0].T


def update_U(Y, J, V, T, Z, c, tau):
    """Set the gradient of U to 0, equation 13: one system for all labels, which the correlations couple."""
    l, k = len(Y), len(V)
    systems = np.einsum("aj,ij,bj->iab", V, J, V) + tau * np.eye(k)
    system = np.einsum("ij,iab->iajb", np.eye(l), systems) + np.einsum("gir,gjr,gab->iajb", Z, Z, moments(T, c))
    right_side = (J * Y) @ V.T
    return np.linalg.solve(system.reshape(l * k, l * k), right_side.ravel()).reshape(l, k)


def update_W(X, U, V, Z, P, c, alpha, tau):
    """Set the gradient of W to 0, equation 14: one system for all latent labels, which the correlations couple."""
    d, k = len(X), len(V)
    Q = U.T @ Z
    curvatures = alpha * P.T[:, :, None] * np.eye(k) + np.einsum("gj,gab->jab", c, Q @ Q.mT)
    system = np.einsum("dj,ej,jab->daeb", X, X, curvatures, optimize=True).reshape(d * k, d * k)
    right_side = X @ (alpha * P * V).T
    return np.linalg.solve(system + tau * np.eye(d * k), right_side.ravel()).reshape(d, k)


def update_p(losses, lam, gamma):
    """Minimize p'L - lambda |p|_1 + gamma |p|_2 over the weights p of one latent label, equation 9.

    Equation 10 has the form of the minimizer, but the paper searches theta_1 in an empty range, and the weights can be
    above 1. The minimizer is p = min(1, q / t) with q = max(lambda - L, 0), at the level t at which the sum of
    min(t, q)^2 is gamma^2. If the sum is smaller at all levels, it is p = 0.
    """
    q = np.maximum(lam - losses, 0)
    if np.linalg.norm(q) <= gamma:
        return np.zeros_like(q)
    squares = np.sort(q**2)
    below = np.cumsum(squares) - squares
    n_above = np.arange(len(q), 0, -1)
    i = np.argmax(below + n_above * squares >= gamma**2)
    return np.minimum(1, q / np.sqrt((gamma**2 - below[i]) / n_above[i]))


if __name__ == "__main__":
    from matplotlib import pyplot as plt
    from sklearn.cluster import KMeans
    from sklearn.metrics import label_ranking_loss

    from spmld.datasets import make_planted
    from spmld.labels import hide_labels

    data = make_planted(n_samples=600, n_features=20, n_labels=12, n_components=4, noise=0.2, random_state=0)
    labels = hide_labels(data.Y[:300], observed_fraction=0.4, random_state=0)
    X = data.X[:300].T
    groups = KMeans(2, n_init=1, random_state=0).fit_predict(X.T)
    weights = {"alpha": 1, "beta1": 0.01, "beta2": 0.1, "tau": 3, "lam": 0.03, "gamma": 0.3, "mu1": 1.1, "mu2": 0.95}
    Y = np.where(labels == 1, 1, -1).T
    J = ~np.isnan(labels).T
    options = {**weights, "tol": 1e-4, "max_iter": 40, "rng": np.random.RandomState(0)}
    U, W, objectives, mean_weights = algorithm_1(X, Y, J, groups, 4, 5, **options)
    print(f"iterations: {len(objectives)}, half of the objective: {objectives[-1]:.1f}")
    print(f"ranking loss on test samples: {label_ranking_loss(data.Y[300:], data.X[300:] @ W @ U.T):.3f}")
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    axes[0].plot(objectives, color="black")
    axes[0].set(xlabel="iteration", ylabel="half of the objective")
    axes[1].plot(mean_weights)
    axes[1].set(xlabel="iteration", ylabel="mean weight of a latent label")
    plt.show()

"""Models with latent labels: Y ~ V U^T + b, V ~ X W, and correlated labels. GLOCAL and SPMLD differ in the pacing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from spmld._arrays import move, namespace, numpy_dtype, to_numpy
from spmld.core.descent import descent_steps
from spmld.core.init import random_start, spectral_start
from spmld.core.losses import LOSSES
from spmld.core.outer import PacingRule, Result, Status, exact_steps, solve
from spmld.core.problem import Problem, Rows, State, make_problem
from spmld.core.steps import update_V
from spmld.core.terms import Correlation, Coupling, Fit, Objective, Ridge
from spmld.estimators._base import MultiLabelEstimator
from spmld.estimators._inputs import (
    clusters,
    is_integer,
    is_number,
    move_weights,
    refuse_overflow,
    require,
    sparse_if_mostly_zero,
)
from spmld.estimators._linear import together
from spmld.estimators._progress import CallbackSupportMixin, check_progress, rounds, warn_of_limit
from spmld.estimators.scaling import FeatureScaler
from spmld.labels import Labels

STARTS = {"spectral": spectral_start, "random": random_start}


class LatentLabelModel(CallbackSupportMixin, MultiLabelEstimator):
    """fit = validate, pose the problem, start, solve, publish."""

    _row_sparse_when_released = False

    def _fit(self, X: Any, labels: Labels, weights: Any) -> None:
        refuse_overflow(X)
        scale = FeatureScaler(center=self.fit_intercept).fit(X) if self.standardize else None
        X = sparse_if_mostly_zero(scale.transform(X) if scale else X)
        rng = check_random_state(self.random_state)
        problem = self._problem(X, labels, weights, rng)
        k = min(self.n_components, labels.signs.shape[1])
        objective = self._objective(problem, float(weights.sum()), k)

        def uniform(shape: tuple[int, ...]) -> Any:
            return move(rng.uniform(size=shape).astype(numpy_dtype(X), copy=False), X)

        state = STARTS[self.init](problem, k, self.correlation_rank, uniform)
        try:
            with rounds(self) as report:
                result = self._solve(problem, objective, state, report)
        except FloatingPointError as error:
            raise ValueError(f"{error}: scale the values of X") from error
        self._publish(problem, objective, result, scale)

    def _check_parameters(self) -> None:
        check_progress(self)
        for name in ("n_components", "n_groups", "correlation_rank", "max_iter"):
            value = getattr(self, name)
            require(self, name, "an integer of 1 or more", is_integer(value) and value >= 1)
        for name in ("coupling", "ridge"):
            require(self, name, "positive", is_number(getattr(self, name)) and getattr(self, name) > 0)
        for name in ("global_correlation", "local_correlation", "feature_ridge"):
            require(self, name, "0 or more", is_number(getattr(self, name)) and getattr(self, name) >= 0)
        for name in ("standardize", "rescale", "fit_intercept"):
            require(self, name, "True or False", isinstance(getattr(self, name), (bool, np.bool_)))
        warm = self.n_warmup_iter
        require(self, "n_warmup_iter", "an integer of 0 or more", is_integer(warm) and warm >= 0)
        require(self, "tol", "0 or more, or None", self.tol is None or (is_number(self.tol) and self.tol >= 0))
        for name, accepted in (
            ("loss", tuple(LOSSES)),
            ("solver", ("exact", "descent")),
            ("init", tuple(STARTS)),
            ("convention", ("paper", "released")),
        ):
            value = getattr(self, name)
            require(self, name, " or ".join(map(repr, accepted)), isinstance(value, str) and value in accepted)

    def _problem(self, X: Any, labels: Labels, weights: Any, rng: np.random.RandomState) -> Problem:
        n_groups = min(self.n_groups, X.shape[0]) if self.local_correlation > 0 else 1
        group = np.zeros(X.shape[0], dtype=np.int64)
        if n_groups > 1:
            group = clusters(X, n_groups, rng)
        signs, J = move(labels.signs, X), move_weights(weights, X)
        return make_problem(X, signs, J, move(group, X), n_groups, fit_intercept=self.fit_intercept)

    def _objective(self, problem: Problem, observed: float, k: int) -> Objective:
        """The terms with their weights, each times its size factor."""
        n, (d, l) = problem.n, (self.n_features_in_, problem.blocks[0].Y.shape[1])
        g = problem.sizes.shape[0]
        released = self.convention == "released"

        def scaled(value: float, size: float) -> float:
            return value * observed / size if self.rescale else float(value)

        return Objective(
            Fit(LOSSES[self.loss]),
            Coupling(scaled(self.coupling, n * k), power=2 if released else 1),
            Correlation(
                scaled(self.global_correlation, n**2), scaled(self.local_correlation, (n / g) ** 2), paced=released
            ),
            Ridge(
                tU=scaled(self.ridge, l * k),
                tV=scaled(self.ridge, n * k),
                tW=scaled(self.feature_ridge, d * k),
                row_sparse=released and self._row_sparse_when_released,
            ),
        )

    def _pacing(self) -> PacingRule | None:
        return None

    def _solve(
        self, problem: Problem, objective: Objective, state: State, report: Callable[[dict[str, Any]], bool]
    ) -> Result:
        exact = self.solver == "exact"
        steps = exact_steps(self.tol) if exact else descent_steps(released=self.convention == "released")
        records: list[dict[str, Any]] = []

        def record(stage: str, found: dict[str, Any]) -> bool:
            records.append({"stage": stage, **found})
            return report(records[-1])

        if self.n_warmup_iter:
            plain = replace(objective, correlation=Correlation())
            _, update_V, update_U, update_W = steps
            order = (update_U, update_V, update_W)
            call = partial(record, "warm-up")
            warm = solve(problem, plain, state, order, leap=exact, max_iter=self.n_warmup_iter, tol=None, callback=call)
            if warm.status is Status.STOPPED:
                return replace(warm, history=records)
            state = warm.state
        result = solve(
            problem,
            objective,
            state,
            steps,
            pacing=self._pacing(),
            leap=exact,
            max_iter=self.max_iter,
            tol=self.tol,
            callback=partial(record, "main"),
        )
        return replace(result, history=records)

    def _publish(self, problem: Problem, objective: Objective, result: Result, scale: FeatureScaler | None) -> None:
        state = result.state
        self._fitted_objective = objective
        xp = namespace(state.U)
        self.label_factors_ = state.U
        unscaled = state.W, xp.zeros_like(state.W[0, :])
        self.feature_weights_, self.latent_offsets_ = scale.unscale(state.W) if scale else unscaled
        self.intercept_ = state.b - state.U @ self.latent_offsets_
        self.correlation_factors_ = state.Z
        self.latent_labels_ = xp.concat([rows.V for rows in state.rows])
        self.self_paced_weights_ = xp.concat([rows.P for rows in state.rows])
        self.group_sizes_ = to_numpy(problem.sizes)
        self.history_ = result.history
        self.n_iter_ = len(result.history)
        self.converged_ = result.status is Status.CONVERGED
        if result.status is Status.LIMIT:
            warn_of_limit(self, result.status.value)

    @property
    def coef_(self) -> Any:
        """(n_labels, n_features): the linear predictor of each label, U W^T."""
        return self.label_factors_ @ self.feature_weights_.T

    def _scores(self, X: Any) -> Any:
        X, U, W, b = self._together(X)
        return (X @ W) @ U.T + b

    def _together(self, X: Any) -> tuple[Any, Any, Any, Any]:
        """X and the factors in one library, on one device and in one precision."""
        X, U, W, b = together(X, self.label_factors_, self.feature_weights_, self.intercept_)
        return X, U, W, b

    def _completed_scores(self, X: Any, labels: Labels) -> Any:
        """V U^T + b with the latent labels V that fit both the features and the known labels, U, W and b given."""
        X, U, W, b = self._together(X)
        xp = namespace(U)
        group = move(np.zeros(X.shape[0], dtype=np.int64), X)
        problem = make_problem(X, move(labels.signs, X), move(labels.observed, X), group, 1, dtype=U.dtype)
        offsets = move(to_numpy(self.latent_offsets_), U)
        start = problem.map(lambda block: block.X @ W - offsets)
        rows = tuple(Rows(V=T, T=T, P=xp.ones_like(T)) for T in start)
        b = b + U @ offsets
        state = State(U=U, b=b, W=W, Z=move(to_numpy(self.correlation_factors_), X), rows=rows)
        # U and W are given: their penalties, constants here, would only make changes look small.
        ridge = replace(self._fitted_objective.ridge, tU=0.0, tW=0.0)
        objective = replace(self._fitted_objective, correlation=Correlation(), ridge=ridge)
        state = solve(problem, objective, state, (update_V,), leap=False, max_iter=20, tol=1e-6).state
        return xp.concat([rows.V for rows in state.rows]) @ U.T + b

    def label_correlation(self, group: int | None = None) -> np.ndarray:
        """Learned correlation of the labels.

        The rows of a group's factor have unit length, so Z Z^T is a Laplacian with unit diagonal: I minus the
        correlations. Labels whose scores rise together have a correlation near 1. Unit rows give every label a
        direction, so that one which goes with no other gets arbitrary correlations, not zeros.

        Parameters
        ----------
        group : int, optional
            Number of a group of samples. None gives the global correlation: the mean over groups, by size.

        Returns
        -------
        ndarray of shape (n_labels, n_labels)
            Symmetric, ones on the diagonal, in [-1, 1].
        """
        check_is_fitted(self)
        if not self._fitted_objective.correlation.active:
            raise ValueError("no correlation was learned: global_correlation and local_correlation are 0")
        Z = to_numpy(self.correlation_factors_)
        if group is None:
            laplacian = np.einsum("g,gir,gjr->ij", self.group_sizes_ / self.group_sizes_.sum(), Z, Z)
        elif isinstance(group, (int, np.integer)) and 0 <= group < len(Z):
            laplacian = Z[group] @ Z[group].T
        else:
            raise ValueError(f"group must be None or a number from 0 to {len(Z) - 1}, got {group!r}")
        correlation = np.clip(-laplacian, -1, 1)
        np.fill_diagonal(correlation, 1)
        return correlation

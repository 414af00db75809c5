"""Linear models: scores from coefficients or from two factors."""

from typing import Any

from spmld._arrays import move, namespace, to_numpy
from spmld.estimators.base import MultiLabelEstimator


def align_arrays(X: Any, *arrays: Any) -> tuple[Any, ...]:
    """Return X and fitted arrays in the library and on the device of X and, for torch, in one precision."""
    if hasattr(X, "detach") or hasattr(arrays[0], "detach"):
        arrays = tuple(move(to_numpy(a), X) for a in arrays)
    if hasattr(X, "detach"):
        X = namespace(X).astype(X, arrays[0].dtype)
    return X, *arrays


class LinearModel(MultiLabelEstimator):
    """Scores X W + b with `coef_` W^T and `intercept_` b."""

    def _set_coefficients(self, B: Any) -> None:
        """Set the coefficients from W, with b below it if there is an intercept."""
        self.coef_ = B[: self.n_features_in_, :].T
        self.intercept_ = B[-1, :] if self.fit_intercept else 0 * B[0, :]

    def _scores(self, X: Any) -> Any:
        X, W, b = align_arrays(X, self.coef_, self.intercept_)
        return X @ W.T + b


class FactoredModel(MultiLabelEstimator):
    """Scores X W U^T + b with `feature_weights_` W, `label_factors_` U and `intercept_` b."""

    @property
    def coef_(self) -> Any:
        """Coefficients of each label, of shape (n_labels, n_features)."""
        return self.label_factors_ @ self.feature_weights_.T

    def _scores(self, X: Any) -> Any:
        X, U, W, b = align_arrays(X, self.label_factors_, self.feature_weights_, self.intercept_)
        return (X @ W) @ U.T + b

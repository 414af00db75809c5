"""Base class of models whose coefficients are a product of two factors."""

from typing import Any

from spmld.estimators._base import MultiLabelEstimator
from spmld.estimators._linear import align_arrays
from spmld.estimators.progress import CallbackSupportMixin


class FactoredModel(CallbackSupportMixin, MultiLabelEstimator):
    """Scores X W U^T + b with `feature_weights_` W, `label_factors_` U and `intercept_` b."""

    @property
    def coef_(self) -> Any:
        """Coefficients of each label, of shape (n_labels, n_features)."""
        return self.label_factors_ @ self.feature_weights_.T

    def _scores(self, X: Any) -> Any:
        X, U, W, b = align_arrays(X, self.label_factors_, self.feature_weights_, self.intercept_)
        return (X @ W) @ U.T + b

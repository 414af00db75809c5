"""Predictions as data frames."""

from typing import Any, Self

from spmld._arrays import to_numpy
from spmld._io import need
from spmld.labels.encoding import Labels


class PredictionOutputMixin:
    """Mixin of classifiers whose predictions can be data frames. `_labels` are those of the last fit.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld import LabelPrior
    >>> X = pd.DataFrame({"tempo": [60, 120]}, index=["ballad", "dance"])
    >>> Y = pd.DataFrame({"calm": [1, 0], "fast": [0, 1]}, index=X.index)
    >>> LabelPrior().set_output(predict="pandas").fit(X, Y).predict_proba(X)
            calm  fast
    ballad   0.5   0.5
    dance    0.5   0.5
    """

    _labels: Labels

    def set_output(self, *, predict: str | None = None) -> Self:
        """Set the type of predictions.

        Parameters
        ----------
        predict : {"default", "pandas"} or None, default=None
            With "pandas", `predict`, `predict_proba`, `decision_function` and `complete` return data frames with the
            index of X and the names of the labels as columns (a Series where "default" returns a vector). None leaves
            the setting unchanged.

        Returns
        -------
        self
        """
        if predict not in (None, "default", "pandas"):
            raise ValueError(f'predict must be "default", "pandas" or None, got {predict!r}')
        if predict is not None:
            self._sklearn_output_config = {"predict": predict}  # scikit-learn's clone copies it
        return self

    def _wrap(self, values: Any, X: Any) -> Any:
        """Return predictions of X as a data frame, if this is set."""
        if getattr(self, "_sklearn_output_config", {}).get("predict", "default") == "default":
            return values
        pandas, labels = need("pandas"), self._labels
        values, index = to_numpy(values), X.index if hasattr(X, "iloc") else None
        if values.ndim == 1:
            return pandas.Series(values, index=index)
        columns = labels.classes if labels.one_dimensional else labels.names
        return pandas.DataFrame(values, index=index, columns=columns)

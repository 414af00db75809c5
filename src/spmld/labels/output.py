"""Predictions as data frames."""

from collections.abc import Sequence
from typing import Any, Self

from numpy.typing import NDArray

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
        predict : {"default", "pandas", "polars"} or None, default=None
            With "pandas" and "polars", `predict`, `predict_proba`, `decision_function` and `complete` return data
            frames with the names of the labels as columns, those of pandas with the index of X (a Series where
            "default" returns a vector). None leaves the setting unchanged.

        Returns
        -------
        self
        """
        if predict not in (None, "default", "pandas", "polars"):
            raise ValueError(f'predict must be "default", "pandas", "polars" or None, got {predict!r}')
        if predict is not None:
            self._sklearn_output_config = {"predict": predict}  # scikit-learn's clone copies it
        return self

    def _wrap(self, values: Any, X: Any) -> Any:
        """Return predictions of X as a data frame, if this is set."""
        output = getattr(self, "_sklearn_output_config", {}).get("predict", "default")
        if output == "default":
            return values
        values = to_numpy(values)
        names = self._labels.classes if self._labels.one_dimensional else self._labels.names
        if output == "polars":
            return _polars_frame(values, names)
        pandas = need("pandas")
        index = X.index if hasattr(X, "iloc") else None
        if values.ndim == 1:
            return pandas.Series(values, index=index)
        return pandas.DataFrame(values, index=index, columns=names)


def _polars_frame(values: NDArray[Any], names: Sequence[Any] | NDArray[Any] | None) -> Any:
    """Return values as a data frame or series of polars, whose names of columns are texts."""
    polars = need("polars", extra=None)
    if values.ndim == 1:
        return polars.Series(values)
    columns = range(values.shape[1]) if names is None else names
    return polars.DataFrame(values, schema=[str(name) for name in columns])

"""The labels of a sample with the highest scores."""

from abc import abstractmethod
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from spmld._arrays import lowest_columns, row_slices, to_numpy
from spmld._validation import check_scalar_integer
from spmld.estimators._inputs import check_features


class TopLabels(NamedTuple):
    """The labels with the highest scores of each sample, highest first.

    Attributes
    ----------
    labels : ndarray of shape (n_samples, k)
        Columns of the labels. Ties are broken by column.
    scores : ndarray of shape (n_samples, k)
        Their scores.

    Examples
    --------
    >>> from spmld import LabelPrior
    >>> LabelPrior().fit([[0], [1]], [[0, 1, 0], [1, 1, 0]]).top_labels([[2]], k=2).labels
    array([[1, 0]])
    """

    labels: NDArray[np.intp]
    scores: NDArray[Any]


class TopLabelsMixin:
    """Mixin of estimators with scores in `_scores`."""

    n_labels_: int

    def top_labels(self, X: Any, k: int = 5, *, logit_adjustment: float = 0.0) -> TopLabels:
        """Return the `k` labels of each sample with the highest scores, or all labels if there are fewer.

        Scores are computed in blocks of samples: the scores of all samples and labels are never in memory.

        Parameters
        ----------
        X
            As in `decision_function`.
        k : int, default=5
            Number of labels.
        logit_adjustment : float, default=0.0
            Multiple of the intercepts, or log-odds of the labels without features, that is subtracted from the scores
            (Menon et al. Long-tail learning via logit adjustment. ICLR 2021). With 0 frequent labels are preferred, as
            they are more probable; with 1 labels are compared by their features only. Coefficients of rare labels are
            too small if the penalty is strong, so that a positive value may also increase the precision. Select it on
            held-out data, together with the penalty. If it is not 0, the estimator must have ``intercept_``.

        Returns
        -------
        TopLabels
            ``labels``, the columns of the labels, and ``scores``, both of shape (n_samples, k), highest scores first.
        """
        check_is_fitted(self)
        k, X = check_scalar_integer("k", k, minimum=1), check_features(self, X, reset=False)
        shift = self._adjustment(logit_adjustment)
        slices = row_slices(X.shape[0], self.n_labels_)
        parts = [find_top_labels(to_numpy(self._scores(X[s])) - shift, k) for s in slices]
        return TopLabels(*map(np.concatenate, zip(*parts, strict=True)))

    def _adjustment(self, multiple: float) -> Any:
        """Return what is subtracted from the scores."""
        if not (isinstance(multiple, Real) and np.isfinite(multiple)):
            raise ValueError(f"logit_adjustment must be a finite number, got {multiple!r}")
        if multiple == 0:
            return 0
        if not hasattr(self, "intercept_"):
            raise ValueError(
                f"logit_adjustment={multiple!r} needs intercept_, and {type(self).__name__} has none: "
                "use logit_adjustment=0"
            )
        intercept = to_numpy(self.intercept_)
        return (multiple * intercept).astype(intercept.dtype)

    @abstractmethod
    def _scores(self, X: Any) -> Any:
        """Return the scores of validated features, of shape (n_samples, n_labels)."""


def find_top_labels(scores: NDArray[Any], k: int) -> TopLabels:
    """Return the k labels with the highest scores of each row."""
    columns = lowest_columns(-scores, k)
    return TopLabels(columns, np.take_along_axis(scores, columns, axis=1))

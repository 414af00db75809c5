"""PerLabelClassifier: any binary classifier of scikit-learn, once for each label (binary relevance)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils import get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from spmld._arrays import features_to_numpy, move
from spmld._response import label_scores
from spmld.estimators._base import MultiLabelEstimator
from spmld.estimators._inputs import require
from spmld.estimators.label_prior import log_odds, smoothed_share
from spmld.labels import Labels

__all__ = ["PerLabelClassifier"]

_BINARY = np.array([0, 1])


class PerLabelClassifier(MultiLabelEstimator):
    r"""One binary classifier for each label, fitted on the samples where this label is observed.

    Also called binary relevance. Labels do not learn from each other: it says how far one gets without their
    correlation.

    The score of a label is the classifier's ``decision_function``, or the log-odds of its ``predict_proba`` where it
    has no other. A label with observed entries of one kind, or none, has the same score for all samples,
    :math:`\log p / (1 - p)` with :math:`p = (1 + N_1) / (2 + N)` and the (weighted) numbers :math:`N_1` of its
    positives and N of its entries.

    Parameters
    ----------
    estimator : scikit-learn classifier, default=None
        It is cloned for each label; a random state given as a number, or as a RandomState, is the same in all clones.
        None: ``LogisticRegression()``.
    n_jobs : int or None, default=None
        Labels fitted at the same time.

    Attributes
    ----------
    estimators_ : list of length n_labels
        The fitted classifiers, with classes 0 and 1; None for a label whose score is constant.
    prior_ : ndarray of shape (n_labels,)
        p of each label.
    classes_ : ndarray of shape (2,)
        How a negative and a positive label are written.
    n_labels_ : int
        Number of labels.
    label_names_ : list
        Their names, or numbers.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray
        Their names, where X had string ones.

    Notes
    -----
    ``predict_proba`` gives the classifier's own probabilities. For one that has none it is the logistic function of
    the score, which lies between 0 and 1 but is no calibrated probability; see
    `spmld.model_selection.CalibratedClassifier`. `complete` goes by the probabilities, `predict` by the scores, which may
    differ for a classifier with both, such as a support vector machine.

    ``entry_weight`` is passed on as ``sample_weight``, and refused if the classifier takes none.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> from spmld import PerLabelClassifier
    >>> from spmld.datasets import make_planted
    >>> from spmld.labels import hide_labels
    >>> data = make_planted(n_samples=300, random_state=0)
    >>> Y = hide_labels(data.Y, observed_fraction=0.5, random_state=0)
    >>> model = PerLabelClassifier(LinearSVC()).fit(data.X, Y)
    >>> model.decision_function(data.X[:2]).shape
    (2, 12)
    """

    def __init__(self, estimator: Any = None, *, n_jobs: int | None = None):
        self.estimator = estimator
        self.n_jobs = n_jobs

    def _host(self) -> Any:
        return LogisticRegression() if self.estimator is None else self.estimator

    def _check_parameters(self) -> None:
        host = self._host()
        scores = hasattr(host, "decision_function") or hasattr(host, "predict_proba")
        accepted = "None or a classifier with decision_function or predict_proba"
        require(self, "estimator", accepted, hasattr(host, "fit") and scores and not isinstance(host, type))

    def _fit(self, X: Any, labels: Labels, weights: Any) -> None:
        X, host = features_to_numpy(X), self._host()
        weighted = weights.dtype != bool
        if weighted and not has_fit_parameter(host, "sample_weight"):
            raise ValueError(f"entry_weight needs a classifier whose fit takes sample_weight, got estimator={host!r}")
        self.prior_ = smoothed_share(labels.signs, weights)
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_one)(host, X, signs, weight if weighted else None)
            for signs, weight in zip(labels.signs.T, weights.T, strict=True)
        )

    def _scores(self, X: Any) -> Any:
        return self._columns(X, log_odds(self.prior_), _score)

    def _probabilities_for(self, X: Any, labels: Labels | None = None) -> Any:
        return self._columns(X, self.prior_, self._probability)

    def _columns(self, X: Any, constants: NDArray[np.float64], give: Any) -> Any:
        """What each label's classifier gives, and a constant where there is none."""
        rows = features_to_numpy(X)
        values = np.tile(constants, (X.shape[0], 1))
        for j, estimator in enumerate(self.estimators_):
            if estimator is not None:
                values[:, j] = give(estimator, rows)
        return move(values, X)

    def _probability(self, estimator: Any, X: Any) -> NDArray[np.float64]:
        if hasattr(estimator, "predict_proba"):
            return _response(estimator, X, "predict_proba")
        return self._probabilities(_score(estimator, X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self._host()).input_tags.sparse
        return tags


def _fit_one(host: Any, X: Any, signs: NDArray[Any], weight: NDArray[Any] | None) -> Any:
    """The classifier of one label, or None if not both classes are observed."""
    known = np.flatnonzero(signs)
    y = (signs[known] > 0).astype(int)
    if len(np.unique(y)) < 2:
        return None
    options = {} if weight is None else {"sample_weight": weight[known]}
    return clone(host).fit(X if len(known) == len(signs) else X[known], y, **options)


def _score(estimator: Any, X: Any) -> NDArray[np.float64]:
    if hasattr(estimator, "decision_function"):
        return _response(estimator, X, "decision_function")
    return log_odds(_response(estimator, X, "predict_proba"))


def _response(estimator: Any, X: Any, response: str) -> NDArray[np.float64]:
    return label_scores(estimator, X, response, _BINARY, 1)[:, 0]

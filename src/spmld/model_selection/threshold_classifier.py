"""A meta-estimator that decides by thresholds of each label."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from spmld.model_selection._meta import CrossFitted
from spmld.model_selection.thresholds import f1_cuts, proportional_cuts, top_k_margins

__all__ = ["ThresholdClassifier"]

_CUTS = {"f1": f1_cuts, "proportional": proportional_cuts}


class ThresholdClassifier(CrossFitted):
    """Decide each label by a threshold tuned on scores of rows the estimator was not fitted on.

    The estimator is cloned and fitted on the training rows of each fold, and scores the rows left out; the thresholds
    are tuned on these scores, at the observed entries alone. Then the estimator is fitted on all rows.

    Parameters
    ----------
    estimator : estimator
        With `decision_function` or `predict_proba`. It must accept NaN in Y if there is any.
    method : {"f1", "proportional", "top_k"}
        "f1": the threshold with the best F1 of each label.
        "proportional": the threshold above which there is the observed share of positives of each label.
        "top_k": no thresholds; the k labels with the largest scores of each row are positive. With one label there is
        nothing to choose among: it keeps the usual threshold, and a UserWarning says so.
    k : int or None
        How many labels of each row are positive, with "top_k". None takes the expected number of positives of a row,
        the sum over labels of the observed share of positives, rounded, at least 1.
    response_method : {"auto", "decision_function", "predict_proba"}
        Which scores to cut. "auto" is `decision_function` if the estimator has it, and else `predict_proba`.
    cv : int, splitter, iterable of splits or "prefit"
        How to cross-fit. An integer is the number of folds of `spmld.model_selection.MultilabelStratifiedKFold`. With "prefit"
        the estimator is already fitted, and all rows given to `fit` serve to tune.
    n_jobs : int or None
        Folds fitted at the same time.
    random_state : int, RandomState or None
        Seed of the folds, if `cv` is an integer.

    Attributes
    ----------
    estimator_ : estimator
        Fitted on all rows.
    thresholds_ : ndarray of shape (n_labels,) or None
        A label is positive where its score is above its threshold. None with "top_k".
    tuned_ : ndarray of bool of shape (n_labels,)
        Which labels were tuned; none with "top_k". A label without an observed positive or an observed negative, in
        all or in the training rows of a fold, is not: it keeps the usual threshold, 0 for `decision_function` and 0.5
        for `predict_proba`, and a UserWarning names it.
    k_ : int or None
        The number of positive labels in a row, with "top_k".
    classes_ : ndarray of shape (2,)
        How a negative and a positive are written.
    n_features_in_, feature_names_in_
        Those of `estimator_`, if it has them.

    Notes
    -----
    There is no `predict_proba`, as decisions are not those of a probability above 0.5. Ask ``estimator_`` for it.

    See Also
    --------
    CalibratedClassifier : Probabilities instead of decisions.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.multioutput import MultiOutputClassifier
    >>> from spmld.model_selection import ThresholdClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> Y = (X + rng.normal(size=(300, 2)) > 1.8).astype(int)
    >>> plain = MultiOutputClassifier(LogisticRegression()).fit(X, Y)
    >>> tuned = ThresholdClassifier(MultiOutputClassifier(LogisticRegression()), random_state=0).fit(X, Y)
    >>> bool((tuned.thresholds_ < 0.5).all())
    True
    >>> int(plain.predict(X).sum()) < int(tuned.predict(X).sum())
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        method: Literal["f1", "proportional", "top_k"] = "f1",
        k: int | None = None,
        response_method: Literal["auto", "decision_function", "predict_proba"] = "auto",
        cv: Any = 5,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.k = k
        self.response_method = response_method
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, mask: Any = None) -> ThresholdClassifier:
        """Tune the thresholds and fit the estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : labels in any form of `spmld.labels.read_labels`
            NaN where missing.
        mask : array-like of bool of the shape of `y`, optional
            True where a label is observed.

        Returns
        -------
        ThresholdClassifier
        """
        if self.method not in (*_CUTS, "top_k"):
            raise ValueError(f'method must be "f1", "proportional" or "top_k", got {self.method!r}')
        labels, scores, signs = self._fit_estimator(X, y, mask, cross_fit=self.method in _CUTS)
        usual = 0.0 if self._response == "decision_function" else 0.5
        kept = f"the usual threshold of {self._response}, {usual}, is kept"
        self.thresholds_: Any = np.full(len(self.tuned_), usual)
        self.k_: Any = None
        if self.method in _CUTS:
            self._warn_of_untuned(labels, kept)
            self.thresholds_[self.tuned_] = _CUTS[self.method](scores[:, self.tuned_], signs[:, self.tuned_])
            return self
        k = self._number_of_positives(labels.signs)
        if len(self.tuned_) == 1:
            warnings.warn(f'method="top_k" has nothing to choose among with one label; {kept}', stacklevel=2)
        else:
            self.k_, self.thresholds_ = k, None
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """How far each score is above its threshold; with "top_k", above the k-th largest of the row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_labels), or (n_samples,) for a fit on a vector y
            Above 0 exactly where `predict` says positive. For the scores without thresholds ask ``estimator_``.
        """
        margins = self._margins(X)
        return margins[:, 0] if self._form.one_dimensional else margins

    def _margins(self, X: Any) -> NDArray[np.float64]:
        scores = self._scores(X)
        return scores - self.thresholds_ if self.k_ is None else top_k_margins(scores, self.k_)

    def _positive(self, X: Any) -> NDArray[np.bool_]:
        return self._margins(X) > 0

    def _responses(self) -> list[str]:
        if self.response_method == "auto":
            return super()._responses()
        if self.response_method not in super()._responses():
            raise ValueError(
                f'response_method must be "auto", "decision_function" or "predict_proba", got {self.response_method!r}'
            )
        return [self.response_method]

    def _number_of_positives(self, signs: NDArray[np.int8]) -> int:
        n_labels = signs.shape[1]
        if self.k is None:
            shares = (signs > 0).sum(axis=0) / np.maximum((signs != 0).sum(axis=0), 1)
            return max(1, round(float(shares.sum())))
        if isinstance(self.k, bool) or not isinstance(self.k, Integral) or not 1 <= self.k <= n_labels:
            raise ValueError(f"k must be None or an integer from 1 to the {n_labels} labels, got {self.k!r}")
        return int(self.k)

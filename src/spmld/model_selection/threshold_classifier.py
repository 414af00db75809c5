"""Classifier with a tuned threshold for each label."""

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from spmld._validation import POSITIVE_INT, StrOptions
from spmld.labels import Labels
from spmld.model_selection._cross_fitted import CrossFittedClassifier
from spmld.model_selection.thresholds import f1_thresholds, proportional_thresholds, top_k_margins

_THRESHOLDS = {"f1": f1_thresholds, "proportional": proportional_thresholds}


@dataclass(kw_only=True, eq=False, repr=False)
class ThresholdClassifier(CrossFittedClassifier):
    """Classifier with a threshold for each label, tuned on out-of-fold scores.

    Clones of the base estimator are fitted on the training samples of each fold and score the test samples. The
    thresholds are tuned on these scores at the observed entries. Then the base estimator is fitted on all samples.

    Parameters
    ----------
    estimator : estimator
        Base estimator with `decision_function` or `predict_proba`. It must accept NaN in Y if labels are missing.
    method : {"f1", "proportional", "top_k"}, default="f1"
        "f1": the threshold with the best F1 of each label.
        "proportional": the threshold that predicts the observed fraction of positives of each label.
        "top_k": no thresholds; the k labels with the largest scores of each sample are positive. A single label keeps
        the default threshold, with a UserWarning.
    k : int or None, default=None
        Number of positive labels of each sample with "top_k". None is the expected number: the sum over labels of the
        observed fraction of positives, rounded, at least 1.
    response_method : {"auto", "decision_function", "predict_proba"}, default="auto"
        Method of the base estimator that returns the scores. "auto" is `decision_function` if there is one, otherwise
        `predict_proba`.
    cv : int, splitter, iterable of splits or "prefit", default=5
        Folds. An integer is the number of folds of `MultilabelStratifiedKFold`. With "prefit" the base estimator is
        already fitted, and its scores of all samples are used.
    n_jobs : int or None, default=None
        Number of folds fitted in parallel.
    random_state : int, RandomState or None, default=None
        Seed for the folds, if `cv` is an integer.

    Attributes
    ----------
    estimator_ : estimator
        Base estimator fitted on all samples.
    response_method_ : str
        Method that returns the scores.
    thresholds_ : ndarray of shape (n_labels,) or None
        A label is positive where its score is above its threshold. None with "top_k".
    tuned_ : ndarray of bool of shape (n_labels,)
        Labels with a tuned threshold; none with "top_k". Labels without an observed positive or an observed negative
        in the training samples of a fold keep the default threshold, 0 for `decision_function` and 0.5 for
        `predict_proba`; a UserWarning names them.
    k_ : int or None
        Number of positive labels of each sample, with "top_k".
    classes_ : ndarray of shape (2,)
        Negative and positive class.
    n_features_in_, feature_names_in_
        Those of `estimator_`, if it has them.

    Notes
    -----
    There is no `predict_proba`, because labels are not predicted by a probability above 0.5. Use that of
    ``estimator_``.

    See Also
    --------
    CalibratedClassifier : Calibrated probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.multioutput import MultiOutputClassifier
    >>> from spmld.model_selection import ThresholdClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> Y = (X + rng.normal(size=(300, 2)) > 1.8).astype(int)
    >>> base = MultiOutputClassifier(LogisticRegression()).fit(X, Y)
    >>> tuned = ThresholdClassifier(MultiOutputClassifier(LogisticRegression()), random_state=0).fit(X, Y)
    >>> bool((tuned.thresholds_ < 0.5).all())
    True
    >>> int(base.predict(X).sum()) < int(tuned.predict(X).sum())
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CrossFittedClassifier._parameter_constraints,
        "method": [StrOptions({*_THRESHOLDS, "top_k"})],
        "k": [POSITIVE_INT, None],
        "response_method": [StrOptions({"auto", "decision_function", "predict_proba"})],
    }

    method: Literal["f1", "proportional", "top_k"] = "f1"
    k: int | None = None
    response_method: Literal["auto", "decision_function", "predict_proba"] = "auto"

    def _needs_scores(self) -> bool:
        return self.method in _THRESHOLDS

    def _response_methods(self) -> list[str]:
        return super()._response_methods() if self.response_method == "auto" else [self.response_method]

    def _fit_scores(self, scores: Any, signs: Any, labels: Labels) -> None:
        default = 0.0 if self.response_method_ == "decision_function" else 0.5
        instead = f"the default threshold of {self.response_method_}, {default}, is used"
        self.thresholds_: Any = np.full(len(self.tuned_), default)
        self.k_: Any = None
        if self.method in _THRESHOLDS:
            self._warn_of_untuned(labels, instead)
            self.thresholds_[self.tuned_] = _THRESHOLDS[self.method](scores[:, self.tuned_], signs[:, self.tuned_])
            return
        k = self._n_positives(labels.signs)
        if len(self.tuned_) == 1:
            warnings.warn(f'method="top_k" requires more than one label; {instead}', stacklevel=3)
        else:
            self.k_, self.thresholds_ = k, None

    def _n_positives(self, signs: NDArray[np.int8]) -> int:
        n_labels = signs.shape[1]
        if self.k is None:
            fractions = (signs > 0).sum(axis=0) / np.maximum((signs != 0).sum(axis=0), 1)
            return max(1, round(float(fractions.sum())))
        if self.k > n_labels:
            raise ValueError(f"k must be at most the number of labels, {n_labels}, got {self.k}")
        return int(self.k)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return scores minus thresholds or, with "top_k", minus the k-th largest score of the sample.

        Parameters
        ----------
        X
            As in `predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_labels), or (n_samples,) if `y` was a vector
            Above 0 exactly where `predict` returns the positive class.
        """
        margins = self._margins(X)
        return margins[:, 0] if self._form.one_dimensional else margins

    def _margins(self, X: Any) -> NDArray[np.float64]:
        scores = self._estimator_scores(X)
        return scores - self.thresholds_ if self.k_ is None else top_k_margins(scores, self.k_)

    def _predict_positive(self, X: Any) -> NDArray[np.bool_]:
        return self._margins(X) > 0

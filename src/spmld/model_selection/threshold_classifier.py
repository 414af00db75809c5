"""Classifier with calibrated probabilities and a decision rule."""

import warnings
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from spmld._response import label_scores
from spmld._validation import RandomState, Validated, indexable
from spmld.labels import Labels, read_labels
from spmld.labels.output import PredictionOutputMixin
from spmld.labels.single_class import list_labels
from spmld.metrics import subset_accuracy
from spmld.model_selection.cross_fitting import cross_fit
from spmld.model_selection.splitters import check_splitter
from spmld.model_selection.thresholds import DecisionOption, DecisionRule, label_decisions
from spmld.noise import PooledCalibration
from spmld.noise.calibration import has_both_classes

_RESPONSE_METHODS = ["decision_function", "predict_proba"]


@dataclass(eq=False, repr=False)
class ThresholdClassifier(PredictionOutputMixin, ClassifierMixin, MetaEstimatorMixin, Validated):
    """Classifier with calibrated probabilities, and decisions with a high F1 that are based on them.

    Clones of the base estimator are fitted on the training samples of each fold and score the test samples. The scores
    of the observed entries are calibrated, and the thresholds are chosen with the calibrated probabilities of all
    entries. Then the base estimator is fitted on all samples.

    Parameters
    ----------
    estimator : estimator
        Base estimator with `decision_function` (preferred) or `predict_proba`. It must accept NaN in Y if labels are
        missing. A fitted estimator that is not to be fitted again is passed as ``FrozenEstimator(estimator)`` of
        ``sklearn.frozen``, with samples that were not used to fit it.
    decision : {"f1", "micro_f1", "macro_f1", "sample_f1"}, float, int or dict, default="f1"
        Which labels to predict: those that maximize micro F1, macro F1, sample F1 or, with "f1", a compromise between
        all three; those with probabilities above a number in (0, 1), such as 0.5; or a fixed number of labels for each
        sample. A dict has thresholds and precision targets for single labels. See `DecisionRule`.
    cv : int, splitter or iterable of splits, default=5
        Folds. An integer is the number of folds of `MultilabelStratifiedKFold`.
    n_jobs : int or None, default=None
        Number of folds fitted in parallel.
    random_state : int, RandomState or None, default=None
        Seed for the folds, if `cv` is an integer.

    Attributes
    ----------
    thresholds_ : ndarray of shape (n_labels,) or None
        Labels with probabilities above their thresholds are predicted. None if the decision depends on the other labels
        of the sample: with "f1", "sample_f1" and a number of labels.
    estimator_ : estimator
        Base estimator fitted on all samples.
    response_method_ : str
        Method of the base estimator that returns the scores. Those of `predict_proba` are converted to log-odds.
    calibration_ : PooledCalibration
        The fitted calibration, with one slope for all labels and a shrunk shift of each label.
    decision_rule_ : DecisionRule
        The rule that predicts labels from probabilities.
    classes_ : ndarray of shape (2,)
        Negative and positive class.
    n_features_in_, feature_names_in_
        Those of `estimator_`, if it has them.

    Notes
    -----
    Entries of a fold are left out of the calibration of a label that has no observed positive or no observed negative
    in the training samples of the fold. If nothing is left, scores are used as log-odds, with a UserWarning.

    There is no `decision_function`, so that ranking metrics use the calibrated probabilities and not their distances
    from the thresholds, which differ between labels.

    See Also
    --------
    spmld.PerLabelClassifier : A classifier for each label, such as scikit-learn's CalibratedClassifierCV, which
        calibrates each label by a sigmoid or an isotonic function of its own.

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
    >>> model = ThresholdClassifier(base, decision="macro_f1", random_state=0).fit(X, Y)
    >>> bool((model.thresholds_ < 0.5).all())
    True
    >>> int(base.predict(X).sum()) < int(model.predict(X).sum())
    True
    """

    smallest_probability: ClassVar[float] = 1e-3

    estimator: Any
    _: KW_ONLY
    decision: DecisionOption = "f1"
    cv: Any = 5
    n_jobs: int | None = None
    random_state: RandomState = None

    def fit(self, X: Any, y: Any, mask: Any = None, entry_weight: Any = None) -> Self:
        """Fit the base estimator, and calibrate its out-of-fold scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : labels in any form accepted by `spmld.labels.read_labels`
            Labels, NaN where missing.
        mask : array-like of bool of the shape of `y`, optional
            True where a label is observed. Other entries of y are ignored.
        entry_weight : ndarray of shape (n_samples, n_labels), optional
            Weights of the entries, passed to ``fit`` of the base estimator.

        Returns
        -------
        self
        """
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        self._validate_params()
        self.response_method_ = self._choose_response_method()
        X, y, mask = indexable(X, y, mask)
        labels = read_labels(y, mask)
        label_decisions(self.decision, labels.shape[1], labels.names)
        self._labels = Labels(labels.signs[:0], labels.classes, labels.names, labels.one_dimensional)
        self.classes_ = self._fitted_classes = labels.classes
        if mask is not None:
            y = labels.write_with_missing(y)
            self._fitted_classes = read_labels(y).classes
        scores, signs = self._out_of_fold_scores(X, y, labels, entry_weight)
        weights = {} if entry_weight is None else {"entry_weight": entry_weight}
        self.estimator_ = clone(self.estimator).fit(X, y, **weights)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        self._calibrate(scores, signs)
        return self

    @property
    def thresholds_(self) -> NDArray[np.float64] | None:
        """Thresholds of the probabilities of the labels."""
        return self.decision_rule_.thresholds_

    def _out_of_fold_scores(
        self, X: Any, y: Any, labels: Labels, entry_weight: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        """Return scores and signs of the test samples of all folds, fold after fold.

        If a label has no observed positive or no observed negative in the training samples of a fold, the scores of the
        fold are unrelated to the label: its signs are set to 0. A fold in which this holds for all labels is not
        fitted.
        """
        splitter = check_splitter(self.cv, len(labels.signs), self.random_state)
        folds = list(splitter.split(X, y))
        learned = [has_both_classes(labels.signs[train]) for train, _ in folds]
        used = [(fold, both) for fold, both in zip(folds, learned, strict=True) if both.any()]
        if not used:
            return np.empty((0, labels.signs.shape[1])), labels.signs[:0]
        options = {"entry_weight": entry_weight, "score": self._score, "n_jobs": self.n_jobs}
        result = cross_fit(self.estimator, X, y, [fold for fold, _ in used], **options)
        signs = [labels.signs[test] * both for (_, test), both in used]
        return np.concatenate(result.fold_scores), np.concatenate(signs)

    def _calibrate(self, scores: NDArray[np.float64], signs: NDArray[np.int8]) -> None:
        """Fit the calibration and the decision rule."""
        if not ((signs > 0).any() and (signs < 0).any()):
            scores, signs = scores[:0], signs[:0]
            names = list_labels(self._labels, np.ones(signs.shape[1], dtype=bool))
            warnings.warn(
                f"{names}: not calibrated, because there is no observed positive or no observed negative with an "
                "out-of-fold score; scores are used as log-odds, with a threshold of 0.5",
                UserWarning,
                stacklevel=3,
            )
        self.calibration_ = PooledCalibration().fit(scores, signs)
        observed = replace(self._labels, signs=signs)
        self.decision_rule_ = DecisionRule(decision=self.decision)
        self.decision_rule_.fit(self.calibration_.probabilities(scores), observed)

    def _choose_response_method(self) -> str:
        for name in _RESPONSE_METHODS:
            if hasattr(self.estimator, name):
                return name
        raise ValueError(f"estimator must have {' or '.join(_RESPONSE_METHODS)}, got {self.estimator!r}")

    def _score(self, estimator: Any, X: Any) -> NDArray[np.float64]:
        """Return scores; those of `predict_proba` are log-odds of probabilities, bounded by a small constant."""
        n_labels = self._labels.signs.shape[1]
        scores = label_scores(estimator, X, self.response_method_, self._fitted_classes, n_labels)
        if self.response_method_ == "decision_function":
            return scores
        return np.asarray(np.log((scores + self.smallest_probability) / (1 - scores + self.smallest_probability)))

    def _probabilities(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        return self.calibration_.probabilities(self._score(self.estimator_, X))

    def predict_proba(self, X: Any) -> Any:
        """Return the calibrated probability of each label or, if `y` was a vector, of its two classes.

        Parameters
        ----------
        X
            As in `predict`.
        """
        P = self._probabilities(X)
        return self._wrap(np.hstack([1 - P, P]) if self._labels.one_dimensional else P, X)

    def predict(self, X: Any) -> Any:
        """Predict labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_labels), or (n_samples,) if `y` was a vector
            Labels in the encoding of `y` in `fit`.
        """
        positive = self._positive(X)
        return self._wrap(self._labels.write(positive), X)

    def score(self, X: Any, y: Any, mask: Any = None) -> float:
        """Return the fraction of samples with all observed labels correct (the accuracy for one label).

        Parameters
        ----------
        X, y, mask
            As in `fit`. Samples without an observed label are ignored.

        Returns
        -------
        float
        """
        positive = self._positive(X)
        return float(subset_accuracy(read_labels(y, mask, classes=self.classes_, name="y"), positive))

    def _positive(self, X: Any) -> NDArray[np.bool_]:
        probabilities = self._probabilities(X)
        return self.decision_rule_.positive(probabilities)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.target_tags.multi_output = inner.target_tags.multi_output
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = inner.classifier_tags is not None and inner.classifier_tags.multi_label
        return tags

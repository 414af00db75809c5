"""Classifier with calibrated probabilities and a decision rule."""

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import clone
from sklearn.utils import Tags, get_tags

from spmld._arrays import Array, move, to_numpy
from spmld._response import label_scores
from spmld._validation import RandomState, indexable
from spmld.estimators.base import MultiLabelEstimator
from spmld.estimators.inputs import check_labels, check_weights
from spmld.estimators.linear_models import MaskedLogistic
from spmld.estimators.outputs import log_odds
from spmld.estimators.progress import warn_caller
from spmld.estimators.wrappers import WrapperEstimator, fitted_hierarchy
from spmld.labels import Labels, read_labels
from spmld.labels.encoding import mark_trusted
from spmld.labels.single_class import list_labels
from spmld.model_selection.cross_fitting import cross_fit
from spmld.model_selection.folds import check_splitter
from spmld.model_selection.samples import Samples
from spmld.model_selection.thresholds import DecisionOption, DecisionRule, label_decisions
from spmld.noise import PooledCalibration
from spmld.noise.calibration import has_both_classes

_RESPONSE_METHODS = ["decision_function", "predict_proba"]


class _Passed(NamedTuple):
    """Arguments of the base estimator, with the labels y and as they were read."""

    X: Any
    y: Any
    labels: Labels
    entry_weight: Any


@dataclass(eq=False, repr=False)
class ThresholdClassifier(WrapperEstimator):
    """Classifier with calibrated probabilities, and decisions with a high F1 that are based on them.

    Clones of the base estimator are fitted on the training samples of each fold and score the test samples. The scores
    of the observed entries are calibrated, and the thresholds are chosen with the calibrated probabilities of all
    entries. Then the base estimator is fitted on all samples. Scores are calibrated log-odds.

    Parameters
    ----------
    estimator : estimator, default=None
        Base estimator with `decision_function` (preferred) or `predict_proba`. It must accept NaN in Y if labels are
        missing. A fitted estimator that is not to be fitted again is passed as ``FrozenEstimator(estimator)`` of
        ``sklearn.frozen``, with samples that were not used to fit it. The default is ``MaskedLogistic()``.
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
        The fitted calibration, with a slope and a shift of each label, shrunk to those of all labels.
    decision_rule_ : DecisionRule
        The rule that predicts labels from probabilities.
    hierarchy_ : Hierarchy or None
        The hierarchy of a base estimator that is a `HierarchicalClassifier`, with which the predictions agree, too.
    n_features_in_, feature_names_in_, class_prior_
        Those of `estimator_`, if it has them.

    Notes
    -----
    Entries of a fold are left out of the calibration of a label that has no observed positive or no observed negative
    in the training samples of the fold. If nothing is left, scores are used as log-odds, with a UserWarning.

    ``entry_weight`` is passed to the base estimator; the calibration does not distinguish positive weights. Samples are
    in any form that the base estimator accepts, such as texts for a pipeline.

    See Also
    --------
    MultiLabelEstimator : The attributes that all estimators share.
    spmld.HierarchicalClassifier : Predictions that agree with a hierarchy. Either may be the base estimator of the
        other.
    spmld.PerLabelClassifier : A classifier for each label, such as scikit-learn's CalibratedClassifierCV, which
        calibrates each label by a sigmoid or an isotonic function of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.multioutput import MultiOutputClassifier
    >>> from spmld.estimators import ThresholdClassifier
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

    estimator: Any = None
    _: KW_ONLY
    decision: DecisionOption = "f1"
    cv: Any = 5
    n_jobs: int | None = None
    random_state: RandomState = None

    @property
    def thresholds_(self) -> NDArray[np.float64] | None:
        """Thresholds of the probabilities of the labels."""
        return self.decision_rule_.thresholds_

    def _base_estimator(self) -> Any:
        return MaskedLogistic() if self.estimator is None else self.estimator

    def _check_parameters(self) -> None:
        self._choose_response_method()

    def _choose_response_method(self) -> str:
        base = self._base_estimator()
        for name in _RESPONSE_METHODS:
            if hasattr(base, name):
                return name
        raise ValueError(f"estimator must have {' or '.join(_RESPONSE_METHODS)}, got {base!r}")

    def _read(self, X: Any, y: Any, mask: Any, entry_weight: Any, trusted: Any) -> Any:
        """Return what is passed to the base estimator, which validates the features."""
        X, y, mask = indexable(X, y, mask)
        passed = check_labels(self, X, y, mask)
        labels, _ = check_weights(entry_weight, passed)
        weighted_out = bool((labels.signs != passed.signs).any())  # entries of weight 0 are missing
        if mask is not None or isinstance(y, Labels) or weighted_out:
            y = labels.write_with_missing(y)
        return _Passed(X, y, mark_trusted(labels, trusted), entry_weight), None

    def fit_samples(self, samples: Any, class_prior: Any = None) -> Self:
        """Fit to validated samples, or to those that were passed to `fit`."""
        if not isinstance(samples, _Passed):
            return super().fit_samples(samples, class_prior)
        self._fit_folds(*samples)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        self.class_prior_ = getattr(self.estimator_, "class_prior_", np.full(self.n_labels_, np.nan))
        return self

    def _fit(self, samples: Samples) -> None:
        labels = samples.labels
        weights = None if samples.weights.dtype == bool else samples.weights
        y = labels if isinstance(self._base_estimator(), MultiLabelEstimator) else labels.write_with_missing(None)
        # Labels that a wrapper has filled in have weights with which they keep their frequencies.
        self._fit_folds(samples.X, y, labels, weights, calibration_weight=weights)

    def _fit_folds(
        self, X: Any, y: Any, labels: Labels, entry_weight: Any, calibration_weight: NDArray[Any] | None = None
    ) -> None:
        """Fit the base estimator, given its labels `y`, and calibrate its out-of-fold scores."""
        self._set_labels(labels)
        label_decisions(self.decision, self.n_labels_, labels.names)
        self.response_method_ = self._choose_response_method()
        self._fitted_classes = read_labels(y).classes
        weights = {"entry_weight": entry_weight, "trusted": labels.trusted}
        weights = {name: values for name, values in weights.items() if values is not None}
        scores, signs, rows = self._out_of_fold_scores(X, y, labels, weights)
        self.estimator_ = clone(self._base_estimator()).fit(X, y, **weights)
        self.hierarchy_ = fitted_hierarchy(self.estimator_)
        self._calibrate(scores, signs, None if calibration_weight is None else calibration_weight[rows])

    def _out_of_fold_scores(
        self, X: Any, y: Any, labels: Labels, weights: dict[str, Any]
    ) -> tuple[NDArray[np.float64], NDArray[np.int8], NDArray[np.intp]]:
        """Return scores and signs of the test samples of all folds, fold after fold, and the indices of the samples.

        If a label has no observed positive or no observed negative in the training samples of a fold, the scores of the
        fold are unrelated to the label: its signs are set to 0. A fold in which this holds for all labels is not
        fitted.
        """
        splitter = check_splitter(self.cv, len(labels.signs), self.random_state)
        folds = list(splitter.split(X, y))
        learned = [has_both_classes(labels.signs[train]) for train, _ in folds]
        used = [(fold, both) for fold, both in zip(folds, learned, strict=True) if both.any()]
        if not used:
            return np.empty((0, self.n_labels_)), labels.signs[:0], np.empty(0, dtype=np.intp)
        options = {**weights, "score": self._base_scores, "n_jobs": self.n_jobs}
        result = cross_fit(self._base_estimator(), X, y, [fold for fold, _ in used], **options)
        signs = [labels.signs[test] * both for (_, test), both in used]
        rows = np.concatenate([test for (_, test), _ in used])
        return np.concatenate(result.fold_scores), np.concatenate(signs), rows

    def _calibrate(
        self, scores: NDArray[np.float64], signs: NDArray[np.int8], weights: NDArray[np.float64] | None
    ) -> None:
        """Fit the calibration and the decision rule."""
        if not ((signs > 0).any() and (signs < 0).any()):
            scores = scores[:0]
            signs = signs[:0]
            weights = None
            names = list_labels(self._labels, np.ones(signs.shape[1], dtype=bool))
            warn_caller(
                f"{names}: not calibrated, because there is no observed positive or no observed negative with an "
                "out-of-fold score; scores are used as log-odds, with a threshold of 0.5",
                UserWarning,
            )
        self.calibration_ = PooledCalibration().fit(scores, signs, weights)
        observed = replace(self._labels, signs=signs)
        self.decision_rule_ = DecisionRule(decision=self.decision)
        self.decision_rule_.fit(self._project(self.calibration_.probabilities(scores)), observed)

    def _base_scores(self, estimator: Any, X: Any) -> NDArray[np.float64]:
        """Return scores; those of `predict_proba` are log-odds of probabilities, bounded by a small constant."""
        scores = label_scores(estimator, X, self.response_method_, self._fitted_classes, self.n_labels_)
        if self.response_method_ == "decision_function":
            return scores
        return np.asarray(np.log((scores + self.smallest_probability) / (1 - scores + self.smallest_probability)))

    def _read_features(self, X: Any) -> Any:
        return X  # the base estimator validates them

    def _infer_labels(self, labels: Labels) -> Labels:
        return labels if self.hierarchy_ is None else self.hierarchy_.infer_labels(labels)

    def _scores(self, X: Any) -> Array:
        scores = self.calibration_.transform(self._base_scores(self.estimator_, X))
        return _move(scores if self.hierarchy_ is None else log_odds(self._project(expit(scores))), X)

    def _completed_scores(self, X: Any, labels: Labels) -> Array:
        base = self.estimator_
        if not isinstance(base, MultiLabelEstimator):
            return self._scores(X)
        return self.calibration_.transform(to_numpy(base._completed_scores(base._read_features(X), labels)))

    def _probabilities_for(self, X: Any, labels: Labels | None = None) -> Array:
        return self._coherent_probabilities(super()._probabilities_for(X, labels), labels)

    def _probabilities(self, scores: Any) -> Array:
        # Exactly the probabilities from which the thresholds were chosen.
        return move(expit(to_numpy(scores)), scores)

    def _margins(self, scores: Any) -> Array:
        return self._completion_margins(expit(scores))

    def _completion_margins(self, p: Any) -> Array:
        return self._project(self.decision_rule_.margins(p))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._base_estimator())
        tags.input_tags = inner.input_tags
        tags.target_tags.multi_output = inner.target_tags.multi_output
        tags.classifier_tags.multi_label = inner.classifier_tags is not None and inner.classifier_tags.multi_label
        return tags


def _move(values: NDArray[np.float64], X: Any) -> Array:
    """Return values in the library of X, which need not be an array."""
    return move(values, X) if hasattr(X, "detach") else values

"""find_label_issues: error probabilities of observed labels by cross-fitting."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state, indexable
from sklearn.utils.validation import _num_samples, has_fit_parameter

from spmld._arrays import features_to_numpy
from spmld._response import label_scores
from spmld._validation import NON_NEGATIVE, check_scalar_integer
from spmld.audit.issues import LabelIssues
from spmld.estimators import FeatureScaler, MaskedLogistic, PerLabelClassifier
from spmld.estimators.probabilities import log_odds
from spmld.labels import Labels, LabelWarning, read_labels
from spmld.labels.single_class import find_single_class, list_labels, single_class_messages
from spmld.model_selection.cross_fitting import CrossFitResult, Fold, cross_fit, make_folds
from spmld.pacing.noise import NoiseRates, correct_probability, error_log_odds, noise_rates

_SIGNS = np.array([-1, 1])


def find_label_issues(
    estimator: Any,
    X: Any,
    Y: Any,
    *,
    mask: Any = None,
    cv: Any = 5,
    n_iter: int = 2,
    shrinkage: float = 30.0,
    label_names: Sequence[Any] | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> LabelIssues:
    r"""Find labels that are likely to be wrong.

    Noise rates and error probabilities are estimated from out-of-fold scores, see `spmld.pacing.noise`. The estimator
    is then fitted again with the probabilities that labels are correct as self-paced weights, `n_iter` times in total.

    Parameters
    ----------
    estimator : multi-label estimator, scikit-learn classifier or None
        Model of the labels. Classifiers whose ``fit`` does not accept ``entry_weight`` are fitted for each label by
        `PerLabelClassifier`. None is ``MaskedLogistic(C=30)`` on scaled features.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Samples.
    Y, mask
        Labels to audit, as in `spmld.labels.read_labels`. A DataFrame provides the names of labels and samples. Missing
        entries of labels with observed positives and no observed negative are used as negatives that may be wrong: the
        noise rate :math:`\beta` of such a label is the fraction of its positives that are not observed.
    cv : int, splitter or iterable of splits, default=5
        Folds. Each sample must be tested; samples tested more than once get their mean score.
    n_iter : int, default=2
        Number of fits; all but the first are weighted.
    shrinkage : float, default=30.0
        Shrinkage of the noise rates of each label toward those of all labels, see `spmld.pacing.noise.noise_rates`.
    label_names : sequence, optional
        Names of the labels.
    n_jobs : int or None, default=None
        Number of folds fitted in parallel.
    random_state : int, RandomState or None, default=None
        Seed for the folds.

    Returns
    -------
    LabelIssues

    Examples
    --------
    See `LabelIssues`.
    """
    base = _base_estimator(estimator, check_scalar_integer("n_iter", n_iter, minimum=1))
    labels, (X,) = _read_labels(X, Y, mask), indexable(X)
    names, sample_names = _label_names(Y, labels, label_names), _sample_names(X, Y)
    folds = _make_folds(cv, X, labels, random_state)
    positive_only = _find_positive_only(replace(labels, names=names))
    signs = np.where(positive_only & ~labels.observed, np.int8(-1), labels.signs)
    signed = np.where(signs != 0, signs, np.nan)
    if base is None:
        X, base = features_to_numpy(FeatureScaler().fit_transform(X)), MaskedLogistic(C=30.0)
    score = partial(_log_odds_scores, n_labels=signed.shape[1])
    fit = partial(cross_fit, base, X, signed, folds, score=score, n_jobs=n_jobs)
    scores, rates = _estimate_rates(fit, signs, positive_only, n_iter, shrinkage)
    errors = np.where(labels.observed, error_log_odds(scores, labels.signs, rates), np.nan)
    return LabelIssues(labels.signs, labels.classes, scores, errors, rates.alpha, rates.beta, names, sample_names)


def _estimate_rates(
    fit: Callable[..., CrossFitResult],
    signs: NDArray[np.int8],
    positive_only: NDArray[np.bool_],
    n_iter: int,
    shrinkage: float,
) -> tuple[NDArray[np.float64], NoiseRates]:
    """Return out-of-fold scores and noise rates after `n_iter` fits, each weighted by the result of the last."""
    if shrinkage != float("inf") and not NON_NEGATIVE.is_satisfied_by(shrinkage):
        raise ValueError(f"shrinkage must be a non-negative number, got {shrinkage!r}")
    weights = None
    for _ in range(n_iter):
        scores = fit(entry_weight=weights).scores
        rates = _noise_rates(scores, signs, positive_only, float(shrinkage))
        weights = correct_probability(scores, signs, rates)
    return scores, rates


def _find_positive_only(labels: Labels) -> NDArray[np.bool_]:
    """Return the labels whose missing entries are used as negatives, and warn about labels of one class."""
    single = find_single_class(labels.signs)
    messages = single_class_messages(labels, single)
    if single.positive_only.any():
        messages.append(
            f"{list_labels(labels, single.positive_only)}: observed positives, missing entries and no observed "
            "negative. Missing entries are used as negatives, many of which may be wrong, and are not audited"
        )
    for message in messages:
        warnings.warn(message, LabelWarning, stacklevel=3)
    return single.positive_only


def _noise_rates(
    scores: NDArray[np.float64], signs: NDArray[np.int8], positive_only: NDArray[np.bool_], shrinkage: float
) -> NoiseRates:
    """Return the noise rates; labels whose missing entries are used as negatives share them with each other only."""
    if positive_only.all() or not positive_only.any():
        return noise_rates(scores, signs, shrinkage=shrinkage)
    values = np.empty((4, len(positive_only)))
    for chosen in (positive_only, ~positive_only):
        rates = noise_rates(scores[:, chosen], signs[:, chosen], shrinkage=shrinkage)
        for row, value in zip(values, rates, strict=True):
            row[chosen] = value
    return NoiseRates(*values)


def _base_estimator(estimator: Any, n_iter: int) -> Any:
    """Return an estimator whose fit accepts entry weights, or None for the default."""
    if estimator is None:
        return None
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise ValueError(f"estimator must be None or an estimator with a fit method, got {estimator!r}")
    if has_fit_parameter(estimator, "entry_weight"):
        return estimator
    if n_iter > 1 and not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(
            "the fit method of the estimator must accept entry_weight or sample_weight unless n_iter=1, "
            f"got {estimator!r}"
        )
    return PerLabelClassifier(estimator)


def _read_labels(X: Any, Y: Any, mask: Any) -> Labels:
    if Y is None:
        raise ValueError("Y must be a label matrix, got None")
    labels = read_labels(Y, mask)
    if _num_samples(X) != len(labels.signs):
        raise ValueError(f"X and Y must have the same number of samples, got {_num_samples(X)} and {len(labels.signs)}")
    return labels


def _make_folds(cv: Any, X: Any, labels: Labels, random_state: Any) -> list[Fold]:
    Y, seed = np.where(labels.observed, labels.signs, np.nan), check_random_state(random_state).randint(2**31 - 1)
    folds = make_folds(cv, X, Y, random_state=seed, repeated=True)
    if not all(labels.observed[train].any() for train, _ in folds):
        raise ValueError(f"cv must leave observed labels in the training samples of each fold, got {cv!r}")
    return folds


def _log_odds_scores(fitted: Any, X: Any, n_labels: int) -> NDArray[np.float64]:
    return log_odds(label_scores(fitted, X, "predict_proba", _SIGNS, n_labels))


def _label_names(Y: Any, labels: Labels, label_names: Sequence[Any] | None) -> list[Any]:
    l = labels.signs.shape[1]
    if label_names is None:
        name = getattr(Y, "name", None) if labels.one_dimensional else None
        return labels.names or ([name] if name is not None else list(range(l)))
    if isinstance(label_names, str) or len(label_names) != l:
        raise ValueError(f"label_names must have one name for each of the {l} labels, got {label_names!r}")
    return list(label_names)


def _sample_names(X: Any, Y: Any) -> list[Any]:
    for frame in (Y, X):
        if hasattr(frame, "iloc"):
            return list(frame.index)
    return list(range(_num_samples(X)))

"""find_label_issues: error probabilities of observed labels by cross-fitting."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, has_fit_parameter

from spmld._arrays import features_to_numpy
from spmld._response import label_scores
from spmld._validation import check_scalar_integer, indexable
from spmld.audit.blocks import fit_view, gather_labels, read_blocks
from spmld.audit.issues import LabelIssues
from spmld.core.losses import LOSSES
from spmld.estimators import PerLabelClassifier
from spmld.estimators.ensemble import TrainingData, estimate_rates, linear_view, search_path
from spmld.estimators.probabilities import log_odds
from spmld.labels import Labels, LabelWarning, read_labels
from spmld.labels.single_class import find_single_class, list_labels, single_class_messages
from spmld.labels.trusted import mark_trusted
from spmld.model_selection.calibration import has_both_classes
from spmld.model_selection.cross_fitting import Fold, cross_fit, make_folds
from spmld.pacing.noise import MIN_RATE, NoiseRates, correct_probability, error_log_odds, log_likelihood
from spmld.pacing.rate_estimate import calibrate, noise_rates

_SIGNS = np.array([-1, 1])
CS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""Inverse regularization strengths of the default estimator."""


def find_label_issues(
    estimator: Any,
    X: Any,
    Y: Any,
    *,
    mask: Any = None,
    trusted: Any = None,
    cv: Any = 5,
    n_iter: int = 2,
    label_names: Sequence[Any] | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> LabelIssues:
    r"""Find labels that are likely to be wrong.

    Noise rates and error probabilities are estimated from out-of-fold scores, see `spmld.pacing.rate_estimate`. The
    estimator is then fitted again with the probabilities that labels are correct as self-paced weights, `n_iter` times
    in total. The scores with the highest likelihood are used.

    Parameters
    ----------
    estimator : multi-label estimator, scikit-learn classifier or None
        Model of the labels. Classifiers whose ``fit`` does not accept ``entry_weight`` are fitted for each label by
        `PerLabelClassifier`. None is `MaskedLogistic` on scaled features, with the C of the lowest out-of-fold loss.
    X : array-like, sparse matrix, RowBlocks or Dask collection of shape (n_samples, n_features)
        Samples. Features in `RowBlocks` or Dask collections are not loaded into memory, labels and scores are;
        `estimator` must be None then.
    Y, mask
        Labels to audit, as in `spmld.labels.read_labels`. A DataFrame provides the names of labels and samples. Missing
        entries of labels with observed positives and no observed negative are used as negatives that may be wrong: the
        noise rate :math:`\beta` of such a label is the fraction of its positives that are not observed.
    trusted : array-like of bool of shape (n_samples, n_labels) or (n_samples,), optional
        Verified entries, or samples of which all entries are verified. Their error probability is 0. If there are
        verified positives and negatives, they determine the noise rates of each label.
    cv : int, splitter or iterable of splits, default=5
        Folds. Each sample must be tested; samples tested more than once get their mean score.
    n_iter : int, default=2
        Number of fits; all but the first are weighted.
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
    blocks = read_blocks(X, Y, mask)
    if blocks is None:
        labels, (X,) = _read_labels(X, Y, mask), indexable(X)
        sample_names = _sample_names(X, Y)
    elif base is None:
        labels, X = gather_labels(blocks), np.zeros((sum(blocks.counts), 0))
        sample_names = list(range(len(X)))
    else:
        raise ValueError(f"estimator must be None if X is not in memory, got {estimator!r}")
    labels = mark_trusted(labels, trusted)
    names = _label_names(Y, labels, label_names)
    folds = _make_folds(cv, X, labels, random_state, repeated=blocks is None)
    positive_only = _find_positive_only(replace(labels, names=names))
    signs = np.where(positive_only & ~labels.observed, np.int8(-1), labels.signs)
    signed = np.where(signs != 0, signs, np.nan)
    fit: Any = partial(_cross_fit_scores, Y=signed, folds=folds, n_jobs=n_jobs)
    view = linear_view(CS, label_graph_penalty=0.0)
    if blocks is not None:
        scores, fit = fit_view(view, blocks, signs, folds)
    elif base is None:
        X = features_to_numpy(view.transformer.fit_transform(X))
        path = search_path(view, TrainingData(X, signed, np.abs(signs), folds, LOSSES["logistic"].value, n_jobs))
        scores, fit = path.scores, partial(fit, path.estimators, X)
    else:
        fit = partial(fit, base, X, score=partial(_log_odds_scores, n_labels=signed.shape[1]))
        scores = fit()
    estimate = partial(_estimate_rates, signs=signs, trusted=labels.trusted, positive_only=positive_only)
    scores, rates = _best_iteration(fit, scores, signs, labels.trusted, estimate, n_iter)
    errors = np.where(labels.observed, error_log_odds(scores, labels.signs, rates), np.nan)
    if labels.trusted is not None:
        errors[labels.trusted] = -np.inf
    return LabelIssues(labels.signs, labels.classes, scores, errors, rates.alpha, rates.beta, names, sample_names)


def _best_iteration(
    fit: Callable[..., NDArray[np.float64]],
    scores: NDArray[np.float64],
    signs: NDArray[np.int8],
    trusted: NDArray[np.bool_] | None,
    estimate: Callable[..., NoiseRates],
    n_iter: int,
) -> tuple[NDArray[np.float64], NoiseRates]:
    """Return the scores with the highest likelihood, of models that are weighted by the result of the last one."""
    rates = estimate(scores)
    best, best_scores, best_rates = log_likelihood(scores, signs, rates).sum(), scores, rates
    for _ in range(n_iter - 1):
        weights = correct_probability(scores, signs, rates)
        scores = fit(entry_weight=weights if trusted is None else np.where(trusted, 1.0, weights))
        rates = estimate(scores, rates=rates)
        value = log_likelihood(scores, signs, rates).sum()
        if value > best:
            best, best_scores, best_rates = value, scores, rates
    return best_scores, best_rates


def _estimate_rates(
    scores: NDArray[np.float64],
    signs: NDArray[np.int8],
    trusted: NDArray[np.bool_] | None,
    positive_only: NDArray[np.bool_],
    rates: NoiseRates | None = None,
) -> NoiseRates:
    """Estimate the noise rates, or only the calibration of the scores for known rates.

    Labels whose missing entries are used as negatives share their rates with each other only, without a penalty.
    """
    values = np.empty((4, signs.shape[1]))
    for group, penalty in ((positive_only, {"rate_penalty": 0.0}), (~positive_only, {})):
        if not group.any():
            continue
        s, y, verified = scores[:, group], signs[:, group], None if trusted is None else trusted[:, group]
        if rates is not None:
            group_rates = NoiseRates(rates.alpha[group], rates.beta[group])
        elif verified is not None and has_both_classes(np.where(verified, y, 0).reshape(-1, 1)).all():
            group_rates = NoiseRates(*(rate.clip(MIN_RATE, 1 - MIN_RATE) for rate in estimate_rates(s, y, verified)))
        else:
            group_rates = noise_rates(s, y if verified is None else np.where(verified, 0, y), **penalty)
        for row, value in zip(values, calibrate(s, y, group_rates, verified), strict=True):
            row[group] = value
    return NoiseRates(*values)


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


def _cross_fit_scores(*arguments: Any, **options: Any) -> NDArray[np.float64]:
    return cross_fit(*arguments, **options).scores


def _make_folds(cv: Any, X: Any, labels: Labels, random_state: Any, repeated: bool) -> list[Fold]:
    Y, seed = np.where(labels.observed, labels.signs, np.nan), check_random_state(random_state).randint(2**31 - 1)
    folds = make_folds(cv, X, Y, random_state=seed, repeated=repeated)
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

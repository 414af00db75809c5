"""find_label_issues: error probabilities of observed labels by cross-fitting."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, has_fit_parameter

from spmld._arrays import features_to_numpy
from spmld._response import label_scores
from spmld._threads import thread_map
from spmld._validation import check_same_samples, indexable
from spmld.audit.error_scores import score_errors
from spmld.audit.issues import LabelIssues
from spmld.cluster.inputs import is_collection
from spmld.estimators import FeatureScaler, PerLabelClassifier
from spmld.estimators.noise_scores import default_boosting, fit_noise_scores
from spmld.estimators.positive_only import warn_of_labels
from spmld.estimators.probabilities import log_odds
from spmld.labels import Labels, read_labels
from spmld.labels.encoding import SIGNS
from spmld.labels.entries import mark_trusted
from spmld.labels.single_class import find_single_class, ignore_label_warnings
from spmld.model_selection.cross_fitting import CrossFit, Fold, cross_fit, make_folds
from spmld.model_selection.identical_samples import identical_groups
from spmld.model_selection.samples import Samples


def find_label_issues(
    estimator: Any,
    X: Any,
    Y: Any,
    *,
    mask: Any = None,
    trusted: Any = None,
    cv: Any = 5,
    label_names: Sequence[Any] | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> LabelIssues:
    r"""Find labels that are likely to be wrong.

    Observed labels are compared with out-of-fold probabilities. Entries are ordered by the probability of the opposite
    label, unless there is clear evidence of another pattern of errors, see `spmld.audit.error_scores`. The number of
    errors is a range that the data allow, see `spmld.noise.bounds`. A verified random sample of the entries, see
    `LabelIssues.sample`, turns it into an estimate.

    Parameters
    ----------
    estimator : multi-label estimator, scikit-learn classifier or None
        Model of the labels. Classifiers whose ``fit`` does not accept ``entry_weight`` are fitted for each label by
        `PerLabelClassifier`. None is `MaskedLogistic` on scaled features, with the C of the lowest out-of-fold loss.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Samples.
    Y, mask
        Labels to audit, as in `spmld.labels.read_labels`. A DataFrame provides the names of labels and samples. Missing
        entries of labels with observed positives and no observed negative are used as negatives, and are not audited.
    trusted : array-like of bool of shape (n_samples, n_labels) or (n_samples,), optional
        Verified entries, or samples whose entries are all verified. Their error probability is 0. If there are
        verified positives and negatives, they determine the noise rates of each label.
    cv : int, splitter or iterable of splits, default=5
        Folds. Each sample must be tested; samples tested more than once get their mean score.
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
    base = _base_estimator(estimator)
    if is_collection(X):
        raise ValueError("X must be in memory, got a Dask collection; audit X.compute(), or a part of it")
    labels, (X,) = _read_labels(X, Y, mask), indexable(X)
    sample_names = _sample_names(X, Y)
    labels = mark_trusted(labels, trusted)
    names = _label_names(Y, labels, label_names)
    rng = check_random_state(random_state)
    folds = _make_folds(cv, X, labels, rng)
    positive_only = _find_positive_only(replace(labels, names=names))
    signs = np.where(positive_only & ~labels.observed, np.int8(-1), labels.signs)
    with ignore_label_warnings(), thread_map(n_jobs) as over:
        if base is None:
            X = features_to_numpy(FeatureScaler().fit_transform(X))
            samples = Samples(X, Labels(signs, SIGNS), signs != 0)
            boosting = default_boosting(samples, len(folds), rng)
            scores, alternatives = fit_noise_scores(samples, CrossFit(folds, len(signs), over), boosting=boosting)
        else:
            signed = np.where(signs != 0, signs, np.nan)
            log_odds_of = partial(_log_odds_scores, n_labels=signs.shape[1])
            scores, alternatives = cross_fit(base, X, signed, folds, n_jobs=n_jobs, score=log_odds_of).scores, None
        errors = score_errors(scores, signs, labels.trusted, positive_only, alternatives=alternatives)
    audited = replace(errors, error_log_odds=np.where(labels.observed, errors.error_log_odds, np.nan))
    return LabelIssues(
        **vars(audited), signs=labels.signs, classes=labels.classes, label_names=names, sample_names=sample_names
    )


def _find_positive_only(labels: Labels) -> NDArray[np.bool_]:
    """Return the labels whose missing entries are used as negatives, and warn about labels of one class."""
    single = find_single_class(labels.signs)
    message = (
        "observed positives, missing entries and no observed negative. "
        "Missing entries are used as negatives, many of which may be wrong, and are not audited"
    )
    warn_of_labels(labels, single, (single.positive_only, message))
    return single.positive_only


def _base_estimator(estimator: Any) -> Any:
    """Return an estimator whose fit accepts entry weights, or None for the default."""
    if estimator is None:
        return None
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise ValueError(f"estimator must be None or an estimator with a fit method, got {estimator!r}")
    return estimator if has_fit_parameter(estimator, "entry_weight") else PerLabelClassifier(estimator)


def _read_labels(X: Any, Y: Any, mask: Any) -> Labels:
    if Y is None:
        raise ValueError("Y must be a label matrix, got None")
    labels = read_labels(Y, mask)
    check_same_samples(_num_samples(X), len(labels.signs))
    return labels


def _make_folds(cv: Any, X: Any, labels: Labels, rng: np.random.RandomState) -> list[Fold]:
    Y, seed = np.where(labels.observed, labels.signs, np.nan), rng.randint(2**31 - 1)
    groups = identical_groups(X, int(cv))[0] if isinstance(cv, Integral) else None
    folds = make_folds(cv, X, Y, random_state=seed, repeated=True, groups=groups)
    if not all(labels.observed[train].any() for train, _ in folds):
        raise ValueError(f"cv must leave observed labels in the training samples of each fold, got {cv!r}")
    return folds


def _log_odds_scores(fitted: Any, X: Any, n_labels: int) -> NDArray[np.float64]:
    return log_odds(label_scores(fitted, X, "predict_proba", SIGNS, n_labels))


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

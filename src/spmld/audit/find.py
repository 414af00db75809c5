"""find_label_issues: `label_issues` on the cross-fitted scores of an estimator."""

from collections.abc import Sequence
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import _num_samples, has_fit_parameter

from spmld._arrays import check_range, features_to_numpy, is_collection, largest_value
from spmld._response import label_scores
from spmld._threads import map_in_threads
from spmld._validation import MAX_SEED, check_same_samples, indexable
from spmld.audit.from_scores import fill_positive_only, index_of, label_issues, read_audited_labels
from spmld.audit.issues import LabelIssues
from spmld.core.scaling import scaled
from spmld.estimators import PerLabelClassifier
from spmld.estimators.outputs import log_odds
from spmld.labels import Labels
from spmld.labels.encoding import SIGNS
from spmld.model_selection.cross_fitting import CrossFit, cross_fit
from spmld.model_selection.folds import Fold, make_folds
from spmld.model_selection.linear import search_logistic
from spmld.model_selection.samples import Samples
from spmld.model_selection.similarity import copied_groups


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
    r"""Find labels that are likely to be wrong, by cross-fitting a model of the labels.

    The out-of-fold scores of the model are passed to `label_issues`, which explains the order of the entries and the
    range of the number of errors.

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
        Verified entries, or samples whose entries are all verified. Their label quality is 1. If there are verified
        positives and negatives, they determine the noise rates of each label.
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

    See Also
    --------
    label_issues : The same from out-of-fold scores that are there already.

    Examples
    --------
    See `LabelIssues`.
    """
    if estimator is not None and (isinstance(estimator, type) or not hasattr(estimator, "fit")):
        raise ValueError(f"estimator must be None or an estimator with a fit method, got {estimator!r}")
    if is_collection(X):
        raise ValueError("X must be in memory, got a Dask collection; audit X.compute(), or a part of it")
    labels = read_audited_labels(Y, mask, trusted, label_names)
    check_same_samples(_num_samples(X), len(labels.signs))
    sample_names = index_of(Y, X)
    (X,) = indexable(X)
    rng = check_random_state(random_state)
    folds = _make_folds(cv, X, labels, rng)
    signs = fill_positive_only(labels)
    if estimator is None:
        X = check_array(features_to_numpy(X), accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X")
        check_range(largest_value(X), X.shape[0] * X.shape[1], np.finfo(X.dtype))
        samples = Samples(scaled(X), Labels(signs, SIGNS), signs != 0)
        cross = CrossFit(folds, len(signs), partial(map_in_threads, n_jobs))
        scores = search_logistic(samples, cross).scores
    else:
        base = estimator if has_fit_parameter(estimator, "entry_weight") else PerLabelClassifier(estimator)
        score = partial(_log_odds_scores, n_labels=signs.shape[1])
        signed = np.where(signs != 0, signs, np.nan)
        scores = cross_fit(base, X, signed, folds, n_jobs=n_jobs, score=score).scores
    return label_issues(labels, scores, sample_names=sample_names)


def _make_folds(cv: Any, X: Any, labels: Labels, rng: np.random.RandomState) -> list[Fold]:
    """Return folds with observed labels in the training samples, and copies of a sample in the same fold."""
    Y = np.where(labels.observed, labels.signs, np.nan)
    seed = rng.randint(MAX_SEED)
    groups = copied_groups(X, labels.signs, int(cv)) if isinstance(cv, Integral) else None
    folds = make_folds(cv, X, Y, random_state=seed, repeated=True, groups=groups)
    if not all(labels.observed[train].any() for train, _ in folds):
        raise ValueError(f"cv must leave observed labels in the training samples of each fold, got {cv!r}")
    return folds


def _log_odds_scores(fitted: Any, X: Any, n_labels: int) -> NDArray[np.float64]:
    """Return the out-of-fold log-odds of the positive class of each label."""
    return log_odds(label_scores(fitted, X, "predict_proba", SIGNS, n_labels))

r"""label_issues: label quality scores of observed labels, and the range of the number of errors, from scores.

**Order.** The quality of a label is its *self-confidence*: the probability of the observed label by a model that was
not fitted on the sample. Within the labels that are present, and within those that are absent, this is the order of the
error probabilities for any noise rates that are the same for all labels. How likely errors of the two kinds are
relative to each other, the labels themselves do not tell. Verified positives and negatives do: with them, the quality
of a label is the probability that it is correct, by the noise rates that they determine.

**Range.** Errors that depend on the true label only change certain labels as often as uncertain ones. Their number has
an upper limit. Its lower limit is 0 unless verified entries show errors: a label with a cause that the features do not
contain looks like a wrong one. See `spmld.noise.bounds`.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld._arrays import check_masked, to_dense, to_numpy
from spmld._io import shorten
from spmld._response import select_positive
from spmld._validation import list_names
from spmld.audit.issues import LabelIssues
from spmld.estimators.outputs import log_odds as probability_log_odds
from spmld.estimators.progress import warn_caller
from spmld.labels import Labels, LabelWarning, read_labels
from spmld.labels.encoding import mark_trusted
from spmld.labels.single_class import find_single_class, single_class_messages
from spmld.noise import PooledCalibration, identify_noise
from spmld.noise.bounds import bound_errors, least_errors
from spmld.noise.calibration import has_both_classes, trusted_weight
from spmld.noise.likelihood import error_log_odds

_Floats = NDArray[np.float64]
_Signs = NDArray[np.int8]


def label_issues(
    Y: Any,
    scores: Any,
    *,
    mask: Any = None,
    trusted: Any = None,
    response_method: str = "decision_function",
    label_names: Sequence[Any] | None = None,
    sample_names: Sequence[Any] | None = None,
) -> LabelIssues:
    r"""Find labels that are likely to be wrong, from the out-of-fold scores of any model.

    Entries are ordered by self-confidence, the probability of the observed label: labels that are present and unlikely,
    labels that are absent and likely, or both. The number of errors is at most that of the errors that the scores could
    reveal, see `spmld.noise.bounds`. A verified random sample of the entries, see `LabelIssues.sample`, estimates it.

    Parameters
    ----------
    Y, mask
        Labels to audit, as in `spmld.labels.read_labels`. A DataFrame provides the names of labels and samples. Missing
        entries of labels with observed positives and no observed negative are used as negatives, and are not audited.
    scores : array-like, DataFrame or tensor of shape (n_samples, n_labels), or list of arrays
        Log-odds that each label is positive, by models that were not fitted on the sample. They are calibrated, so that
        the margins of another classifier are accepted, too. Scores of missing entries may be NaN. A list with an array
        of shape (n_samples, 2) for each label, which ``cross_val_predict`` of scikit-learn returns for some
        classifiers, has the scores of the negative and of the positive class.
    trusted : array-like of bool of shape (n_samples, n_labels) or (n_samples,), optional
        Verified entries, or samples of which all entries are verified. Their label quality is 1. If there are verified
        positives and negatives, they determine the noise rates of each label.
    response_method : {"decision_function", "predict_proba"}, default="decision_function"
        "predict_proba" if the scores are probabilities.
    label_names, sample_names : sequence, optional
        Names of the labels and of the samples. By default, those of a DataFrame, or their indices.

    Returns
    -------
    LabelIssues

    See Also
    --------
    find_label_issues : The same with the cross-fitted scores of an estimator.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.model_selection import cross_val_predict
    >>> from spmld.audit import label_issues
    >>> from spmld.datasets import make_planted
    >>> from spmld.labels import corrupt_labels
    >>> data = make_planted(n_samples=600, noise=0.1, random_state=0)
    >>> Y = corrupt_labels(data.Y, "flip", 0.03, random_state=0)
    >>> forest = RandomForestClassifier(random_state=0)
    >>> probabilities = cross_val_predict(forest, data.X, Y, method="predict_proba")
    >>> issues = label_issues(Y, probabilities, response_method="predict_proba")
    >>> wrong = (Y != data.Y).flat[issues.order()]
    >>> bool(wrong[:50].mean() > 5 * wrong.mean())
    True
    """
    labels = read_audited_labels(Y, mask, trusted, label_names)
    signs = fill_positive_only(labels)
    values = _read_scores(scores, labels, signs, response_method)
    _check_order(Y, scores)
    if sample_names is None:
        sample_names = index_of(Y, scores) or range(len(signs))
    elif isinstance(sample_names, str) or len(sample_names) != len(signs):
        raise ValueError(f"sample_names must have one name for each of the {len(signs)} samples, got {sample_names!r}")
    single = find_single_class(labels.signs)
    negatives = (
        "observed positives, missing entries and no observed negative. "
        "Missing entries are used as negatives, many of which may be wrong, and are not audited"
    )
    for message in single_class_messages(labels, single, (single.positive_only, negatives)):
        warn_caller(message, LabelWarning)
    return _find_issues(values, signs, labels, list(sample_names))


def read_audited_labels(Y: Any, mask: Any, trusted: Any, label_names: Sequence[Any] | None) -> Labels:
    """Return labels with names and verified entries."""
    if Y is None:
        raise ValueError("Y must be a label matrix, got None")
    labels = mark_trusted(read_labels(Y, mask), trusted)
    l = labels.shape[1]
    if label_names is None:
        name = getattr(Y, "name", None) if labels.one_dimensional else None
        label_names = labels.names or ([name] if name is not None else range(l))
    elif isinstance(label_names, str) or len(label_names) != l:
        raise ValueError(f"label_names must have one name for each of the {l} labels, got {label_names!r}")
    return replace(labels, names=list(label_names))


def fill_positive_only(labels: Labels) -> _Signs:
    """Return signs in which missing entries of positive-only labels are negative."""
    positive_only = find_single_class(labels.signs).positive_only
    return np.where(positive_only & ~labels.observed, np.int8(-1), labels.signs)


def index_of(*tables: Any) -> list[Any] | None:
    """Return the index of the first of the tables that is a DataFrame or a Series; None if there is none."""
    return next((list(table.index) for table in tables if hasattr(table, "iloc")), None)


def _check_order(Y: Any, scores: Any) -> None:
    """Raise ValueError for DataFrames with the same rows or columns in another order."""
    if not hasattr(Y, "iloc") or not hasattr(scores, "iloc"):
        return
    for axis in ("index", "columns"):
        expected = list(getattr(Y, axis, ()))
        names = list(getattr(scores, axis, ()))
        if names != expected and set(names) == set(expected):
            raise ValueError(
                f"scores must have the {axis} of Y in the same order, got {list_names(names)} for "
                f"{list_names(expected)}; pass scores.reindex_like(Y)"
            )


def _read_scores(scores: Any, labels: Labels, signs: _Signs, response_method: str) -> _Floats:
    """Return log-odds, which are finite where the signs are not 0."""
    if response_method not in ("decision_function", "predict_proba"):
        raise ValueError(f"response_method must be 'decision_function' or 'predict_proba', got {response_method!r}")
    values = _positive_columns(scores, labels)
    used = values[signs != 0]
    n_invalid = int((~np.isfinite(used)).sum())
    if n_invalid:
        raise ValueError(f"scores must be finite where labels are observed, got NaN or infinity in {n_invalid} entries")
    low = used.min()
    high = used.max()
    if response_method == "predict_proba":
        if low < 0 or high > 1:
            raise ValueError(
                f"scores must be probabilities in [0, 1] with response_method='predict_proba', got values from "
                f"{low:.3g} to {high:.3g}; leave response_method out for log-odds"
            )
        values = probability_log_odds(values)
    elif low >= 0 and 0 < high <= 1 and signs.sum(dtype=int) < 0:
        warn_caller(
            f"scores are from {low:.3g} to {high:.3g}, although most labels are negative: pass "
            "response_method='predict_proba' if they are probabilities",
            UserWarning,
        )
    return np.where(np.isfinite(values), values, np.nan)


def _positive_columns(scores: Any, labels: Labels) -> _Floats:
    """Return the scores of the positive class of each label."""
    n, l = labels.shape
    check_masked(scores, "scores", "pass scores.filled(np.nan) if these labels are missing")
    by_label = isinstance(scores, list | tuple) and len(scores) > 0 and np.ndim(scores[0]) == 2
    parts = scores if by_label else [to_dense(scores, "scores")]
    try:
        arrays = [np.asarray(to_numpy(part), dtype=float) for part in parts]
    except (TypeError, ValueError):
        raise ValueError(shorten(f"scores must be an array of real numbers, got {scores!r}")) from None
    shapes = [array.shape for array in arrays]
    by_label = by_label or (l == 1 and shapes[0] == (n, 2))
    if not by_label and shapes[0] in ([(n, l), (n,)] if l == 1 else [(n, l)]):
        return arrays[0].reshape(n, l)
    if not by_label or len(arrays) != l or not set(shapes) <= {(n, 1), (n, 2)}:
        got = shapes if by_label else shapes[0]
        raise ValueError(f"scores must have shape {(n, l)}, or be a list of {l} arrays of shape {(n, 2)}, got {got}")
    # Classifiers sort the classes. One column is that of the only class of a label.
    classes = [
        np.sort(labels.classes) if array.shape[1] == 2 else labels.classes[[int(signs.max() > 0)]]
        for array, signs in zip(arrays, labels.signs.T, strict=True)
    ]
    return select_positive(arrays, classes, labels.classes)


def _find_issues(scores: _Floats, signs: _Signs, labels: Labels, sample_names: list[Any]) -> LabelIssues:
    """Return the issues of labels, given signs in which missing entries of positive-only labels are negative."""
    verified = np.zeros(signs.shape, dtype=bool) if labels.trusted is None else labels.trusted
    counted = labels.observed & ~verified
    positive_only = (signs != labels.signs).any(axis=0)
    audited = np.where(positive_only, np.int8(0), signs)
    # Rates of labels are sums over all entries, in which NaN would remain.
    known = np.where(signs == 0, 0.0, scores)
    log_odds = PooledCalibration().fit(known, audited).transform(scores)
    if positive_only.any():
        calibration = PooledCalibration().fit(scores[:, positive_only], signs[:, positive_only])
        log_odds[:, positive_only] = calibration.transform(scores[:, positive_only])
    quality = signs * log_odds
    rates = None
    if has_both_classes(np.where(verified, audited, np.int8(0)).reshape(-1, 1)).all():
        identified = identify_noise(known, audited, verified)
        rates = identified if identified.any() else None
    if rates is not None:
        weight = trusted_weight(audited, verified)
        calibration = PooledCalibration().fit(scores, audited, weight, rates.unless(verified))
        log_odds = calibration.transform(scores)
        quality = -error_log_odds(log_odds, signs, rates)
    # Missing entries of positive-only labels show how many of the positives are false, but are not errors themselves.
    positives = bound_errors(scores, np.where(counted | positive_only, signs, np.int8(0)))
    negatives = bound_errors(scores, np.where(counted, audited, np.int8(0)))
    lower = least_errors(scores, audited, verified)
    return LabelIssues(
        log_odds=log_odds,
        quality_log_odds=np.where(verified, np.inf, np.where(labels.observed, quality, np.nan)),
        label_limits=positives.false_positives + negatives.false_negatives,
        total_range=(lower, max(lower, positives.total_false_positives + negatives.total_false_negatives)),
        weak=rates is None and bool(positives.total_false_positives > (counted & (signs > 0)).sum() / 2),
        rates=rates,
        signs=labels.signs,
        classes=labels.classes,
        label_names=labels.names or [],
        sample_names=sample_names,
    )

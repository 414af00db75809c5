"""find_label_issues: error_probability of each observed label from models that have not seen it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state, indexable
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from spmld._arrays import features_to_numpy
from spmld._response import label_scores
from spmld.audit.issues import LabelIssues
from spmld.estimators import MaskedLogistic, PerLabelClassifier
from spmld.estimators._inputs import check_features, is_integer, is_number
from spmld.estimators._scaling import Scale
from spmld.estimators.label_prior import log_odds
from spmld.labels import Labels, read_labels
from spmld.model_selection.splitters import check_splitter
from spmld.pacing.noise import correct_probability, error_log_odds, noise_rates

__all__ = ["find_label_issues"]

_SIGNS = np.array([-1, 1])
_Folds = list[tuple[Any, Any]]


def find_label_issues(
    estimator: Any,
    X: Any,
    Y: Any,
    *,
    mask: Any = None,
    cv: Any = 5,
    n_iter: int = 2,
    strength: float = 30.0,
    label_names: Sequence[Any] | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> LabelIssues:
    r"""Find the labels that are likely to be wrong.

    Each label gets a score from an estimator that was not fitted on its sample. How often the labels of each column
    are wrong, :math:`\alpha_j` of the truly negative and :math:`\beta_j` of the truly positive, is estimated from all
    scores. The error_probability is the probability that the label is wrong,

    .. math:: 1 - p = 1 - \frac{1}{1 + r (e^{\ell} - 1)}, \qquad r = \frac{\alpha_j}{1 - \beta_j}
              \text{ or } \frac{\beta_j}{1 - \alpha_j}

    for a positive or a negative with the logistic loss :math:`\ell`; see `spmld.pacing.noise`. So p is a self-paced
    weight whose threshold comes from the data, and with these weights the estimators are fitted again, `n_iter` times
    in all: the scores of the last round come from estimators that listened less to what looks wrong.

    Parameters
    ----------
    estimator : estimator of this library, scikit-learn classifier or None
        What gives the scores. A classifier whose ``fit`` does not take ``entry_weight`` is fitted for each label, see
        `PerLabelClassifier`; for two n_iter or more it must take ``sample_weight``. None:
        ``MaskedLogistic(C=30)`` on features brought to a common scale.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Samples.
    Y : labels in any form of `spmld.labels.read_labels`
        What to look into. A DataFrame gives labels and samples their names.
    mask : array-like of bool of shape (n_samples, n_labels), optional
        True where a label is observed. What stands elsewhere in Y is not read.
    cv : int, splitter or iterable of splits, default=5
        Folds. Each sample must be tested; one that is tested more often gets its mean score.
    n_iter : int, default=2
        How often to fit, with weights from the second time on.
    strength : float, default=30.0
        How strongly the rates of a label are kept near those that all labels have in common: as if it had shown this
        many errors at those rates.
    label_names : sequence, optional
        Names of the labels, if Y does not have them.
    n_jobs : int or None, default=None
        Folds fitted at the same time.
    random_state : int, RandomState or None, default=None
        Seed of the folds. The estimator has its own.

    Returns
    -------
    LabelIssues

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.audit import find_label_issues
    >>> from spmld.datasets import make_planted
    >>> from spmld.labels import corrupt_labels
    >>> data = make_planted(n_samples=600, noise=0.1, random_state=0)
    >>> Y = corrupt_labels(data.Y, "flip", 0.03, random_state=0)
    >>> issues = find_label_issues(None, data.X, Y, random_state=0)
    >>> worst = issues.order()[:50]
    >>> bool((Y != data.Y).flat[worst].mean() > 0.8)
    True
    """
    host = _host(estimator, n_iter)
    if not (is_number(strength) or strength == float("inf")) or strength < 0:
        raise ValueError(f"strength must be 0 or more, got {strength!r}")
    if Y is None:
        raise ValueError("Y must be given: it holds the labels to look into, got None")
    labels = read_labels(Y, mask)
    (X,) = indexable(X)
    count = X.shape[0] if hasattr(X, "shape") else len(X)
    if count != len(labels.signs):
        raise ValueError(f"X and Y must have as many samples, got {count} and {len(labels.signs)}")
    names, samples = _names(Y, labels, label_names), _samples(X, Y, count)
    folds = _folds(cv, X, labels, random_state)
    if host is None:
        X, host = _scaled(X), MaskedLogistic(C=30.0)
    weights = None
    for iteration in range(n_iter):
        scores = _out_of_fold(host, X, labels, weights, folds, n_jobs)
        rates = noise_rates(scores, labels.signs, strength=float(strength))
        if iteration < n_iter - 1:
            weights = correct_probability(scores, labels.signs, rates)
    return LabelIssues(
        signs=labels.signs,
        classes=labels.classes,
        scores=scores,
        error_log_odds=np.where(labels.observed, error_log_odds(scores, labels.signs, rates), np.nan),
        alpha=rates.alpha,
        beta=rates.beta,
        label_names=names,
        sample_names=samples,
    )


def _host(estimator: Any, n_iter: Any) -> Any:
    """The estimator, unfitted, with a fit that takes entry weights; None as it is."""
    if not is_integer(n_iter) or n_iter < 1:
        raise ValueError(f"n_iter must be an integer of 1 or more, got {n_iter!r}")
    if estimator is None:
        return None
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise ValueError(f"estimator must be None or an estimator with fit, got {estimator!r}")
    if has_fit_parameter(estimator, "entry_weight"):
        return estimator
    if n_iter > 1 and not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(
            f"estimator must have a fit that takes entry_weight or sample_weight, or give n_iter=1, got {estimator!r}"
        )
    return PerLabelClassifier(estimator)


def _scaled(X: Any) -> Any:
    """Features on a common scale."""
    X = features_to_numpy(check_features(MaskedLogistic(), X, reset=True))
    return Scale(X)(X)


def _folds(cv: Any, X: Any, labels: Labels, random_state: Any) -> _Folds:
    n = len(labels.signs)
    splitter = check_splitter(cv, n, check_random_state(random_state).randint(2**31 - 1))
    folds = list(splitter.split(X, np.where(labels.observed, labels.signs, np.nan)))
    tested = np.zeros(n, dtype=bool)
    for _, test in folds:
        tested[test] = True
    if not tested.all():
        raise ValueError(f"cv must test each sample, but leaves out {int((~tested).sum())} of {n}, got {cv!r}")
    return folds


def _out_of_fold(
    host: Any, X: Any, labels: Labels, weights: NDArray[Any] | None, folds: _Folds, n_jobs: int | None
) -> NDArray[np.float64]:
    """Log-odds of each label, from estimators that were fitted on other samples."""
    Y = np.where(labels.observed, labels.signs, np.nan)

    def of_fold(train: NDArray[Any], test: NDArray[Any]) -> NDArray[np.float64]:
        if np.isnan(Y[train]).all():
            raise ValueError("cv must leave observed labels to fit on, got a fold without")
        given = {} if weights is None else {"entry_weight": weights[train]}
        fitted = clone(host).fit(_safe_indexing(X, train), Y[train], **given)
        return log_odds(label_scores(fitted, _safe_indexing(X, test), "predict_proba", _SIGNS, Y.shape[1]))

    total, times = np.zeros(Y.shape), np.zeros((len(Y), 1))
    parts = Parallel(n_jobs=n_jobs)(delayed(of_fold)(train, test) for train, test in folds)
    for (_, test), part in zip(folds, parts, strict=True):
        total[test] += part
        times[test] += 1
    return total / times


def _names(Y: Any, labels: Labels, given: Sequence[Any] | None) -> list[Any]:
    l = labels.signs.shape[1]
    if given is None:
        alone = [Y.name] if labels.one_dimensional and getattr(Y, "name", None) is not None else None
        return labels.names or alone or list(range(l))
    if isinstance(given, str) or len(given) != l:
        raise ValueError(f"label_names must have one name for each of the {l} labels, got {given!r}")
    return list(given)


def _samples(X: Any, Y: Any, n: int) -> list[Any]:
    for frame in (Y, X):
        if hasattr(frame, "iloc"):
            return list(frame.index)
    return list(range(n))

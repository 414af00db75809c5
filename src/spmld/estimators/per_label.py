"""PerLabelClassifier: a binary classifier of scikit-learn for each label (binary relevance)."""

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils import get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from spmld._arrays import Array, Matrix, features_to_numpy, move
from spmld._response import label_scores
from spmld._validation import HasMethods
from spmld.estimators.base import MultiLabelEstimator
from spmld.estimators.inputs import with_short_indices
from spmld.estimators.label_prior import smoothed_frequency
from spmld.estimators.outputs import log_odds
from spmld.labels import Labels
from spmld.model_selection.samples import Samples

_Classifier = Annotated[Any, HasMethods(["fit", "decision_function"]), HasMethods(["fit", "predict_proba"])]
_BINARY = np.array([0, 1])
MAX_DENSE = 100_000_000
"""Maximum number of values of sparse features that are made dense, 0.8 GB."""


@dataclass(eq=False, repr=False)
class PerLabelClassifier(MultiLabelEstimator):
    r"""One binary classifier for each label, fitted on the samples where this label is observed.

    Also called binary relevance. Dependencies between labels are ignored.

    The score of a label is the ``decision_function`` of its classifier, or the log-odds of ``predict_proba`` for
    classifiers without one. A label whose observed entries are all positive, all negative or absent has the same score
    for all samples, :math:`\log(p / (1 - p))` with :math:`p = (1 + N_1) / (2 + N)`, where :math:`N_1` is the (weighted)
    number of its positives and N that of its observed entries.

    Parameters
    ----------
    estimator : scikit-learn classifier, default=None
        Base estimator, cloned for each label; all clones have the same random state. The default is
        ``LogisticRegression()``.
    n_jobs : int or None, default=None
        Number of labels fitted in parallel.

    Attributes
    ----------
    estimators_ : list of length n_labels
        The fitted classifiers, with classes 0 and 1; None for a label with a constant score.
    prior_ : ndarray of shape (n_labels,)
        Value of p for each label.

    See Also
    --------
    MultiLabelEstimator : The attributes that all estimators share.

    Notes
    -----
    ``predict_proba`` returns the probabilities of the classifiers. For classifiers without probabilities it is the
    logistic function of the score, which is not calibrated; see `spmld.estimators.ThresholdClassifier`.
    `complete` is based on the probabilities and `predict` on the scores, which may disagree for a classifier with both,
    such as a support vector machine.

    Sparse features are made dense for a classifier that does not accept them, if they have at most 100 million values.

    ``entry_weight`` is passed as ``sample_weight``; an error is raised if the classifier does not accept it.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> from spmld import PerLabelClassifier
    >>> from spmld.datasets import make_planted
    >>> data = make_planted(n_samples=300, observed_fraction=0.5, random_state=0)
    >>> model = PerLabelClassifier(LinearSVC()).fit(data.X, data.Y)
    >>> model.decision_function(data.X[:2]).shape
    (2, 12)
    """

    estimator: _Classifier | None = None
    _: KW_ONLY
    n_jobs: int | None = None

    def _base_estimator(self) -> Any:
        return LogisticRegression() if self.estimator is None else self.estimator

    def _accepts_entry_weight(self) -> bool:
        return bool(has_fit_parameter(self._base_estimator(), "sample_weight"))

    def _fit(self, samples: Samples) -> None:
        signs, weights = samples.signs, samples.weights
        X, estimator = self._features(samples.X), self._base_estimator()
        if weights.dtype != bool and not self._accepts_entry_weight():
            raise ValueError(
                f"entry_weight requires a classifier whose fit accepts sample_weight, got estimator={estimator!r}"
            )
        self.prior_ = smoothed_frequency(signs, weights)
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(fit_label)(estimator, X, column, weight) for column, weight in zip(signs.T, weights.T, strict=True)
        )

    def _features(self, X: Any) -> Matrix:
        """Return the features as NumPy or SciPy arrays; dense if the classifier does not accept sparse ones."""
        X, estimator = with_short_indices(features_to_numpy(X)), self._base_estimator()
        return X if get_tags(estimator).input_tags.sparse else dense_features(X, type(estimator).__name__)

    def _scores(self, X: Any) -> Array:
        return self._predict_labels(X, log_odds(self.prior_), _score)

    def _probabilities_for(self, X: Any, labels: Labels | None = None) -> Array:
        return self._predict_labels(X, self.prior_, self._probability)

    def _responses(self, X: Any) -> tuple[Any, Any]:
        return self._scores(X), self._probabilities_for(X)

    def _predict_labels(
        self, X: Any, constants: NDArray[np.float64], predict: Callable[[Any, Any], NDArray[np.float64]]
    ) -> Array:
        """Apply `predict` to the classifier of each label; labels without a classifier get a constant."""
        features = self._features(X)
        values = np.tile(constants, (X.shape[0], 1))
        for j, estimator in enumerate(self.estimators_):
            if estimator is not None:
                values[:, j] = predict(estimator, features)
        return move(values, X)

    def _probability(self, estimator: Any, X: Any) -> NDArray[np.float64]:
        if hasattr(estimator, "predict_proba"):
            return _response(estimator, X, "predict_proba")
        return self._probabilities(_score(estimator, X))


def dense_features(X: Any, name: str) -> Any:
    """Return features as a dense array; raise ValueError, which names the estimator, if they are sparse and large."""
    if not sp.issparse(X):
        return X
    if math.prod(X.shape) > MAX_DENSE:
        raise ValueError(
            f"X must have at most {MAX_DENSE:,} values to be made dense for {name}, got "
            f"{X.shape[0]:,} samples and {X.shape[1]:,} sparse features; use fewer features, or "
            "an estimator that accepts sparse ones, such as RandomForestClassifier"
        )
    return X.toarray()


def fit_label(estimator: Any, X: Any, signs: NDArray[np.int8], weight: NDArray[Any]) -> Any:
    """Return a clone that is fitted to the observed entries of one label, or None if not both classes are observed.

    Weights are passed as ``sample_weight`` unless they are bool.
    """
    observed = np.flatnonzero(signs)
    y = (signs[observed] > 0).astype(int)
    if len(np.unique(y)) < 2:
        return None
    options = {} if weight.dtype == bool else {"sample_weight": weight[observed]}
    return clone(estimator).fit(X if len(observed) == len(signs) else X[observed], y, **options)


def _score(estimator: Any, X: Any) -> NDArray[np.float64]:
    if hasattr(estimator, "decision_function"):
        return _response(estimator, X, "decision_function")
    return log_odds(_response(estimator, X, "predict_proba"))


def _response(estimator: Any, X: Any, response: str) -> NDArray[np.float64]:
    return label_scores(estimator, X, response, _BINARY, 1)[:, 0]

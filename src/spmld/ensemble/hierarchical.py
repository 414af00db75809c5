"""HierarchicalClassifier: coherent probabilities and decisions of any estimator, for a hierarchy of labels."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from spmld._arrays import Array, move, to_numpy
from spmld.ensemble.division import spread
from spmld.ensemble.ensemble import SelfPacedEnsemble
from spmld.ensemble.views import N_TREES, kernel_ridge_view
from spmld.estimators.base import MultiLabelEstimator
from spmld.estimators.inputs import check_weights
from spmld.estimators.outputs import log_odds
from spmld.estimators.wrappers import WrapperEstimator
from spmld.labels import Hierarchy, Labels
from spmld.labels.hierarchy import inference_weights
from spmld.model_selection.samples import Samples


def hierarchical_ensemble(**params: Any) -> SelfPacedEnsemble:
    """Return the default base estimator of `HierarchicalClassifier`, a `SelfPacedEnsemble` with other defaults.

    A kernel ridge regression with 2,000 landmarks replaces the view "ridge", the view "boosting" has up to 800 trees,
    the micro average precision of all labels selects and weighs the views, and nothing is trimmed. A fit takes about
    twice as long as that of `SelfPacedEnsemble`. With many samples and features, where this would omit the
    view "boosting", pass ``SelfPacedEnsemble()`` to `HierarchicalClassifier` instead.

    Parameters
    ----------
    **params
        Parameters of `SelfPacedEnsemble`.

    Examples
    --------
    >>> from spmld.ensemble import hierarchical_ensemble
    >>> hierarchical_ensemble(decision=0.5).scoring
    'micro_average_precision'
    """
    settings = {
        "views": ("linear", "kernel", "boosting", kernel_ridge_view()),
        "n_trees": (*N_TREES, 800),
        "scoring": "micro_average_precision",
        "keep_fraction": 1.0,
    }
    return SelfPacedEnsemble(**{**settings, **params})


@dataclass(eq=False, repr=False)
class HierarchicalClassifier(WrapperEstimator):
    r"""Coherent predictions of any estimator of this library, for a hierarchy of labels.

    1. Labels that others imply are filled in before the base estimator is fitted: ancestors of positive labels are
       positive, and descendants of negative labels are negative, see `Hierarchy.infer`. Positives and
       negatives are weighted, so that the labels keep their frequencies.
    2. The probabilities are the isotonic projection of those of the base estimator: the nearest ones, by least squares,
       in which no label is more probable than its parents. Scores are their log-odds.
    3. The labels that are predicted contain all their ancestors. Of all such sets of labels, they have the
       largest sum of margins, which are the probabilities minus the thresholds of the base estimator.

    Parameters
    ----------
    estimator : MultiLabelEstimator, default=None
        Base estimator, for calibrated probabilities and thresholds a `ThresholdClassifier`. The default is
        ``hierarchical_ensemble()``, which has both.
    hierarchy : Hierarchy, mapping or iterable of pairs, default=None
        The hierarchy, or the argument of `Hierarchy`: the children of each parent, or pairs (parent, child). Labels are
        the columns of a DataFrame, or else indices. Without a hierarchy, predictions are those of the base estimator.

    Attributes
    ----------
    estimator_ : MultiLabelEstimator
        The fitted base estimator.
    hierarchy_ : Hierarchy
        The hierarchy.
    out_of_fold_scores_ : ndarray of shape (n_samples, n_labels)
        Scores of the training samples, projected, if the base estimator has them.

    See Also
    --------
    spmld.labels.Hierarchy : Inference of labels, and the projection.
    spmld.metrics.hierarchical_f1 : F1 of labels and their ancestors.
    MultiLabelEstimator : The attributes that all estimators share.

    Examples
    --------
    >>> from spmld import HierarchicalClassifier, MaskedLogistic
    >>> from spmld.datasets import make_planted
    >>> data = make_planted(n_samples=300, n_labels=4, observed_fraction=0.5, random_state=0)
    >>> hierarchy = {0: [1, 2], 2: [3]}
    >>> Y = (data.X[:, :1] > [-0.5, 0.0, 0.5, 1.0]).astype(float)
    >>> Y[::2, 0] = None  # missing, but implied where a child is positive
    >>> p = HierarchicalClassifier(MaskedLogistic(), hierarchy).fit(data.X, Y).predict_proba(data.X)
    >>> bool((p[:, 2] <= p[:, 0]).all()), bool((p[:, 3] <= p[:, 2]).all())
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [MultiLabelEstimator, None],
        "hierarchy": [Hierarchy, dict, list, tuple, None],
    }

    estimator: Any = None
    hierarchy: Any = None

    def _base_estimator(self) -> MultiLabelEstimator:
        return hierarchical_ensemble() if self.estimator is None else self.estimator

    def _read_hierarchy(self) -> Hierarchy:
        hierarchy = () if self.hierarchy is None else self.hierarchy
        return hierarchy if isinstance(hierarchy, Hierarchy) else Hierarchy(hierarchy)

    def _infer_labels(self, labels: Labels) -> Labels:
        return self._read_hierarchy().infer_labels(labels)

    def _weigh_labels(self, labels: Labels, entry_weight: Any) -> tuple[Labels, Any]:
        labels, _ = check_weights(entry_weight, labels)  # entries of weight 0 imply nothing
        inferred, weights = check_weights(entry_weight, self._infer_labels(labels))
        if (inferred.observed == labels.observed).all() or not self._accepts_entry_weight():
            return inferred, weights
        return inferred, weights * inference_weights(labels, inferred)

    def _fit(self, samples: Samples) -> None:
        self.hierarchy_ = self._read_hierarchy()
        self.estimator_ = clone(self._base_estimator()).fit_samples(samples, self.class_prior_)

    def _scores(self, X: Any) -> Array:
        return self._responses(X)[0]

    def _responses(self, X: Any) -> tuple[Any, Any]:
        p = self._probabilities_for(X)
        return move(log_odds(to_numpy(p)), p), p

    def _probabilities_for(self, X: Any, labels: Labels | None = None) -> Array:
        p = to_numpy(self.estimator_._probabilities_for(X, labels))
        return move(self._coherent_probabilities(p, labels), X)

    @property
    def out_of_fold_scores_(self) -> Array:
        """Log-odds of the projected out-of-fold probabilities, NaN for samples without them."""
        base = self.estimator_
        scores = base.out_of_fold_scores_
        scored = ~np.isnan(scores).any(axis=1)
        return spread(log_odds(self._project(base._probabilities(scores[scored]))), scored, len(scores))

    def _margins(self, scores: Any) -> Array:
        return self._project(self.estimator_._margins(scores))

    def _completion_margins(self, p: Any) -> Array:
        return self._project(self.estimator_._completion_margins(p))

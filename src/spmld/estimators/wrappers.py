"""WrapperEstimator, the base class of wrappers whose predictions agree with a hierarchy of labels."""

from typing import Any

import numpy as np
from sklearn.base import MetaEstimatorMixin
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import has_fit_parameter

from spmld._arrays import Array, move, to_numpy
from spmld.estimators.base import MultiLabelEstimator
from spmld.labels import Hierarchy, Labels


class WrapperEstimator(MetaEstimatorMixin, MultiLabelEstimator):
    """Base class of wrappers with the attribute `hierarchy_`, a `Hierarchy` or None.

    Subclasses pass probabilities to `_coherent_probabilities` and margins to `_project`. No label is then more probable
    than its parents, and the labels that are predicted contain all their ancestors.
    """

    estimator: Any
    hierarchy_: Hierarchy | None

    def _base_estimator(self) -> Any:
        """Return the unfitted base estimator."""
        return self.estimator

    def uses_trusted(self) -> bool:
        """Return whether the base estimator distinguishes verified entries."""
        base = self._base_estimator()
        return isinstance(base, MultiLabelEstimator) and base.uses_trusted()

    def _accepts_entry_weight(self) -> bool:
        base = self._base_estimator()
        if isinstance(base, MultiLabelEstimator):
            return base._accepts_entry_weight()
        return bool(has_fit_parameter(base, "entry_weight"))

    def _project(self, values: Any) -> Array:
        """Return the nearest values in which no label has a larger value than its parents."""
        if self.hierarchy_ is None:
            return values
        return move(self.hierarchy_.project(to_numpy(values), self.label_names_), values)

    def _coherent_probabilities(self, p: Any, labels: Labels | None) -> Array:
        """Return the nearest probabilities that agree with the hierarchy, given the observed labels if there are any.

        Labels have the probabilities 0 and 1 where they are observed.
        """
        if self.hierarchy_ is None or labels is None:
            return self._project(p)
        return move(self._project(np.where(labels.observed, labels.signs > 0, to_numpy(p))), p)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self._base_estimator()).input_tags.sparse
        return tags


def fitted_hierarchy(model: Any) -> Hierarchy | None:
    """Return the hierarchy with which the predictions of a fitted model agree, None if there is none.

    Examples
    --------
    >>> from spmld import HierarchicalClassifier, LabelPrior
    >>> from spmld.estimators.wrappers import fitted_hierarchy
    >>> model = HierarchicalClassifier(LabelPrior(), {0: [1]}).fit([[0], [1]], [[1, 0], [0, 0]])
    >>> fitted_hierarchy(model), fitted_hierarchy(model.estimator_)
    (Hierarchy(((0, 1),)), None)
    """
    hierarchy = getattr(model, "hierarchy_", None)
    if hierarchy is not None:
        return hierarchy if isinstance(hierarchy, Hierarchy) else None
    inner = model[-1] if isinstance(model, Pipeline) else None
    for name in ("best_estimator_", "estimator_"):
        inner = getattr(model, name, inner)
    return None if inner is None else fitted_hierarchy(inner)

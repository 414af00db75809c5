"""What fits of the views cost, and which views are affordable."""

import numpy as np
import scipy.sparse as sp

from spmld.estimators.label_boosting import LabelBoosting
from spmld.estimators.masked_boosting import is_affordable
from spmld.estimators.masked_forest import MaskedForest
from spmld.model_selection.samples import Samples

MAX_PRODUCT = 10**9
"""Maximum number of multiplications of a product with the label graph."""
LINEAR_VIEWS = ("linear", "ridge", "kernel")
"""Views that always enter by default."""


def uses_graph(
    n_features: int, n_labels: int, n_values: int, observed_fraction: float, max_product: int = MAX_PRODUCT
) -> bool:
    """Return whether the logistic views use the label graph.

    The product of the coefficients and the graph takes d l^2 multiplications. With the graph, a fit evaluates all
    entries, also where few of them are observed. Neither may take more than 10^9 multiplications.

    Parameters
    ----------
    n_features, n_labels : int
        d and l.
    n_values : int
        Number of stored values of X.
    observed_fraction : float
        Fraction of the entries that are observed.
    max_product : int, default=10**9
        Maximum number of multiplications.

    Examples
    --------
    >>> from spmld.ensemble.costs import uses_graph
    >>> uses_graph(2000, 50, n_values=100_000, observed_fraction=1.0)
    True
    """
    few = observed_fraction < 0.1
    return n_features * n_labels**2 <= max_product and not (few and n_values * n_labels > max_product)


def default_views(samples: Samples, max_cost: float) -> tuple[str, ...]:
    """Return the names of the default views.

    They are the linear views, "boosting" unless it takes long, and on dense features those of the views
    "label boosting" and "forest" of which a fit takes at most `max_cost` operations, in the order of their costs.

    Parameters
    ----------
    samples : Samples
        Samples.
    max_cost : float
        As in `SelfPacedEnsemble`.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.ensemble.costs import default_views
    >>> from spmld.labels import read_labels
    >>> from spmld.model_selection.samples import Samples
    >>> labels = read_labels(np.eye(400, 5))
    >>> default_views(Samples(np.ones((400, 20)), labels, labels.observed), max_cost=1e9)
    ('linear', 'ridge', 'kernel', 'boosting', 'label boosting', 'forest')
    """
    n, d, l = samples.shape
    shared = ("boosting",) if is_affordable(n, d, l) else ()
    costs = {} if sp.issparse(samples.X) else tree_costs(samples.n_observed / l, d, l)
    affordable = sorted((name for name, cost in costs.items() if cost <= max_cost), key=costs.__getitem__)
    return (*LINEAR_VIEWS, *shared, *affordable)


def tree_costs(n_samples: float, n_features: int, n_labels: int) -> dict[str, float]:
    """Return the predicted numbers of operations of a fit of the views that grow trees for each label.

    A tree of "label boosting" adds the derivatives of the samples to the intervals of each feature on each level, and
    scans these for each leaf. A tree of "forest" sorts the values of the candidate features on each level.

    Examples
    --------
    >>> from spmld.ensemble.costs import tree_costs
    >>> {name: f"{cost:.0e}" for name, cost in tree_costs(5000, 50, 10).items()}
    {'label boosting': '1e+09', 'forest': '5e+09'}
    """
    n = max(n_samples, 2.0)
    boosting = LabelBoosting()
    leaves = boosting.max_leaf_nodes
    of_tree = n_features * (n * np.log2(leaves) + leaves * boosting.max_bins)
    of_forest_tree = n * np.sqrt(n_features) * np.log2(n) ** 2
    return {
        "label boosting": n_labels * boosting.n_estimators * of_tree,
        "forest": n_labels * MaskedForest().n_estimators * of_forest_tree,
    }

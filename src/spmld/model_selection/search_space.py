"""Search spaces, with one notation for grid search, random search and Optuna.

A search space is a dictionary that maps parameter names to

====================== ===============================================================================
``[a, b, c]``          choices
``(low, high)``        uniform range, of integers if both bounds are
``(low, high, "log")`` log-uniform range with ``low > 0``
a distribution         of scipy.stats for ``method="random"``, of Optuna for ``method="optuna"``
====================== ===============================================================================
"""

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import stats

from spmld._io import need


def grid_space(space: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return lists of choices for scikit-learn's ParameterGrid.

    Examples
    --------
    >>> from spmld.model_selection.search_space import grid_space
    >>> grid_space({"alpha": [0.1, 1]})
    {'alpha': [0.1, 1]}
    """
    choices = {name: _choices(values) for name, values in _items(space)}
    for name, values in choices.items():
        if values is None:
            raise ValueError(f'space[{name!r}] must be a list of choices with method="grid", got {space[name]!r}')
    return choices  # type: ignore[return-value]


def random_space(space: Mapping[str, Any]) -> dict[str, Any]:
    """Return lists and distributions of scipy.stats for scikit-learn's ParameterSampler.

    Examples
    --------
    >>> from spmld.model_selection.search_space import random_space
    >>> bounds = random_space({"alpha": (1, 3)})["alpha"].support()
    >>> int(bounds[0]), int(bounds[1])
    (1, 3)
    """
    distributions = {}
    for name, values in _items(space):
        choices = _choices(values)
        if choices is not None or hasattr(values, "rvs"):
            distributions[name] = values if choices is None else choices
            continue
        low, high, log, integers = _range(name, values, "a distribution of scipy.stats")
        if integers:
            distributions[name] = _LogUniformInteger(low, high) if log else stats.randint(low, high + 1)
        else:
            distributions[name] = stats.loguniform(low, high) if log else stats.uniform(low, high - low)
    return distributions


def optuna_space(space: Mapping[str, Any]) -> dict[str, Any]:
    """Return distributions of Optuna.

    Examples
    --------
    >>> from spmld.model_selection.search_space import optuna_space
    >>> optuna_space({"alpha": (0.1, 10.0, "log")})
    {'alpha': FloatDistribution(high=10.0, log=True, low=0.1, step=None)}
    """
    optuna = need("optuna", "tune").distributions
    distributions: dict[str, Any] = {}
    for name, values in _items(space):
        choices = _choices(values)
        if choices is not None:
            distributions[name] = optuna.CategoricalDistribution(choices)
        elif isinstance(values, optuna.BaseDistribution):
            distributions[name] = values
        else:
            low, high, log, integers = _range(name, values, "a distribution of Optuna")
            kind = optuna.IntDistribution if integers else optuna.FloatDistribution
            distributions[name] = kind(low, high, log=log)
    return distributions


class _LogUniformInteger:
    """Log-uniform distribution of integers, which scipy.stats does not have."""

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high

    def rvs(self, random_state: Any = None) -> int:
        value = stats.loguniform(self.low - 0.5, self.high + 0.5).rvs(random_state=random_state)
        return int(np.clip(round(value), self.low, self.high))


def _items(space: Mapping[str, Any]) -> Any:
    if not isinstance(space, Mapping) or not space:
        raise ValueError(f"space must be a dictionary that maps parameter names to values, got {space!r}")
    return space.items()


def _choices(values: Any) -> list[Any] | None:
    return list(values) if isinstance(values, (list, np.ndarray)) and len(values) else None


def _range(name: str, values: Any, distribution: str) -> tuple[Any, Any, bool, bool]:
    """Return the bounds of a range, whether it is log-uniform, and whether it consists of integers."""
    log = isinstance(values, tuple) and len(values) == 3 and values[2] == "log"
    ends = values[:2] if log else values
    if (
        not isinstance(ends, tuple)
        or len(ends) != 2
        or not all(isinstance(end, Real) and not isinstance(end, bool) for end in ends)
        or not ends[0] < ends[1]
        or (log and ends[0] <= 0)
    ):
        raise ValueError(
            f'space[{name!r}] must be a list of choices, a range (low, high) or (low, high, "log") with low < high '
            f'(and 0 < low for "log"), or {distribution}, got {values!r}'
        )
    return ends[0], ends[1], log, all(isinstance(end, Integral) for end in ends)

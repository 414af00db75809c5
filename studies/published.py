"""Results of the paper, from ``published.json``."""

import json
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any


@dataclass(frozen=True)
class PublishedValue:
    """Entry of Tables 2 to 7: mean and standard deviation over ten runs, and its emphasis."""

    mean: float
    std: float
    mark: str


@dataclass(frozen=True)
class Contradiction:
    """Published ranking loss and AUC that contradict each other.

    Attributes
    ----------
    data, observed, method
        Place in the tables.
    total : float
        Ranking loss plus AUC. The loss of a sample is (wrong + tied) / pairs and its AUC is 1 - (wrong + tied / 2) /
        pairs, so that the sum is 1 plus half the fraction of tied pairs. It cannot be below 1.
    """

    data: str
    observed: float
    method: str
    total: float

    @property
    def ties(self) -> float:
        """Fraction of tied pairs implied by the sum; negative if the sum is impossible."""
        return 2 * (self.total - 1)

    @property
    def impossible(self) -> bool:
        """Whether no scores can have this sum."""
        return self.total < 1


@lru_cache(maxsize=1)
def _content() -> dict[str, Any]:
    return json.loads((resources.files("studies") / "published.json").read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def _values() -> dict[tuple[str, float, str, str], PublishedValue]:
    return {
        (data, observed, method, metric): PublishedValue(*value)
        for data, observed, method, metric, *value in _content()["values"]
    }


def published(data: str, observed: float, method: str | None, metric: str) -> PublishedValue | None:
    """Return a published value, or None if the paper does not have it.

    Examples
    --------
    >>> from studies.published import published
    >>> published("business", 0.3, "SPMLD", "ranking_loss")
    PublishedValue(mean=0.044, std=0.0021, mark='bold')
    """
    return _values().get((data, observed, method or "", metric))


def published_data() -> dict[str, dict[str, Any]]:
    """Return Table 1: samples, features, labels and labels per sample of each data set."""
    return _content()["data"]


def contradictions(rounding: float = 0.001) -> list[Contradiction]:
    """Return the published results whose ranking loss and AUC do not sum to 1.

    Parameters
    ----------
    rounding : float
        Tolerance of the sum, as both are printed with three decimals.

    Examples
    --------
    >>> from studies.published import contradictions
    >>> worst = min(contradictions(), key=lambda contradiction: contradiction.total)
    >>> worst.data, worst.method, round(worst.total, 3), worst.impossible
    ('education', 'ML-LRC', 0.973, True)
    """
    sums = [
        Contradiction(data, observed, method, value.mean + _values()[data, observed, method, "sample_auc"].mean)
        for (data, observed, method, metric), value in _values().items()
        if metric == "ranking_loss"
    ]
    return [pair for pair in sums if abs(pair.total - 1) > rounding + 1e-9]

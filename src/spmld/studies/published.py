"""The paper's numbers, from ``published.json``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

__all__ = ["Contradiction", "Published", "contradictions", "published", "published_data"]


@dataclass(frozen=True)
class Published:
    """A cell of Tables 2 to 7: mean and standard deviation over ten runs, and how it is printed."""

    mean: float
    std: float
    mark: str


@dataclass(frozen=True)
class Contradiction:
    """A pair of published cells that cannot both be right, or hardly.

    Attributes
    ----------
    data, observed, method
        Where.
    total : float
        Ranking loss plus AUC. Of one sample the loss is (wrong + tied) / pairs and the AUC 1 - (wrong + tied / 2) /
        pairs, so that they sum to 1 plus half the share of tied pairs: never less than 1.
    ties : float
        Share of tied pairs that the sum implies; negative if it is impossible.
    """

    data: str
    observed: float
    method: str
    total: float

    @property
    def ties(self) -> float:
        """Share of tied pairs that the sum implies."""
        return 2 * (self.total - 1)

    @property
    def impossible(self) -> bool:
        """Whether no scores at all can give the sum."""
        return self.total < 1


@lru_cache(maxsize=1)
def _content() -> dict[str, Any]:
    return json.loads((resources.files("spmld.studies") / "published.json").read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def _cells() -> dict[tuple[str, float, str, str], Published]:
    return {(data, rate, method, metric): Published(*rest) for data, rate, method, metric, *rest in _content()["cells"]}


def published(data: str, observed: float, method: str | None, metric: str) -> Published | None:
    """A published cell, None if the paper has none.

    Examples
    --------
    >>> from spmld.studies.published import published
    >>> published("business", 0.3, "SPMLD", "ranking_loss")
    Published(mean=0.044, std=0.0021, mark='bold')
    """
    return _cells().get((data, observed, method or "", metric))


def published_data() -> dict[str, dict[str, Any]]:
    """Table 1: samples, features, labels and labels per sample of each data set."""
    return _content()["data"]


def contradictions(rounding: float = 0.001) -> list[Contradiction]:
    """Published cells whose ranking loss and AUC do not sum to 1.

    Parameters
    ----------
    rounding : float
        What the sum may lack or exceed, as both are printed with three decimals.

    Examples
    --------
    >>> from spmld.studies.published import contradictions
    >>> worst = min(contradictions(), key=lambda found: found.total)
    >>> worst.data, worst.method, round(worst.total, 3), worst.impossible
    ('education', 'ML-LRC', 0.973, True)
    """
    found = []
    for (data, rate, method, metric), cell in _cells().items():
        if metric == "ranking_loss":
            total = cell.mean + _cells()[data, rate, method, "sample_auc"].mean
            if abs(total - 1) > rounding + 1e-9:
                found.append(Contradiction(data, rate, method, total))
    return found

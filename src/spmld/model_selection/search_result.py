"""What a search found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spmld._table import TextTable

__all__ = ["SearchResult", "SearchTrial"]


@dataclass(frozen=True)
class SearchTrial:
    """One set of parameters, tried on all folds.

    Attributes
    ----------
    params : dict
        The parameters.
    score : float
        Mean of `fold_scores` over the folds in which the metric is defined; NaN if a fit failed.
    fold_scores : list of float
        The score of each fold, greater is better.
    seconds : float
        How long it took.

    Examples
    --------
    >>> from spmld.model_selection import SearchTrial
    >>> SearchTrial({"alpha": 0.1}, score=0.5, fold_scores=[0.4, 0.6], seconds=1.0).params
    {'alpha': 0.1}
    """

    params: dict[str, Any]
    score: float
    fold_scores: list[float]
    seconds: float


@dataclass(frozen=True)
class SearchResult:
    """Result of `tune`.

    Attributes
    ----------
    metric : str
        What was measured. Scores are signed so that greater is better.
    trials : list of SearchTrial
        All finished trials, those of an earlier run of the same study included.
    best_estimator : estimator or None
        Fitted on all rows with the best parameters; None if ``refit=False``.
    interrupted : bool
        Whether the search was stopped before its end.
    study : optuna.Study or None
        The study, with ``method="optuna"``.

    Examples
    --------
    >>> from spmld.model_selection import SearchTrial, SearchResult
    >>> found = SearchResult("macro_f1", [SearchTrial({"a": 1}, 0.5, [0.4, 0.6], 1.0), SearchTrial({"a": 2}, 0.7, [0.7, 0.7], 1.0)])
    >>> found.best_params, found.best_score
    ({'a': 2}, 0.7)
    >>> print(found)
    macro_f1 over 2 trials, greater is better
      0.700000  {'a': 2}
      0.500000  {'a': 1}
    """

    metric: str
    trials: list[SearchTrial]
    best_estimator: Any = field(default=None, repr=False)
    interrupted: bool = False
    study: Any = field(default=None, repr=False)

    @property
    def ranked(self) -> list[SearchTrial]:
        """Trials from the best to the worst, the earlier first among equals; failed ones last."""
        return sorted(self.trials, key=lambda trial: np.inf if np.isnan(trial.score) else -trial.score)

    @property
    def best_params(self) -> dict[str, Any]:
        """Parameters of the best trial."""
        return self.ranked[0].params

    @property
    def best_score(self) -> float:
        """Score of the best trial."""
        return self.ranked[0].score

    def to_frame(self) -> Any:
        """Trials as a DataFrame: a column for each parameter, then score, seconds and the score of each fold."""
        import pandas as pd

        folds = max(len(trial.fold_scores) for trial in self.trials)
        return pd.DataFrame(
            [
                {
                    **trial.params,
                    "score": trial.score,
                    "seconds": trial.seconds,
                    **{f"fold_{i}": (trial.fold_scores + [np.nan] * folds)[i] for i in range(folds)},
                }
                for trial in self.trials
            ]
        )

    def _headline(self) -> str:
        stopped = ", stopped before the end" if self.interrupted else ""
        return f"{self.metric} over {len(self.trials)} trials, greater is better{stopped}"

    def __str__(self) -> str:
        return "\n".join([self._headline(), *(f"  {trial.score:.6f}  {trial.params}" for trial in self.ranked[:5])])

    def _repr_html_(self) -> str:
        names = list(dict.fromkeys(name for trial in self.trials for name in trial.params))
        rows = [[*(trial.params.get(name, "") for name in names), trial.score] for trial in self.ranked[:5]]
        return TextTable([*names, "score"], rows, title=self._headline()).to_html()

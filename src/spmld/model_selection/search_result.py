"""Result of a search, and its trials."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spmld._io import need
from spmld._table import TextTable


@dataclass(frozen=True)
class SearchTrial:
    """Scores of one set of parameters.

    Attributes
    ----------
    params : dict
        Parameters.
    score : float
        Mean of `fold_scores` without NaN; NaN, with a FitFailedWarning, if a fit failed.
    fold_scores : list of float
        Score of each fold (greater is better); NaN where undefined or without an observed label.
    seconds : float
        Duration of the trial.

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
    scoring : str
        Name of the metric or scorer. Scores are signed so that greater is better.
    trials : list of SearchTrial
        All finished trials, including those of a stored study.
    best_estimator : estimator or None
        Estimator fitted on all samples with the best parameters; None if ``refit=False``.
    interrupted : bool
        Whether the search was stopped by Ctrl-C, in which case the finished trials are kept.
    study : optuna.Study or None
        The Optuna study if ``method="optuna"``, which requires ``pip install "spmld[tune]"``; None otherwise.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from spmld.datasets import make_planted
    >>> from spmld.model_selection import tune
    >>> data, space = make_planted(n_samples=120, random_state=0), {"n_neighbors": [1, 15]}
    >>> result = tune(KNeighborsClassifier(), data.X, data.Y, space, scoring="hamming_loss", random_state=0)
    >>> result.best_params
    {'n_neighbors': 15}
    >>> print(result)
    hamming_loss over 2 trials, greater is better
      -0.135417  {'n_neighbors': 15}
      -0.165278  {'n_neighbors': 1}
    """

    scoring: str
    trials: list[SearchTrial]
    best_estimator: Any = field(default=None, repr=False)
    interrupted: bool = False
    study: Any = field(default=None, repr=False)

    @property
    def ranked(self) -> list[SearchTrial]:
        """Trials from best to worst; ties keep their order, and failed trials are last."""
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
        """Return the trials as a DataFrame with columns for the parameters, score, seconds and the scores of folds."""
        rows = []
        for trial in self.trials:
            folds = {f"fold_{i}": score for i, score in enumerate(trial.fold_scores)}
            rows.append({**trial.params, "score": trial.score, "seconds": trial.seconds, **folds})
        return need("pandas").DataFrame(rows)

    def _headline(self) -> str:
        interrupted = ", interrupted" if self.interrupted else ""
        return f"{self.scoring} over {len(self.trials)} trials, greater is better{interrupted}"

    def __str__(self) -> str:
        return "\n".join([self._headline(), *(f"  {trial.score:.6f}  {trial.params}" for trial in self.ranked[:5])])

    def _repr_html_(self) -> str:
        names = list(dict.fromkeys(name for trial in self.trials for name in trial.params))
        rows = [[*(trial.params.get(name, "") for name in names), trial.score] for trial in self.ranked[:5]]
        return TextTable([*names, "score"], rows, title=self._headline()).to_html()

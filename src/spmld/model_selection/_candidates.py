"""Where the next set of parameters comes from."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.utils import check_random_state

from spmld.model_selection.search_result import SearchTrial
from spmld.model_selection.search_space import grid_space, import_optuna, optuna_space, random_space

__all__ = ["ListedCandidates", "OptunaCandidates", "grid", "random"]


class ListedCandidates:
    """Sets of parameters that are known beforehand."""

    study = None

    def __init__(self, candidates: Sequence[dict[str, Any]]) -> None:
        self.candidates = candidates
        self.total = len(candidates)
        self.earlier: list[SearchTrial] = []

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.candidates)

    def tell(self, trial: SearchTrial) -> None:
        """Nothing is learned from a trial."""

    def drop(self) -> None:
        """Nothing is kept of a trial that was not finished."""


def grid(space: Mapping[str, Any]) -> ListedCandidates:
    """All combinations of choices."""
    return ListedCandidates(list(ParameterGrid(grid_space(space))))


def random(space: Mapping[str, Any], n_trials: int, random_state: Any) -> ListedCandidates:
    """Independent draws."""
    return ListedCandidates(list(ParameterSampler(random_space(space), n_trials, random_state=random_state)))


class OptunaCandidates:
    """Sets of parameters that optuna chooses by the scores so far; kept in `storage`, so that a study can go on.

    Parameters
    ----------
    space : mapping
        As `spmld.model_selection.search_space` describes. A stored study goes on with the same names only; ranges may change.
    n_trials : int
        Trials in all, earlier ones included.
    metric : str
        Name of the metric; a stored study goes on with the same one only.
    storage : path, URL, storage of optuna or None
        A path is an SQLite file; None is memory.
    name : str
        Name of the study in the storage.
    random_state : int, RandomState or None
        Seed.
    """

    def __init__(
        self, space: Mapping[str, Any], n_trials: int, metric: str, storage: Any, name: str, random_state: Any
    ) -> None:
        optuna = import_optuna()
        self._failed = optuna.trial.TrialState.FAIL
        self.distributions = optuna_space(space)
        if isinstance(storage, os.PathLike) or (isinstance(storage, str) and "://" not in storage):
            Path(storage).parent.mkdir(parents=True, exist_ok=True)
            storage = f"sqlite:///{os.fspath(storage)}"
        self.study = optuna.create_study(storage=storage, study_name=name, load_if_exists=True, direction="maximize")
        stored = self.study.user_attrs.get("metric", metric)
        if stored != metric:
            raise ValueError(f"metric must be {stored!r} as before in the study {name!r} of {storage}, got {metric!r}")
        self.study.set_user_attr("metric", metric)
        seed = None if random_state is None else check_random_state(random_state).randint(2**31 - 1)
        # The same seed again would draw the same parameters again.
        begun = len(self.study.trials)
        self.study.sampler = optuna.samplers.TPESampler(seed=None if seed is None else (seed + begun) % 2**31)
        self.earlier = [_read(trial) for trial in self.study.trials if "seconds" in trial.user_attrs]
        for trial in self.earlier:
            if set(trial.params) != set(space):
                raise ValueError(
                    f"space must name {', '.join(sorted(trial.params))} as before in the study {name!r} of {storage}, "
                    f"got {', '.join(sorted(space))}"
                )
        self.total = n_trials
        self._asked: Any = None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for _ in range(self.total - len(self.earlier)):
            self._asked = self.study.ask(self.distributions)
            yield self._asked.params

    def tell(self, trial: SearchTrial) -> None:
        """Keep a finished trial."""
        self._asked.set_user_attr("fold_scores", trial.fold_scores)
        self._asked.set_user_attr("seconds", trial.seconds)
        if np.isnan(trial.score):
            self.drop()
        else:
            self.study.tell(self._asked, trial.score)
        self._asked = None

    def drop(self) -> None:
        """Mark the trial at hand as failed."""
        if self._asked is not None:
            self.study.tell(self._asked, state=self._failed)


def _read(stored: Any) -> SearchTrial:
    """A trial from the storage; a failed one has no value there."""
    score = float("nan") if stored.value is None else stored.value
    return SearchTrial(stored.params, score, stored.user_attrs["fold_scores"], stored.user_attrs["seconds"])

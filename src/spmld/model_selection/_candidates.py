"""Candidates of a search: sets of parameters to evaluate."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.utils import check_random_state

from spmld._io import need, shorten
from spmld.model_selection.search_result import SearchTrial
from spmld.model_selection.search_space import grid_space, optuna_space, random_space

_SECONDS = "seconds"
"""Attribute of the trials of a study that were finished by `tune`."""


class Candidates:
    """A fixed list of candidates."""

    study = None

    def __init__(self, candidates: Sequence[dict[str, Any]]) -> None:
        self.candidates = candidates
        self.total = len(candidates)
        self.finished: list[SearchTrial] = []

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.candidates)

    def tell(self, trial: SearchTrial) -> None:
        """Ignore a finished trial."""

    def discard(self) -> None:
        """Ignore an interrupted trial."""


def grid_candidates(space: Mapping[str, Any]) -> Candidates:
    """Return all combinations of choices."""
    return Candidates(list(ParameterGrid(grid_space(space))))


def random_candidates(space: Mapping[str, Any], n_trials: int, random_state: Any) -> Candidates:
    """Return independent draws."""
    return Candidates(list(ParameterSampler(random_space(space), n_trials, random_state=random_state)))


class OptunaCandidates:
    """Candidates proposed by Optuna from the scores so far, in a study that can be resumed.

    Parameters
    ----------
    space : mapping
        Search space; see `spmld.model_selection.search_space`. To resume a study the names of the parameters must be
        the same; ranges may differ.
    n_trials : int
        Number of trials, including those of the stored study.
    scoring : str
        Name of the metric or scorer; it must be the same to resume a study.
    storage : path, URL, optuna storage or None
        A path is an SQLite file. None keeps the study in memory.
    name : str
        Name of the study in the storage.
    random_state : int, RandomState or None
        Seed for the search.
    """

    def __init__(
        self, space: Mapping[str, Any], n_trials: int, scoring: str, storage: Any, name: str, random_state: Any
    ) -> None:
        optuna = need("optuna", "tune")
        self._fail = optuna.trial.TrialState.FAIL
        self.distributions = optuna_space(space)
        if isinstance(storage, os.PathLike) or (isinstance(storage, str) and "://" not in storage):
            Path(storage).parent.mkdir(parents=True, exist_ok=True)
            storage = f"sqlite:///{os.fspath(storage)}"
        self._place = None if storage is None else f"the study {name!r} of {storage}"
        options = {"storage": storage, "study_name": name, "load_if_exists": True, "direction": "maximize"}
        with self._clear_errors():
            self.study = optuna.create_study(**options)
            stored = self.study.trials
        # A process can be killed after it has stored the seconds of a trial, and before it has stored its score.
        self.finished = [
            _to_trial(trial) for trial in stored if trial.state.is_finished() and _SECONDS in trial.user_attrs
        ]
        self._check_resumed(space, scoring, f"to resume the study {name!r} of {storage}")
        self.study.set_user_attr("scoring", scoring)
        seed = None if random_state is None else check_random_state(random_state).randint(2**31 - 1)
        # Without the shift a resumed study would draw the same candidates again.
        shift = len(self.study.trials)
        self.study.sampler = optuna.samplers.TPESampler(seed=None if seed is None else (seed + shift) % 2**31)
        self.total = n_trials
        self._asked: Any = None

    def _check_resumed(self, space: Mapping[str, Any], scoring: str, purpose: str) -> None:
        stored = self.study.user_attrs.get("scoring", scoring)
        if stored != scoring:
            raise ValueError(f"scoring must be {stored!r} {purpose}, got {scoring!r}")
        for trial in self.finished:
            if set(trial.params) != set(space):
                expected, names = (", ".join(sorted(params)) for params in (trial.params, space))
                raise ValueError(f"space must have the parameters {expected} {purpose}, got {names}")

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for _ in range(self.total - len(self.finished)):
            with self._clear_errors():
                self._asked = self.study.ask(self.distributions)
            yield self._asked.params

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        """Raise errors of a storage with its name and their cause; Optuna's own message hides it."""
        try:
            yield
        except Exception as error:  # of Optuna, SQLAlchemy or a database
            if self._place is None:
                raise
            cause = error.__cause__ or error
            reason = f"{getattr(cause, 'orig', cause)}; free some space, pass another file, or restore it from a copy"
            raise ValueError(shorten(f"{self._place} cannot be read or written: {reason}")) from error

    def tell(self, trial: SearchTrial) -> None:
        """Store a finished trial."""
        with self._clear_errors():
            self._asked.set_user_attr("fold_scores", trial.fold_scores)
            self._asked.set_user_attr(_SECONDS, trial.seconds)
            if np.isnan(trial.score):
                self.discard()
            else:
                self.study.tell(self._asked, trial.score)
        self._asked = None

    def discard(self) -> None:
        """Store the current trial as failed."""
        if self._asked is not None:
            self.study.tell(self._asked, state=self._fail)


def _to_trial(stored: Any) -> SearchTrial:
    """Return a stored trial; failed ones have no value in the storage."""
    score = float("nan") if stored.value is None else stored.value
    return SearchTrial(stored.params, score, stored.user_attrs["fold_scores"], stored.user_attrs[_SECONDS])

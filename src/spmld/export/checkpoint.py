"""Checkpoint: finished fits in a folder, so that a longer fit or search can be resumed after an interruption."""

import time
import warnings
from pathlib import Path
from typing import Any, Self

import joblib
import numpy as np
from sklearn.base import clone

import spmld
from spmld._io import StrPath
from spmld.cluster.cluster_samples import ClusterSamples
from spmld.estimators.progress import RECORDER
from spmld.export.contents import replace_parts, without_callback
from spmld.export.model_file import ModelFileError, load, save
from spmld.model_selection.samples import Samples

_NOT_IN_KEY = {"callback", "verbose", "n_jobs"}
"""Attributes that do not change the result of a fit."""


class Checkpoint:
    """Folder of finished fits. Fits in its block are stored, and loaded when the same block runs again.

    A process can be killed at any time. When it is started again, the fits that were running are repeated, and finished
    fits with the same parameters and data are loaded. Composite estimators, such as `SelfPacedEnsemble` and searches,
    consist of many fits. The result is the same as without an interruption.

    A fit is identified by a hash of the version of spmld, the parameters and all data, in memory or on the workers
    of a Dask cluster.

    Fits are not stored if they are shorter than `min_seconds`, if `random_state` is not an integer, if they run in
    other threads or processes (`n_jobs`) or on a GPU, or if the estimator cannot be written to a model file. The files
    of the fits inside a fit are deleted when that fit is stored.

    Parameters
    ----------
    folder : str or path-like
        Folder. It is created if it does not exist. Finished fits are model files: no code from them is executed.
    min_seconds : float, default=0.1
        Minimum duration of a fit to store.

    Attributes
    ----------
    n_loaded, n_stored : int
        Numbers of fits that were loaded and stored.
    n_files : int
        Number of finished fits in the folder; those inside a finished fit do not count.

    Examples
    --------
    >>> import tempfile
    >>> from spmld import MaskedLogistic
    >>> from spmld.datasets import make_planted
    >>> from spmld.export import Checkpoint
    >>> data, model = make_planted(n_samples=300, random_state=0), MaskedLogistic()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Checkpoint(folder, min_seconds=0):
    ...         scores = model.fit(data.X, data.Y).decision_function(data.X)
    ...     with Checkpoint(folder, min_seconds=0) as checkpoint:
    ...         again = model.fit(data.X, data.Y).decision_function(data.X)
    >>> checkpoint.n_loaded, bool((scores == again).all())
    (1, True)
    """

    def __init__(self, folder: StrPath, *, min_seconds: float = 0.1) -> None:
        self.folder = Path(folder)
        self.min_seconds = min_seconds
        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(f"{self.folder} is a file; pass the name of a folder")
        self.n_loaded = self.n_stored = 0
        self._running: list[list[Path]] = [[]]  # files of finished fits inside each running fit

    def __enter__(self) -> Self:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise type(error)(f"cannot create the checkpoint {self.folder}: {error.strerror}") from None
        self._token = RECORDER.set(self)
        return self

    def __exit__(self, *error: object) -> None:
        RECORDER.reset(self._token)

    @property
    def n_files(self) -> int:
        """Number of finished fits in the folder."""
        return len(list(self.folder.glob("fit-*.skops")))

    def clear(self) -> None:
        """Delete the files of the checkpoint, and the folder if it has no other files."""
        for file in [*self.folder.glob("fit-*.skops"), *self.folder.glob(".*-part-fit-*.skops")]:
            file.unlink(missing_ok=True)
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            self.folder.rmdir()

    def fit(self, estimator: Any, samples: Samples | ClusterSamples) -> None:
        """Fit an estimator to validated samples, or load the same fit from the folder."""
        key = fingerprint(estimator, samples)
        if key is None:  # the fits inside it may be stored
            estimator._fit(samples)
            return
        file = self.folder / f"fit-{key}.skops"
        if file.exists():
            self._load(estimator, file)
            self._running[-1].append(file)
            return
        start = time.perf_counter()
        before = dict(vars(estimator))
        self._running.append([])
        try:
            estimator._fit(samples)
        finally:
            inner = self._running.pop()
        fitted = {name: value for name, value in vars(estimator).items() if value is not before.get(name)}
        if time.perf_counter() - start >= self.min_seconds and self._store(estimator, fitted, file):
            for other in inner:
                other.unlink(missing_ok=True)
            inner = [file]
        self._running[-1] += inner

    def _load(self, estimator: Any, file: Path) -> None:
        try:
            stored = load(file)
        except ModelFileError as error:
            raise ModelFileError(f"{error}; delete this file of the checkpoint to repeat its fit") from error
        parameters = estimator.get_params(deep=False)
        vars(estimator).update({name: value for name, value in vars(stored).items() if name not in parameters})
        self.n_loaded += 1

    def _store(self, estimator: Any, fitted: dict[str, Any], file: Path) -> bool:
        """Write the attributes that a fit has set, and return whether that is possible."""
        # The clone is without what scikit-learn's pipelines attach to the estimator.
        estimator = clone(replace_parts(estimator, without_callback))
        vars(estimator).update(fitted)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # of types that would not be loaded
                save(estimator, file)
        except (ModelFileError, UserWarning):
            return False
        self.n_stored += 1
        return True


def fingerprint(estimator: Any, samples: Samples | ClusterSamples) -> str | None:
    """Return a hash of all that the result of a fit depends on: version, parameters and data; None if it is random."""
    if not isinstance(getattr(estimator, "random_state", 0), (int, np.integer)) or hasattr(samples.example, "detach"):
        return None
    estimator = replace_parts(estimator, without_callback)
    labels = samples.labels
    state = vars(estimator) if getattr(estimator, "warm_start", False) else estimator.get_params(deep=False)
    state = {name: value for name, value in state.items() if name not in _NOT_IN_KEY}
    form = labels.classes, labels.names, labels.one_dimensional, labels.trusted
    groups = getattr(estimator, "_pacing_groups", None)
    content = (spmld.__version__, type(estimator).__qualname__, state, samples.hashes(), form, groups)
    try:
        return str(joblib.hash(content, hash_name="sha1"))
    except Exception:  # a parameter cannot be pickled, such as a function in a function
        return None

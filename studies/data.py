"""Data sets of the studies."""

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp
from sklearn.model_selection import KFold

from spmld._io import StrPath, reading
from spmld.datasets import Dataset, describe, fetch_dataset, make_planted
from spmld.datasets.dataset import join_split
from spmld.datasets.registry import find_file, local_files, parse_registry

PAPER_DATA = parse_registry(Path(__file__).with_name("paper_data.toml").read_text(encoding="utf-8"))
"""Data sets of the paper, with the splits of its authors."""

CANDIDATE_DATA = {"mirflickr": "mirflickr.mat", "yeastbp": "YeastBP.mat", "yeastmf": "YeastMF.mat"}
"""Files of the data sets with candidate labels and true labels."""

N_FOLDS = 10
"""Number of test folds of the data sets with candidate labels."""


@dataclass(frozen=True, eq=False, repr=False)
class CandidateDataset(Dataset):
    """Data set whose training labels are candidates, some of them wrong; `Y` are the true labels.

    Parameters
    ----------
    X, Y, feature_names, label_names, name, train, test
        As in `Dataset`.
    candidates : ndarray of shape (n_samples, n_labels)
        Candidate labels.
    """

    candidates: Any = None

    @property
    def candidates_train(self) -> Any:
        """Candidate labels of the training samples."""
        return self.candidates[self.train]


@lru_cache(maxsize=2)
def load(name: str, fold: int = 0) -> Dataset:
    """Return a data set with its split into training and test samples.

    Parameters
    ----------
    name : str
        Name in `PAPER_DATA` or in `spmld.datasets.list_datasets`, name of a data set with candidate labels in the
        folder ``SPMLD_DATA``, or "planted" for a small generated data set.
    fold : int
        Number of the test fold of a data set with candidate labels, modulo `N_FOLDS`. Other data sets have an official
        split, and ignore it.

    Examples
    --------
    >>> from studies.data import load
    >>> load("planted")
    Dataset 'planted': 400 samples (200 train, 200 test), 15 dense features, 8 labels
    """
    if name in CANDIDATE_DATA:
        return _load_candidates(name, fold)
    if name in PAPER_DATA:
        return replace(read_mat(local_files(PAPER_DATA[name])[0]), name=name)
    if name != "planted":
        return fetch_dataset(name)
    data = make_planted(n_samples=400, n_features=15, n_labels=8, random_state=0)
    # Samples are sorted by group, so that every second sample is a stratified half.
    return Dataset(data.X, data.Y, name=name, train=np.arange(0, 400, 2), test=np.arange(1, 400, 2))


def _load_candidates(name: str, fold: int) -> CandidateDataset:
    candidates, truth = _read_candidates(find_file(CANDIDATE_DATA[name]))
    folds = list(KFold(N_FOLDS, shuffle=True, random_state=0).split(truth.Y))
    train, test = folds[fold % N_FOLDS]
    return CandidateDataset(truth.X, truth.Y, name=name, train=train, test=test, candidates=candidates.Y)


@lru_cache(maxsize=2)
def _read_candidates(file: Path) -> tuple[Dataset, Dataset]:
    """Return the data with candidate labels and with true labels, which the folds share."""
    return read_mat(file), read_mat(file, labels="target")


def fold_ratio(name: str) -> float:
    """Return the number of test samples divided by the number of training samples of the folds of a data set.

    It is 0 for data sets with an official split, whose masks are drawn independently.

    Examples
    --------
    >>> from studies.data import fold_ratio
    >>> round(fold_ratio("yeastbp"), 3), fold_ratio("emotions")
    (0.111, 0.0)
    """
    return 1 / (N_FOLDS - 1) if name in CANDIDATE_DATA else 0.0


def size(name: str) -> dict[str, Any]:
    """Return the row of a data set in Table 1 and the fraction of its test samples whose features are all zero.

    Examples
    --------
    >>> from studies.data import size
    >>> size("planted")
    {'samples': 400, 'features': 15, 'labels': 8, 'cardinality': 1.225, 'empty': 0.0}
    """
    data = load(name)
    description = describe(data)
    return {
        "samples": description.n_samples,
        "features": description.n_features,
        "labels": description.n_labels,
        "cardinality": description.cardinality,
        "empty": float(np.mean(abs(data.X_test).sum(axis=1) == 0)),
    }


def read_mat(path: StrPath, *, labels: str = "partial_labels") -> Dataset:
    """Read a MATLAB file in one of two layouts. SciPy's reader can crash on damaged files: read only files you trust.

    The files of the paper's authors have the variables ``train`` and ``test``, or a struct ``data`` of both. Each is a
    cell {features, labels} with samples in columns. Labels are -1 and 1, or 0 and 1. The two parts become the split of
    the data set.

    Files of partial multi-label learning have the variables ``data``, of shape (n_samples, n_features), and
    ``partial_labels`` and ``target``, of shape (n_labels, n_samples): the candidate labels, some of them wrong, and the
    true labels. Features with mostly zeros become sparse.

    Parameters
    ----------
    path : str or path-like
        File to read.
    labels : {"partial_labels", "target"}, default="partial_labels"
        Labels to read from a file of partial multi-label learning.
    """
    with reading(path, "a MATLAB file") as file:
        content = scipy.io.loadmat(file, appendmat=False, simplify_cells=True)
        if labels in content:
            return _candidate_data(content["data"], content[labels], file.stem)
        content = content.get("data", content)
        return join_split(_part(content["train"]), _part(content["test"]), file.stem)


def _candidate_data(X: Any, Y: Any, name: str) -> Dataset:
    X, Y = (values if sp.issparse(values) else np.atleast_2d(values) for values in (X, Y))
    if not sp.issparse(X) and np.count_nonzero(X) < 0.1 * X.size:
        X = sp.csr_array(X)
    return Dataset(X, Y.T, name=name)


def _part(cell: Any) -> Dataset:
    features, labels = (values.T if sp.issparse(values) else np.atleast_2d(values).T for values in cell)
    return Dataset(features, labels)

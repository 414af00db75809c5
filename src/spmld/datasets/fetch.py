"""Data sets by name: from the folder ``SPMLD_DATA``, from the cache, or by download."""

from __future__ import annotations

import hashlib
import os
import warnings
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from spmld._io import need
from spmld.datasets.arff import read_arff
from spmld.datasets.dataset import Dataset, join_split
from spmld.datasets.files import read_dataset, refuse_unknown
from spmld.datasets.matlab import read_mat
from spmld.datasets.openml import read_openml
from spmld.datasets.registry import DatasetInfo, RemoteFile, dataset_info, list_datasets

__all__ = ["cache_folder", "checksum", "fetch_dataset", "fetch_files", "find_file", "load_dataset"]


def find_file(name: str) -> Path:
    """A file below the folder that the environment variable ``SPMLD_DATA`` names.

    Parameters
    ----------
    name : str
        File name; case does not matter.

    Returns
    -------
    Path

    Raises
    ------
    FileNotFoundError
        If the variable is not set, or no file below the folder has this name.

    Examples
    --------
    With the paper's data in a folder:

    >>> find_file("business.mat")  # doctest: +SKIP
    PosixPath('data/Business.mat')
    """
    folder = os.environ.get("SPMLD_DATA")
    if not folder:
        raise FileNotFoundError(f"{name}: set the environment variable SPMLD_DATA to a folder that holds it")
    found = sorted(path for path in Path(folder).rglob("*") if path.name.lower() == name.lower() and path.is_file())
    if not found:
        raise FileNotFoundError(f"{name} is not below SPMLD_DATA={folder}")
    return found[0]


def cache_folder() -> Path:
    """Where downloads are kept: the folder ``SPMLD_CACHE``, or by default the system's place for caches."""
    given = os.environ.get("SPMLD_CACHE")
    return Path(given) if given else Path(need("pooch").os_cache("spmld"))


def checksum(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets.fetch import checksum
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     checksum(file.name)[:8]
    'e3b0c442'
    """
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fetch_files(name: str, *, progress: bool = False) -> list[Path]:
    """The files of a data set of the registry, on this machine.

    Parameters
    ----------
    name : str
        Name in the registry.
    progress : bool, default=False
        Whether to show how a download goes on.

    Returns
    -------
    list of Path
        In the order of the registry.

    Warns
    -----
    UserWarning
        If a file below ``SPMLD_DATA`` has another checksum than the registry says.

    Raises
    ------
    ConnectionError
        If a file is not there and cannot be downloaded. The message says what to do.

    Examples
    --------
    It downloads what is not there:

    >>> [path.name for path in fetch_files("emotions")]  # doctest: +SKIP
    ['emotions-train.arff', 'emotions-test.arff', 'emotions.xml']
    """
    info = dataset_info(name)
    return [_find(file) or _download(file, info, progress) for file in info.files]


def fetch_dataset(name: str, *, progress: bool = False) -> Dataset:
    """A data set of the registry, with its official split.

    Files are looked for below the folder ``SPMLD_DATA``, then in the cache, and downloaded if they are in neither.

    Parameters
    ----------
    name : str
        Name in the registry, see `list_datasets`.
    progress : bool, default=False
        Whether to show how a download goes on.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from spmld.datasets import fetch_dataset
    >>> fetch_dataset("emotions")  # doctest: +SKIP
    Dataset 'emotions': 593 samples (391 train, 202 test), 72 dense features, 6 labels
    """
    info = dataset_info(name)
    files = fetch_files(name, progress=progress)
    if len(files) == 1:
        data = replace(read_mat(files[0]), name=info.name)
    else:
        train, test, xml = files
        data = join_split(read_arff(train, xml=xml), read_arff(test, xml=xml), info.name)
    found = (len(data.train), len(data.test), data.X.shape[1], data.Y.shape[1])
    expected = (info.n_train, info.n_test, info.n_features, info.n_labels)
    if found != expected:
        sizes = "{} training and {} test samples, {} features and {} labels"
        where = ", ".join(map(str, files))
        raise ValueError(f"{where}: {info.name} has {sizes.format(*expected)}, but found {sizes.format(*found)}")
    return data


def load_dataset(source: str | os.PathLike[str], *, progress: bool = False, **options: Any) -> Dataset:
    r"""A data set from a file, from the registry by name, or from OpenML as ``openml:number`` or ``openml:name``.

    Parameters
    ----------
    source : str or path
        A file if there is one, else a name.
    progress : bool, default=False
        Whether to show how a download goes on.
    **options
        For a file: those of `read_dataset`. For OpenML: those of `read_openml`.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets import load_dataset
    >>> with tempfile.NamedTemporaryFile("w", suffix=".svm") as file:
    ...     print("0,1 1:0.5", "1 1:1", sep="\n", file=file, flush=True)
    ...     load_dataset(file.name).Y.tolist()
    [[1, 1], [0, 1]]
    """
    text = os.fspath(source)
    if text.startswith("openml:"):
        refuse_unknown(options, read_openml, f"{text} is read from OpenML")
        return read_openml(text.removeprefix("openml:"), **options)
    if text.lower() in {info.name for info in list_datasets()} and not Path(text).is_file():
        if options:
            raise ValueError(f"{text} is a data set of the registry, which takes no {', '.join(options)}")
        return fetch_dataset(text, progress=progress)
    if not Path(text).exists() and not Path(text).suffix:
        names = ", ".join(info.name for info in list_datasets())
        raise FileNotFoundError(f"there is no file {text}, nor a data set of that name; there are {names}")
    return read_dataset(source, **options)


def _find(file: RemoteFile) -> Path | None:
    try:
        path = find_file(file.name)
    except FileNotFoundError:
        return None
    if file.sha256 is not None and checksum(path) != file.sha256:
        warnings.warn(f"{path} is not the file of the registry: its SHA-256 differs", stacklevel=4)
    return path


def _download(file: RemoteFile, info: DatasetInfo, progress: bool) -> Path:
    pooch, requests = need("pooch"), need("requests")
    pooch.get_logger().setLevel("WARNING")
    folder = cache_folder() / info.name
    show = progress and find_spec("tqdm") is not None
    try:
        path = pooch.retrieve(
            file.address,
            known_hash=file.sha256 and f"sha256:{file.sha256}",
            fname=file.name,
            path=folder,
            downloader=pooch.HTTPDownloader(progressbar=show, timeout=30),
        )
    except requests.RequestException as error:
        status = getattr(error.response, "status_code", None)
        reason = f"the server answered {status}" if status else type(error).__name__
        looked = os.environ.get("SPMLD_DATA") or "which is not set"
        addresses = ", ".join(each.address for each in info.files)
        raise ConnectionError(
            f"{file.name} is neither below SPMLD_DATA ({looked}) nor in the cache {folder}, and its download failed "
            f"({reason}). Save {addresses} in a folder, and set the environment variable SPMLD_DATA to that folder"
        ) from None  # the reason is named, and the trace of a download is long
    except ValueError as error:
        raise ValueError(
            f"{file.address} is not the file of the registry: its SHA-256 is not {file.sha256}. Try again later, or "
            "set SPMLD_DATA to a folder that holds the file"
        ) from error
    return Path(path)

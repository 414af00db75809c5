"""Loading data sets by name: from the folder ``SPMLD_DATA``, from the cache, or by download."""

import hashlib
import os
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from spmld._io import StrPath, need
from spmld._validation import did_you_mean
from spmld.datasets.arff import read_arff
from spmld.datasets.dataset import Dataset, join_split
from spmld.datasets.files import check_options, read_dataset
from spmld.datasets.openml import read_openml
from spmld.datasets.registry import DatasetInfo, RemoteFile, dataset_info, list_datasets


def find_file(name: str) -> Path:
    """Return the path of a file in the folder ``SPMLD_DATA``, an environment variable, or in its subfolders.

    Parameters
    ----------
    name : str
        File name, not case-sensitive.

    Raises
    ------
    FileNotFoundError
        If the variable is not set or there is no such file.

    Examples
    --------
    >>> find_file("emotions.xml")  # doctest: +SKIP
    PosixPath('data/emotions.xml')
    """
    folder = os.environ.get("SPMLD_DATA")
    if not folder:
        raise FileNotFoundError(f"cannot find {name}: set the environment variable SPMLD_DATA to its folder")
    paths = sorted(path for path in Path(folder).rglob("*") if path.name.lower() == name.lower() and path.is_file())
    if not paths:
        raise FileNotFoundError(f"cannot find {name} in SPMLD_DATA={folder}")
    return paths[0]


def cache_folder() -> Path:
    """Return the folder of downloaded files: ``SPMLD_CACHE`` or, by default, the cache folder of the system."""
    return Path(os.environ.get("SPMLD_CACHE") or need("pooch").os_cache("spmld"))


def checksum(path: StrPath) -> str:
    """Return the SHA-256 of a file.

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
    """Return the local files of a data set in the registry; see `fetch_dataset` for the parameters.

    Returns
    -------
    list of Path
        Files in the order of the registry.

    Warns
    -----
    UserWarning
        If the checksum of a file in ``SPMLD_DATA`` differs from the registry.

    Raises
    ------
    ConnectionError
        If a file cannot be found or downloaded.

    Examples
    --------
    >>> [path.name for path in fetch_files("emotions")]  # doctest: +SKIP
    ['emotions-train.arff', 'emotions-test.arff', 'emotions.xml']
    """
    return local_files(dataset_info(name), progress=progress)


def local_files(info: DatasetInfo, *, progress: bool = False) -> list[Path]:
    """Return the local files of a data set, which are downloaded if they are not found."""
    return [_find(file) or _download(file, info, progress) for file in info.files]


def fetch_dataset(name: str, *, progress: bool = False) -> Dataset:
    """Load a data set from the registry, with its official split.

    Files are looked up in the folder ``SPMLD_DATA`` and in the cache, and downloaded if not found.

    Parameters
    ----------
    name : str
        Name in the registry, see `list_datasets`.
    progress : bool, default=False
        Whether to show a progress bar for downloads.

    Examples
    --------
    >>> from spmld.datasets import fetch_dataset
    >>> fetch_dataset("emotions")  # doctest: +SKIP
    Dataset 'emotions': 593 samples (391 train, 202 test), 72 dense features, 6 labels
    """
    info = dataset_info(name)
    files = train, test, xml = local_files(info, progress=progress)
    data = join_split(read_arff(train, xml=xml), read_arff(test, xml=xml), info.name)
    sizes = (len(data.train), len(data.test), data.X.shape[1], data.Y.shape[1])
    expected = (info.n_train, info.n_test, info.n_features, info.n_labels)
    if sizes != expected:
        text = "{} training and {} test samples, {} features and {} labels"
        raise ValueError(
            f"{info.name} should have {text.format(*expected)}, got {text.format(*sizes)} in "
            f"{', '.join(map(str, files))}"
        )
    return data


def load_dataset(source: StrPath, *, progress: bool = False, **options: Any) -> Dataset:
    """Load a data set from a file, from the registry or from OpenML.

    Parameters
    ----------
    source : str or path-like
        File, name in the registry, ``openml:number`` or ``openml:name``. A file has priority over a name.
    progress
        As in `fetch_dataset`.
    **options
        Options of `read_dataset` for a file, or of `read_openml`.

    Examples
    --------
    >>> from spmld.datasets import load_dataset
    >>> load_dataset("songs.csv", prefix="is_")  # doctest: +SKIP
    >>> load_dataset("emotions")  # doctest: +SKIP
    >>> load_dataset("openml:yeast", version=4)  # doctest: +SKIP
    """
    text = os.fspath(source)
    if text.startswith("openml:"):
        check_options(options, read_openml, f"{text} is read from OpenML")
        return read_openml(text.removeprefix("openml:"), **options)
    if text.lower() in {info.name for info in list_datasets()} and not Path(text).is_file():
        if options:
            raise ValueError(
                f"{text} is a data set in the registry, which accepts no options, got {', '.join(options)}"
            )
        return fetch_dataset(text, progress=progress)
    if not Path(text).exists() and not Path(text).suffix:
        names = [info.name for info in list_datasets()]
        hint = did_you_mean(text, names)
        raise FileNotFoundError(
            f"{text} is neither an existing file nor a data set; available data sets: {', '.join(names)}{hint}"
        )
    return read_dataset(source, **options)


def _find(file: RemoteFile) -> Path | None:
    try:
        path = find_file(file.name)
    except FileNotFoundError:
        return None
    if checksum(path) != file.sha256:
        warnings.warn(f"{path} differs from the file in the registry: the SHA-256 checksums do not match", stacklevel=4)
    return path


def _download(file: RemoteFile, info: DatasetInfo, progress: bool) -> Path:
    pooch, requests = need("pooch"), need("requests")
    pooch.get_logger().setLevel("WARNING")
    folder = cache_folder() / info.name
    show = progress and find_spec("tqdm") is not None
    try:
        path = pooch.retrieve(
            file.address,
            known_hash=f"sha256:{file.sha256}",
            fname=file.name,
            path=folder,
            downloader=pooch.HTTPDownloader(progressbar=show, timeout=30),
        )
    except requests.RequestException as error:
        status = getattr(error.response, "status_code", None)
        reason = f"the server answered {status}" if status else type(error).__name__
        addresses = ", ".join(remote.address for remote in info.files)
        raise ConnectionError(
            f"{file.name} is neither in SPMLD_DATA ({os.environ.get('SPMLD_DATA') or 'not set'}) nor in the cache "
            f"{folder}, and its download failed ({reason}). Save {addresses} in a folder, and set the environment "
            "variable SPMLD_DATA to this folder"
        ) from None  # the message contains the reason, and the traceback of a download is long
    except ValueError as error:
        raise ValueError(
            f"{file.address} is not the file in the registry: its SHA-256 checksum is not {file.sha256}. Try "
            "again later, or set SPMLD_DATA to a folder with the file"
        ) from error
    return Path(path)

"""The registry of public data sets, whose files are in the folder ``SPMLD_DATA``, in the cache, or downloaded."""

import hashlib
import os
import tomllib
import warnings
from dataclasses import dataclass
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

from spmld._io import StrPath, need
from spmld.datasets.arff import read_arff
from spmld.datasets.dataset import Dataset, join_split


@dataclass(frozen=True)
class DatasetInfo:
    """An entry of the registry.

    Attributes
    ----------
    name, task : str
        Name to pass to `fetch_dataset`, and a short description of the samples and labels.
    n_train, n_test, n_features, n_labels : int
        Numbers of training samples and test samples in the official split, of features and of labels.
    files : dict of str
        SHA-256 checksums of the files by their addresses: training and test ARFF files, and the XML file with the label
        names. Downloads with another checksum raise an error.
    license : str
        License of the data set, if known.
    citation : str
        Publications to cite.

    Examples
    --------
    >>> from spmld.datasets.registry import dataset_info
    >>> info = dataset_info("emotions")
    >>> info.n_samples, info.n_features, info.n_labels
    (593, 72, 6)
    """

    name: str
    task: str
    n_train: int
    n_test: int
    n_features: int
    n_labels: int
    files: dict[str, str]
    license: str
    citation: str

    @property
    def n_samples(self) -> int:
        """Total number of training and test samples."""
        return self.n_train + self.n_test


def list_datasets() -> list[DatasetInfo]:
    """Return all entries of the registry.

    Examples
    --------
    >>> from spmld.datasets import list_datasets
    >>> [info.name for info in list_datasets()][:5]
    ['emotions', 'scene', 'yeast', 'enron', 'medical']
    """
    return list(_REGISTRY.values())


def dataset_info(name: str) -> DatasetInfo:
    """Return the entry of a data set by its name, which is not case-sensitive.

    Examples
    --------
    >>> from spmld.datasets.registry import dataset_info
    >>> dataset_info("Yeast").n_labels
    14
    """
    try:
        return _REGISTRY[name.lower()]
    except KeyError:
        raise ValueError(f"unknown data set {name!r}; available: {', '.join(_REGISTRY)}") from None


def parse_registry(text: str) -> dict[str, DatasetInfo]:
    """Return the entries of a TOML file. An entry inherits the fields that it does not have from its collection."""
    registry = {}
    for collection in tomllib.loads(text)["collections"]:
        root = collection.pop("root")
        entries = collection.pop("datasets")
        for entry in entries:
            entry["files"] = {root + path: sha256 for path, sha256 in entry["files"].items()}
            info = DatasetInfo(**{**collection, **entry})
            registry[info.name] = info
    return registry


_REGISTRY = parse_registry((resources.files("spmld.datasets") / "registry.toml").read_text(encoding="utf-8"))


def find_file(name: str) -> Path:
    """Return the path of a file in the folder ``SPMLD_DATA``, an environment variable, or in its subfolders.

    The name is not case-sensitive. Without the variable or the file, FileNotFoundError is raised.
    """
    folder = os.environ.get("SPMLD_DATA")
    if not folder:
        raise FileNotFoundError(f"cannot find {name}: set the environment variable SPMLD_DATA to its folder")
    paths = sorted(path for path in Path(folder).rglob("*") if path.name.lower() == name.lower() and path.is_file())
    if not paths:
        raise FileNotFoundError(f"cannot find {name} in SPMLD_DATA={folder}")
    return paths[0]


def checksum(path: StrPath) -> str:
    """Return the SHA-256 of a file.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets.registry import checksum
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     checksum(file.name)[:8]
    'e3b0c442'
    """
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def local_files(info: DatasetInfo, *, progress: bool = False) -> list[Path]:
    """Return the local files of a data set in the order of the registry, which are downloaded if they are not found.

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
    >>> [path.name for path in local_files(dataset_info("emotions"))]  # doctest: +SKIP
    ['emotions-train.arff', 'emotions-test.arff', 'emotions.xml']
    """
    return [_find(*file) or _download(*file, info, progress) for file in info.files.items()]


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


def _find(address: str, sha256: str) -> Path | None:
    try:
        path = find_file(address.rpartition("/")[2])
    except FileNotFoundError:
        return None
    if checksum(path) != sha256:
        warnings.warn(f"{path} differs from the file in the registry: the SHA-256 checksums do not match", stacklevel=4)
    return path


def _download(address: str, sha256: str, info: DatasetInfo, progress: bool) -> Path:
    pooch = need("pooch")
    requests = need("requests")
    pooch.get_logger().setLevel("WARNING")
    folder = Path(os.environ.get("SPMLD_CACHE") or pooch.os_cache("spmld")) / info.name
    name = address.rpartition("/")[2]
    show = progress and find_spec("tqdm") is not None
    try:
        path = pooch.retrieve(
            address,
            known_hash=f"sha256:{sha256}",
            fname=name,
            path=folder,
            downloader=pooch.HTTPDownloader(progressbar=show, timeout=30),
        )
    except requests.RequestException as error:
        status = getattr(error.response, "status_code", None)
        reason = f"the server answered {status}" if status else type(error).__name__
        raise ConnectionError(
            f"{name} is neither in SPMLD_DATA ({os.environ.get('SPMLD_DATA') or 'not set'}) nor in the cache "
            f"{folder}, and its download failed ({reason}). Save {', '.join(info.files)} in a folder, and set "
            "the environment variable SPMLD_DATA to this folder"
        ) from None  # the message contains the reason, and the traceback of a download is long
    except ValueError as error:
        raise ValueError(
            f"{address} is not the file in the registry: its SHA-256 checksum is not {sha256}. Try "
            "again later, or set SPMLD_DATA to a folder with the file"
        ) from error
    return Path(path)

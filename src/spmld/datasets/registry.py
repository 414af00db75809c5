"""The registry of public data sets: sizes, sources, checksums, licenses and citations."""

import tomllib
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True)
class RemoteFile:
    """A file of a data set.

    Attributes
    ----------
    address, sha256 : str
        URL and checksum of the file. Downloads with another checksum raise an error.

    Examples
    --------
    >>> from spmld.datasets import dataset_info
    >>> dataset_info("emotions").files[0].name
    'emotions-train.arff'
    """

    address: str
    sha256: str

    @property
    def name(self) -> str:
        """Last part of the address."""
        return self.address.rpartition("/")[2]


@dataclass(frozen=True)
class DatasetInfo:
    """An entry of the registry.

    Attributes
    ----------
    name, task : str
        Name to pass to `fetch_dataset`, and a short description of the samples and labels.
    n_train, n_test, n_features, n_labels : int
        Numbers of training samples and test samples in the official split, of features and of labels.
    files : tuple of RemoteFile
        Training and test ARFF files, and the XML file with the label names.
    licence : str
        License of the data set, as far as it is known.
    citation : str
        Publications to cite.

    Examples
    --------
    >>> from spmld.datasets import dataset_info
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
    files: tuple[RemoteFile, ...]
    licence: str
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
    >>> from spmld.datasets import dataset_info
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
        root, entries = collection.pop("root"), collection.pop("datasets")
        for entry in entries:
            files = [RemoteFile(root + path, sha256) for path, sha256 in entry.pop("files").items()]
            info = DatasetInfo(**{**collection, **entry}, files=tuple(files))
            registry[info.name] = info
    return registry


_REGISTRY = parse_registry((resources.files("spmld.datasets") / "registry.toml").read_text(encoding="utf-8"))

"""Content of samples for the page: text, images and features, and keys that identify samples."""

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from spmld.datasets import Dataset
from spmld.datasets.frames import identifier_text
from spmld.review.tables import EditableTable
from spmld.review.typed_tables import to_text

IMAGE_TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".bmp": "image/bmp",
}
"""File extensions of images that the page shows, and their media types."""
MAX_TEXT = 20_000
"""Maximum number of characters of a field that the page shows."""
MAX_FEATURES = 200
"""Maximum number of features that the page shows."""
_FEW = 12  # features that are shown even if they are 0
_TITLE = 90


def sample_keys(contents: Iterable[Any]) -> list[str]:
    """Return a key for each sample that depends only on its content, so that samples may be reordered.

    Parameters
    ----------
    contents : iterable
        Content of each sample, in types that JSON supports. Equal samples are numbered in their order.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from spmld.review import sample_keys
    >>> first, second, third = sample_keys(["a", "b", "a"])
    >>> first == sample_keys(["b", "a"])[1], third == first + "-2"
    (True, True)
    """
    seen: dict[str, int] = {}
    keys = []
    for content in contents:
        digest = hashlib.sha256(json.dumps(content, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()[
            :16
        ]
        seen[digest] = seen.get(digest, 0) + 1
        keys.append(digest if seen[digest] == 1 else f"{digest}-{seen[digest]}")
    return keys


def identifier_key(name: str) -> str:
    """Return the key of a sample with a unique identifier."""
    return sample_keys([{"id": name}])[0]


class TableSamples:
    r"""Samples in the rows of a table.

    Parameters
    ----------
    table : TableFile, JsonLines, ExcelTable or ParquetTable
        Table, see `open_table`.
    labels : collection of str
        Columns of labels, which are neither shown nor part of the keys.
    image : str, optional
        Column with paths of images, relative to `folder`. Files outside of `folder` are not shown.
    folder : Path, optional
        Folder of the table.
    id : str, optional
        Column that identifies the samples. If its values are unique, keys depend on them only, so that other columns
        may change. By default, keys depend on all columns that are not labels.

    Examples
    --------
    >>> from spmld.review import TableFile, TableSamples
    >>> samples = TableSamples(TableFile("words,label_sad\nThe rain,1\nThe sun,0\n"), ["label_sad"])
    >>> samples.fields(1), samples.title(1)
    ([('words', 'The sun')], 'The sun')
    """

    def __init__(
        self,
        table: EditableTable,
        labels: Collection[str],
        image: str | None = None,
        folder: Any = ".",
        id: str | None = None,
    ):
        if image is not None and image not in table.columns:
            columns = ", ".join(table.columns[:10])
            raise ValueError(f"the image column must be among the columns of the table, {columns}, got {image!r}")
        self.table, self._image, self._folder = table, image, Path(folder).resolve()
        self._shown = [i for i, name in enumerate(table.columns) if name not in set(labels)]
        self._names = [table.columns[i] for i in self._shown]
        self.keys = sample_keys([value for _, value in self.fields(i)] for i in range(len(table)))
        self.index = {key: i for i, key in enumerate(self.keys)}
        self._ids = None if id is None else [to_text(value) for value in table.column(id)]
        if self._ids is not None and len(set(self._ids)) == len(self._ids):
            self.keys = sample_keys({"id": name} for name in self._ids)
            # A list of another program may have the number 7 for the text 007.
            plain = [identifier_text(name) for name in self._ids]
            if len(set(plain)) == len(plain):
                self.index |= {identifier_key(name): i for i, name in enumerate(plain)}
            self.index |= {key: i for i, key in enumerate(self.keys)}

    def name(self, sample: int) -> str:
        """Return the identifier of a sample, or its number."""
        return str(sample) if self._ids is None else self._ids[sample]

    def fields(self, sample: int) -> list[tuple[str, str]]:
        """Return names and values of the columns that are not labels."""
        row = self.table.row(sample)
        return [(name, row[i] if i < len(row) else "") for i, name in zip(self._shown, self._names, strict=True)]

    def title(self, sample: int) -> str:
        """Return a short text: the longest text field, or else the first fields."""
        fields = self.fields(sample)
        longest = max((value for _, value in fields), key=_text_length, default="")
        return shorten(longest if _text_length(longest) else ", ".join(f"{name} {value}" for name, value in fields[:4]))

    def image(self, sample: int) -> Path | None:
        """Return the image of a sample, if it is in the folder of the table and has a known type."""
        if self._image is None:
            return None
        file = (self._folder / dict(self.fields(sample))[self._image]).resolve()
        inside = file.is_relative_to(self._folder) and file.suffix.lower() in IMAGE_TYPES
        return file if inside and file.is_file() else None


class ArraySamples:
    """Samples of a data set that is not a table: their features.

    Parameters
    ----------
    data : Dataset
        Data set.

    Examples
    --------
    >>> from spmld.datasets import Dataset
    >>> from spmld.review import ArraySamples
    >>> ArraySamples(Dataset([[0.5, 0], [0, 2]], [[1], [0]], feature_names=["pitch", "tempo"])).fields(1)
    [('tempo', '2')]
    """

    def __init__(self, data: Dataset):
        self._X, self._names = data.X, list(data.feature_names)
        self.keys = sample_keys(self._values(i) for i in range(data.X.shape[0]))
        self.index = {key: i for i, key in enumerate(self.keys)}

    def name(self, sample: int) -> str:
        """Return the number of a sample."""
        return str(sample)

    def fields(self, sample: int) -> list[tuple[str, str]]:
        """Return names and values of the features that are not 0."""
        return [(self._names[place], f"{value:g}") for place, value in self._values(sample)]

    def title(self, sample: int) -> str:
        """Return the features with the largest values."""
        largest = sorted(self._values(sample), key=lambda pair: -abs(pair[1]))[:4]
        return shorten(", ".join(f"{self._names[place]} {value:g}" for place, value in largest))

    def image(self, sample: int) -> None:
        """Return None: there are no images."""

    def _values(self, sample: int) -> list[tuple[int, float]]:
        row = self._X[[sample]]
        row = np.ravel(row.toarray() if sp.issparse(row) else row).astype(float)
        return [(int(place), float(row[place])) for place in np.flatnonzero(row)]


@dataclass(frozen=True)
class SampleView:
    """Content of one sample as the page shows it: texts, a table of other fields, and whether there is an image."""

    texts: list[tuple[str, str]]
    fields: list[tuple[str, str]]
    n_fields: int
    image: bool

    @classmethod
    def make(cls, samples: TableSamples | ArraySamples, sample: int, first: Sequence[str] = ()) -> "SampleView":
        """Return the content of a sample; the fields in `first`, such as the most important features, come first."""
        fields = [(name, value[:MAX_TEXT]) for name, value in samples.fields(sample) if value]
        texts = [pair for pair in fields if _text_length(pair[1]) > 1]
        order = {name: i for i, name in enumerate(first)}
        others = [pair for pair in fields if pair not in texts]
        shown = [pair for pair in others if len(others) <= _FEW or pair[0] in order or pair[1] not in ("0", "0.0")]
        shown.sort(key=lambda pair: order.get(pair[0], len(order)))
        return cls(texts, shown[:MAX_FEATURES], len(others), samples.image(sample) is not None)


def shorten(text: str) -> str:
    """Return the start of a text in one line."""
    line = " ".join(text.split())
    return line if len(line) <= _TITLE else line[: _TITLE - 1].rstrip() + "…"


def _text_length(value: str) -> int:
    """Return the number of words if the value is a sentence, 1 for other text, and 0 for numbers."""
    try:
        float(value)
        return 0
    except ValueError:
        return len(value.split()) if " " in value.strip() else 1

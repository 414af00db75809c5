"""Samples in the rows of a table: their content for the page, and keys that identify them."""

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from spmld.app.review.editable_tables import EditableTable, to_text
from spmld.datasets.frames import identifier_text
from spmld.tables.errors import absent_columns

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
ZEROS = ("0", "0.0")
"""Values of fields that are left out in samples with many fields."""
_FEW = 12  # fields that are shown even if they are 0


def sample_keys(contents: Iterable[Any]) -> list[str]:
    """Return a key for each sample that depends only on its content, so that samples may be reordered.

    Contents have types that JSON supports. Equal samples are numbered in their order.

    Examples
    --------
    >>> from spmld.app.review.table_samples import sample_keys
    >>> first, second, third = sample_keys(["a", "b", "a"])
    >>> first == sample_keys(["b", "a"])[1], third == first + "-2"
    (True, True)
    """
    seen: dict[str, int] = {}
    keys = []
    for content in contents:
        text = json.dumps(content, ensure_ascii=False).encode("utf-8", "surrogatepass")
        digest = hashlib.sha256(text).hexdigest()[:16]
        seen[digest] = seen.get(digest, 0) + 1
        keys.append(digest if seen[digest] == 1 else f"{digest}-{seen[digest]}")
    return keys


def identifier_key(name: str) -> str:
    """Return the key of a sample with a unique identifier."""
    return sample_keys([{"id": name}])[0]


class TableSamples:
    r"""Samples in the rows of a table: their content, and keys that identify them.

    Parameters
    ----------
    table : EditableTable
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

    Attributes
    ----------
    keys : list of str
        Key of each sample, see `sample_keys`.
    index : dict
        Index of the sample of each key.

    Examples
    --------
    >>> from spmld.app.review.table_samples import TableSamples
    >>> from spmld.app.review.editable_tables import CsvTable
    >>> samples = TableSamples(CsvTable("words,label_sad\nThe rain,1\nThe sun,0\n"), ["label_sad"])
    >>> samples.fields(1)
    [('words', 'The sun')]
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
            raise ValueError(absent_columns([image], table.columns, option="image").text)
        self.table = table
        self._image = image
        self._folder = Path(folder).resolve()
        self._shown = [(i, name) for i, name in enumerate(table.columns) if name not in set(labels)]
        self.keys = sample_keys([value for _, value in self.fields(i)] for i in range(len(table)))
        self.index = {key: i for i, key in enumerate(self.keys)}
        self._ids = None if id is None else [to_text(value) for value in table.column(id)]
        if self._ids is not None and len(set(self._ids)) == len(self._ids):
            self.keys = [identifier_key(name) for name in self._ids]
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
        return [(name, row[i]) for i, name in self._shown]

    def image(self, sample: int) -> Path | None:
        """Return the image of a sample, if it is in the folder of the table and has a known type."""
        if self._image is None:
            return None
        try:
            file = (self._folder / self._image_name(sample)).resolve()
            inside = file.is_relative_to(self._folder) and file.suffix.lower() in IMAGE_TYPES
            return file if inside and file.is_file() else None
        except (OSError, RuntimeError, ValueError):  # loops of links, long names, NUL, surrogates
            return None

    def image_error(self, sample: int) -> str:
        """Return why the image that a sample names is not shown; empty if it is shown, or if there is none."""
        name = self._image_name(sample)
        if not name or self.image(sample) is not None:
            return ""
        types = ", ".join(IMAGE_TYPES)
        return f"image {name[:200]!r} cannot be read; it must be a file ({types}) in the folder of the table"

    def _image_name(self, sample: int) -> str:
        """Return the path of the image of a sample as it is in the table, empty if there is none."""
        return "" if self._image is None else dict(self.fields(sample)).get(self._image, "")

    def view(self, sample: int, first: Sequence[str] = ()) -> dict[str, Any]:
        """Return texts, other fields, their number, and whether there is an image or why not, as the page shows them.

        The fields in `first`, such as the most important features, come first.
        """
        fields = [(name, value[:MAX_TEXT]) for name, value in self.fields(sample) if value]
        texts = [field for field in fields if " " in field[1].strip()]
        others = [field for field in fields if field not in texts]
        order = {name: i for i, name in enumerate(first)}
        shown = [(name, value) for name, value in others if len(others) <= _FEW or name in order or value not in ZEROS]
        shown.sort(key=lambda field: order.get(field[0], len(order)))
        return {
            "texts": texts,
            "fields": shown[:MAX_FEATURES],
            "n_fields": len(others),
            "image": self.image(sample) is not None,
            "image_error": self.image_error(sample),
        }

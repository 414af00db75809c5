"""ARFF files, dense and sparse, with labels named by MULAN's XML file or MEKA's header."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld._io import StrPath, reading, writing
from spmld.datasets.arff_text import ArffText, parse_arff, quote, unquote
from spmld.datasets.dataset import Dataset
from spmld.datasets.sizes import check_sizes
from spmld.labels.words import to_number


def read_arff(
    path: StrPath, *, labels: Sequence[str] | None = None, xml: StrPath | None = None, encoding: str = "utf-8"
) -> Dataset:
    r"""Read an ARFF file.

    The names of the labels are taken from the first available source: `labels`, `xml`, an XML file with the same name
    in the same folder (ignoring ``-train``, ``-test`` and ``-sparse``), or MEKA's ``-C n`` in the relation, which
    selects the first n attributes, or the last if n is negative.

    Parameters
    ----------
    path : str or path-like
        File to read.
    labels : sequence of str, optional
        Names of the attributes that are labels.
    xml : str or path-like, optional
        MULAN's XML file with the names of the labels.
    encoding : str, default="utf-8"
        Encoding of the file.

    Returns
    -------
    Dataset
        Labels in the order of the file. Features are sparse if the file is sparse.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets import read_arff
    >>> with tempfile.NamedTemporaryFile("w", suffix=".arff") as file:
    ...     head = ["@relation 'songs: -C 2'", "@attribute sad {0,1}", "@attribute calm {0,1}", "@attribute pitch real"]
    ...     print(*head, "@data", "{0 1,2 0.5}", "{1 ?,2 0.25}", sep="\n", file=file, flush=True)
    ...     data = read_arff(file.name)
    >>> data.label_names, data.feature_names
    (['sad', 'calm'], ['pitch'])
    >>> data.Y
    array([[ 1.,  0.],
           [ 0., nan]])
    """
    with reading(path, "an ARFF file") as file:
        text = file.read_text(encoding=encoding).lstrip("\ufeff")
        content = parse_arff(text)
        if not content.rows:
            raise ValueError("the file has no samples after @data")
        names = [name for name, _ in content.attributes]
        label_columns = _find_labels(names, content.relation, labels, xml or _find_xml(file))
        feature_columns = sorted(set(range(len(names))) - set(label_columns))
        check_sizes(len(content.rows), len(names), len(label_columns), len(text))
        to_array = _to_sparse if content.sparse else _to_dense
        X, Y = (to_array(content, part) for part in (feature_columns, label_columns))
        features, labels = ([names[i] for i in part] for part in (feature_columns, label_columns))
        return Dataset(X, Y.toarray() if sp.issparse(Y) else Y, features, labels, file.stem)


def _find_xml(file: Path) -> Path | None:
    stem = re.sub(r"(-sparse|-train|-test)+$", "", file.stem)
    candidates = (file.with_name(f"{name}.xml") for name in (file.stem, stem))
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def _find_labels(names: list[str], relation: str, labels: Any, xml: Any) -> list[int]:
    if labels is None and xml is not None:
        with reading(xml, "MULAN's XML file of labels") as file:
            labels = [node.get("name") for node in ET.parse(file).iter() if node.tag.rpartition("}")[2] == "label"]
    if labels is not None:
        known = set(names)
        # Some XML files have names with the escapes of the ARFF file.
        chosen = {name if name in known else unquote(f"'{name}'") for name in labels}
        absent = sorted(chosen - known)
        if absent or not len(labels):
            source = f" in {xml}" if xml else ""
            problem = f"{absent[0]!r} is not among its {len(names)} attributes" if absent else "the list is empty"
            raise ValueError(f"{len(labels)} labels are named{source}, but {problem}")
        return [i for i, name in enumerate(names) if name in chosen]
    header = re.search(r"-C\s+(-?\d+)", relation)
    if header is None:
        raise ValueError(
            "cannot determine the labels: pass labels= or xml=, as there is no XML file and no -C in the relation"
        )
    if "weka.filters.unsupervised.attribute" in relation:
        raise ValueError(
            f"the relation has -C {header[1]}, but attributes were moved or removed afterwards: pass labels= or xml="
        )
    count = int(header[1])
    if not 0 < abs(count) < len(names):
        raise ValueError(f"the relation has -C {count}, which must be between 1 and {len(names) - 1} in absolute value")
    return list(range(count)) if count > 0 else list(range(len(names) + count, len(names)))


@dataclass(frozen=True)
class _Attribute:
    """Conversion of the values of an attribute to numbers; nominal attributes have a code for each value."""

    name: str
    codes: dict[str, float] | None

    def to_numbers(self, values: list[str | None], lines: list[int]) -> list[float]:
        convert = float if self.codes is None else self.codes.__getitem__
        numbers: list[float] = []
        try:
            for value in values:
                numbers.append(np.nan if value is None else convert(value))  # noqa: PERF401, to know where it failed
        except (KeyError, ValueError):
            kind = "a number" if self.codes is None else f"one of {', '.join(self.codes)[:80]}"
            value = values[len(numbers)] or ""
            raise ValueError(f"line {lines[len(numbers)]}: {self.name!r} must be {kind}, got {value[:80]!r}") from None
        return numbers


def _make_attribute(name: str, kind: Any) -> _Attribute:
    if kind == "STRING":
        raise ValueError(f"attribute {name!r} is a string; features and labels must be numbers")
    try:
        return _Attribute(name, None if isinstance(kind, str) else {value: to_number(value) for value in kind})
    except ValueError:
        raise ValueError(
            f"attribute {name!r} has the values {', '.join(kind)[:200]}, which are not numbers: encode it as one "
            "attribute of 0 and 1 for each value"
        ) from None


def _to_dense(content: ArffText, columns: list[int]) -> NDArray[np.float64]:
    values = np.empty((len(content.rows), len(columns)))
    for i, column in enumerate(columns):
        attribute = _make_attribute(*content.attributes[column])
        values[:, i] = attribute.to_numbers([row[column] for row in content.rows], content.lines)
    return values


def _to_sparse(content: ArffText, columns: list[int]) -> Any:
    attributes = [_make_attribute(*content.attributes[column]) for column in columns]
    place = {column: i for i, column in enumerate(columns)}
    # Values that a sparse row omits are 0 for numeric attributes, and the first value for nominal ones.
    default = np.array([next(iter((attribute.codes or {0: 0.0}).values())) for attribute in attributes])
    entries: list[list[int]] = [[] for _ in columns]  # the rows with a stored value
    for i, row in enumerate(content.rows):
        for j in row:
            if j in place:
                entries[place[j]].append(i)
    at_row = np.concatenate([np.array(rows, dtype=np.intp) for rows in entries])
    at_column = np.repeat(np.arange(len(columns)), [len(rows) for rows in entries])
    stored = np.concatenate(
        [
            attribute.to_numbers([content.rows[i][column] for i in rows], [content.lines[i] for i in rows])
            for attribute, column, rows in zip(attributes, columns, entries, strict=True)
        ]
    ).astype(float)
    shape = (len(content.rows), len(columns))
    values = sp.csr_array((stored - default[at_column], (at_row, at_column)), shape=shape)
    values.eliminate_zeros()
    return values.toarray() + default if default.any() else values


def write_arff(data: Dataset, path: StrPath) -> None:
    """Write an ARFF file with the labels last and MEKA's ``-C``, sparse if the features are; see `write_dataset`.

    Examples
    --------
    See `write_dataset`.
    """
    d, l = data.X.shape[1], data.Y.shape[1]
    both = sorted(set(data.feature_names) & set(data.label_names))
    if both:
        raise ValueError(f"ARFF needs different names for features and labels, but {both[0]!r} is the name of both")
    with writing(path) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        print("@RELATION", quote(f"{data.name or 'data'}: -C {-l}"), file=file)
        for names, kind in ((data.feature_names, "NUMERIC"), (data.label_names, "{0,1}")):
            file.writelines(f"@ATTRIBUTE {quote(name)} {kind}\n" for name in names)
        print("@DATA", file=file)
        for i, y in enumerate(data.Y):
            labels = ["?" if np.isnan(value) else f"{value:.0f}" for value in y]
            if sp.issparse(data.X):
                row = data.X[[i]]
                order = np.argsort(row.indices)
                pairs = [f"{j} {_text(x)}" for j, x in zip(row.indices[order], row.data[order].tolist(), strict=True)]
                pairs += [f"{d + j} {value}" for j, value in enumerate(labels) if value != "0"]
                print("{" + ",".join(pairs) + "}", file=file)
            else:
                print(*map(_text, data.X[i].tolist()), *labels, sep=",", file=file)


def _text(value: float) -> str:
    return "?" if np.isnan(value) else repr(value)

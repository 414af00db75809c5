"""ARFF files, dense and sparse, with labels named by MULAN's XML file or MEKA's header.

The text is parsed in linear time, also that of hostile files.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from spmld._arrays import Matrix
from spmld._io import StrPath, reading
from spmld.datasets.dataset import Dataset, check_sizes
from spmld.labels.hierarchy import Hierarchy, path_nodes
from spmld.labels.words import to_number
from spmld.tables.errors import absent_columns

_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_VALUE = re.compile(rf"""\s*((?:\d+\s+)?(?:{_QUOTED}|[^,{{}}'"]*))\s*""")
_NAME = re.compile(rf"""({_QUOTED}|[^\s{{}},%'"][^\s{{}},%]*)(?:\s+|(?=\{{))(.+)""")
_TYPES = ("NUMERIC", "REAL", "INTEGER", "STRING")
_SHOWN = 80  # characters of a value in a message
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'", '"': '"', "%": "%"}


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
    >>> from spmld.datasets import read_dataset
    >>> with tempfile.NamedTemporaryFile("w", suffix=".arff") as file:
    ...     head = ["@relation 'songs: -C 2'", "@attribute sad {0,1}", "@attribute calm {0,1}", "@attribute pitch real"]
    ...     print(*head, "@data", "{0 1,2 0.5}", "{1 ?,2 0.25}", sep="\n", file=file, flush=True)
    ...     data = read_dataset(file.name)
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
        names = list(content.attributes)
        columns = [i for i, name in enumerate(names) if isinstance(content.attributes[name], tuple)][:1]
        hierarchy: Hierarchy | None = None
        if columns:
            hierarchy = Hierarchy.from_paths(content.attributes[names[columns[0]]])
            Y, label_names = _read_paths(content, columns[0])
        else:
            stem = re.sub(r"(-sparse|-train|-test)+$", "", file.stem)
            beside = [file.with_name(f"{name}.xml") for name in (file.stem, stem)]
            xml = xml or next(filter(Path.is_file, beside), None)
            columns = _find_labels(names, content.relation, labels, xml)
            check_sizes(len(content.rows), len(names), len(columns), len(text))
            Y = _to_array(content, columns)
            label_names = [names[i] for i in columns]
        features = sorted(set(range(len(names))) - set(columns))
        X = _to_array(content, features)
        Y = Y.toarray() if sp.issparse(Y) else Y
        return Dataset(X, Y, [names[i] for i in features], label_names, file.stem, hierarchy=hierarchy)


def _read_paths(content: "ArffText", column: int) -> tuple[Any, list[str]]:
    """Return the labels of a hierarchical attribute, whose values are paths of labels joined by @, and their names."""
    attribute, paths = list(content.attributes.items())[column]
    names = list(dict.fromkeys(node for path in paths for node in path_nodes(path)))
    places = {node: j for j, node in enumerate(names)}
    Y = np.zeros((len(content.rows), len(names)))
    for i, (line, row) in enumerate(content.rows.items()):
        value = row.get(column)
        if value is None:
            Y[i] = np.nan
            continue
        nodes = [node for path in value.split("@") for node in path_nodes(path)]
        unknown = [node for node in nodes if node not in places]
        if unknown:
            raise ValueError(
                f"line {line}: {attribute!r} must have paths of the attribute, got {unknown[0][:_SHOWN]!r}"
            )
        Y[i, [places[node] for node in nodes]] = 1
    return Y, names


def _find_labels(names: list[str], relation: str, labels: Any, xml: Any) -> list[int]:
    """Return the indices of the labels among the names of the attributes."""
    if labels is None and xml is None:
        return _labels_of_header(relation, len(names))
    labels = _read_xml(xml) if labels is None else labels
    known = set(names)
    # Some XML files have names with the escapes of the ARFF file.
    chosen = {name if name in known else unquote(f"'{name}'") for name in labels}
    absent = sorted(chosen - known)
    source = f" (labels of {xml})" if xml else ""
    if not chosen:
        raise ValueError(f"the list of labels is empty{source}")
    if absent:
        raise ValueError(absent_columns(absent, names, expected=labels, kind="label").text + source)
    return [i for i, name in enumerate(names) if name in chosen]


def _read_xml(path: StrPath) -> list[str]:
    with reading(path, "MULAN's XML file of labels") as file:
        content = file.read_bytes()
        if b"<!ENTITY" in content:  # entities can expand to gigabytes
            raise ValueError("entities are not accepted")
        nodes = ET.fromstring(content).iter()  # nosec B314
        return [node.get("name", "") for node in nodes if node.tag.rpartition("}")[2] == "label"]


def _labels_of_header(relation: str, n_attributes: int) -> list[int]:
    header = re.search(r"-C\s+(-?\d+)", relation)
    if header is None:
        text = "cannot determine the labels: pass labels= or xml="
        raise ValueError(f"{text}, as there is no XML file and no -C in the relation")
    if "weka.filters.unsupervised.attribute" in relation:
        raise ValueError(
            f"the relation has -C {header[1]}, but attributes were moved or removed afterwards: pass labels= or xml="
        )
    count = int(header[1])
    if not 0 < abs(count) < n_attributes:
        raise ValueError(
            f"the relation has -C {count}, which must be between 1 and {n_attributes - 1} in absolute value"
        )
    return list(range(n_attributes))[slice(count) if count > 0 else slice(count, None)]


@dataclass
class ArffText:
    """The content of an ARFF file.

    Attributes
    ----------
    relation : str
        Name of the relation, with MEKA's options.
    attributes : dict
        Types by name; nominal attributes have a list of values, hierarchical ones a tuple of paths.
    rows : dict
        Values of each sample by the index of their attribute, None where missing. The keys are the numbers of lines.
    sparse : bool
        Whether rows omit values.
    """

    relation: str = ""
    attributes: dict[str, Any] = field(default_factory=dict)
    rows: dict[int, dict[int, str | None]] = field(default_factory=dict)
    sparse: bool = False


def parse_arff(text: str) -> ArffText:
    r"""Parse the text of an ARFF file.

    Examples
    --------
    >>> from spmld.datasets.arff import parse_arff
    >>> content = parse_arff("@relation songs\n@attribute pitch real\n@attribute 'is sad' {0,1}\n@data\n0.5,1\n?,0")
    >>> content.attributes, content.rows
    ({'pitch': 'REAL', 'is sad': ['0', '1']}, {5: {0: '0.5', 1: '1'}, 6: {0: None, 1: '0'}})
    """
    content = ArffText()
    in_data = False
    for number, line in enumerate(map(str.strip, text.split("\n")), 1):
        if not line or line.startswith("%"):
            continue
        try:
            if in_data:
                content.rows[number] = _row(line, len(content.attributes))
                content.sparse |= line.startswith("{")
            else:
                in_data = _declare(content, line)
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None
    if not in_data:
        raise ValueError("the file has no @data")
    return content


def _declare(content: ArffText, line: str) -> bool:
    """Add the declaration of a relation or an attribute; return whether the data begin."""
    keyword, _, rest = line.replace("\t", " ", 1).partition(" ")
    if not keyword.startswith("@"):
        raise ValueError(f"expected a declaration or a comment, got {line[:_SHOWN]!r}")
    if keyword.lower() == "@relation":
        content.relation = unquote(rest.strip())
    elif keyword.lower() == "@attribute":
        match = _NAME.fullmatch(rest.strip())
        if match is None:
            raise ValueError(f"expected @attribute, a name and a type, got {rest[:_SHOWN]!r}")
        name = unquote(match[1])
        if name in content.attributes:
            raise ValueError(f"the attribute {name!r} is declared a second time")
        content.attributes[name] = _type(match[2])
    return keyword.lower() == "@data"


def _type(text: str) -> str | list[str] | tuple[str, ...]:
    if not text.startswith("{"):
        kind = text.split()[0].upper()
        if kind == "HIERARCHICAL":
            return tuple(path.strip() for path in text.partition(" ")[2].split(",") if path.strip())
        if kind not in _TYPES:
            accepted = "numeric, real, integer, string or a list of values in braces"
            raise ValueError(f"an attribute has the type {text[:_SHOWN]!r}, accepted: {accepted}")
        return kind
    values = _split(text[1:-1]) if text.endswith("}") else [""]
    if "" in values:
        raise ValueError(f"expected values in braces, separated by commas, got {text[:_SHOWN]!r}")
    return [unquote(value) for value in values]


def _row(line: str, n_attributes: int) -> dict[int, str | None]:
    if not line.startswith("{"):
        values = _split(line)
        if len(values) != n_attributes:
            raise ValueError(f"expected {n_attributes} values, one for each attribute, got {len(values)}")
        return {i: _value(value) for i, value in enumerate(values)}
    if not line.endswith("}"):
        raise ValueError(f"expected a brace at the end, got {line[:_SHOWN]!r}")
    inner = line[1:-1].strip()
    pairs = [pair.split(None, 1) for pair in _split(inner)] if inner else []
    if any(len(pair) != 2 or not pair[0].isdecimal() for pair in pairs):
        raise ValueError(f"expected an index and a value between commas, got {line[:_SHOWN]!r}")
    row = {int(index): _value(value) for index, value in pairs}
    if len(row) < len(pairs):
        raise ValueError(f"expected each index once, got {line[:_SHOWN]!r}")
    if row and max(row) >= n_attributes:
        raise ValueError(f"expected indices from 0 to {n_attributes - 1}, got {max(row)}")
    return row


def _split(text: str) -> list[str]:
    """Split a line by the commas outside of quotes."""
    if "'" not in text and '"' not in text:
        return [value.strip() for value in text.split(",")]
    values = []
    position = 0
    while match := _VALUE.match(text, position):
        values.append(match[1].strip())
        position = match.end() + 1
        if match.end() == len(text):
            return values
        if text[match.end()] != ",":
            break
    raise ValueError(f"cannot be split at commas: {text[max(0, position - 1) :][:_SHOWN]!r}")


def _value(text: str) -> str | None:
    return None if text in ("?", "") else unquote(text)


def unquote(value: str) -> str:
    r"""Return a quoted value without quotes and escapes; other values are returned unchanged.

    Examples
    --------
    >>> from spmld.datasets.arff import unquote
    >>> unquote(r"'it\'s'"), unquote("pitch")
    ("it's", 'pitch')
    """
    if value[:1] not in ("'", '"') or value[-1:] != value[0] or len(value) < 2:
        return value
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[0]), value[1:-1], flags=re.DOTALL)


def _to_array(content: ArffText, columns: list[int]) -> Matrix:
    """Return columns as numbers: an array, or a sparse matrix if the file is sparse and omitted values are 0."""
    names = list(content.attributes)
    codes = [_find_codes(names[column], content.attributes[names[column]]) for column in columns]
    places = {column: j for j, column in enumerate(columns)}
    numbers: list[float] = []
    at_row = []
    at_column = []
    for i, (line, row) in enumerate(content.rows.items()):
        for column, value in row.items():
            if column not in places:
                continue
            j = places[column]
            code = codes[j]
            number = np.nan
            try:
                if value is not None:
                    number = float(value) if code is None else code[value]
            except (KeyError, ValueError):
                kind = "a number" if code is None else f"one of {', '.join(code)[:_SHOWN]}"
                raise ValueError(
                    f"line {line}: {names[column]!r} must be {kind}, got {str(value)[:_SHOWN]!r}"
                ) from None
            numbers.append(number)
            at_row.append(i)
            at_column.append(j)
    # Values that a sparse row omits are 0 for numeric attributes, and the first value for nominal ones.
    default = np.array([next(iter((code or {"": 0.0}).values())) if content.sparse else 0.0 for code in codes])
    stored = np.array(numbers) - default[at_column]
    array = sp.csr_array((stored, (at_row, at_column)), shape=(len(content.rows), len(columns)))
    array.eliminate_zeros()
    return array if content.sparse and not default.any() else array.toarray() + default


def _find_codes(name: str, kind: str | list[str]) -> dict[str, float] | None:
    """Return the number of each value of a nominal attribute; None for numeric attributes."""
    if kind == "STRING":
        raise ValueError(f"attribute {name!r} is a string; features and labels must be numbers")
    try:
        return None if isinstance(kind, str) else {value: to_number(value) for value in kind}
    except ValueError:
        raise ValueError(
            f"attribute {name!r} has the values {', '.join(kind)[:200]}, which are not numbers: encode it as one "
            "attribute of 0 and 1 for each value"
        ) from None

"""ARFF files, dense and sparse, with labels named by MULAN's XML file or MEKA's header.

The text is parsed in linear time, also that of hostile files.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from spmld._io import StrPath, reading, writing
from spmld.datasets.dataset import Dataset, check_sizes
from spmld.labels.words import to_number

_VALUE = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,{}'"]*"""
_DENSE = re.compile(rf"\s*({_VALUE})\s*")
_SPARSE = re.compile(rf"\s*(\d+\s+(?:{_VALUE}))\s*")
_NAME = re.compile(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{},%'"][^\s{},%]*)(?:\s+|(?=\{))(.+)""")
_TYPES = ("NUMERIC", "REAL", "INTEGER", "STRING")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'", '"': '"', "%": "%"}
_LETTERS = {character: letter for letter, character in _ESCAPES.items()}


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
        names = [name for name, _ in content.attributes]
        label_columns = _find_labels(names, content.relation, labels, xml or _find_xml(file))
        feature_columns = sorted(set(range(len(names))) - set(label_columns))
        check_sizes(len(content.rows), len(names), len(label_columns), len(text))
        X, Y = (_to_array(content, part) for part in (feature_columns, label_columns))
        features, labels = ([names[i] for i in part] for part in (feature_columns, label_columns))
        return Dataset(X, Y.toarray() if sp.issparse(Y) else Y, features, labels, file.stem)


def _find_xml(file: Path) -> Path | None:
    stem = re.sub(r"(-sparse|-train|-test)+$", "", file.stem)
    candidates = (file.with_name(f"{name}.xml") for name in (file.stem, stem))
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def _find_labels(names: list[str], relation: str, labels: Any, xml: Any) -> list[int]:
    if labels is None and xml is not None:
        with reading(xml, "MULAN's XML file of labels") as file:
            content = file.read_bytes()
            if b"<!ENTITY" in content:  # entities can expand to gigabytes
                raise ValueError("entities are not accepted")
            nodes = ET.fromstring(content).iter()  # nosec B314
            labels = [node.get("name") for node in nodes if node.tag.rpartition("}")[2] == "label"]
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
class ArffText:
    """The content of an ARFF file; values are text, None where missing.

    Attributes
    ----------
    relation : str
        Name of the relation, with MEKA's options.
    attributes : list of (str, str or list of str)
        Names and types; nominal attributes have a list of values.
    rows : list
        Lists of values, or dictionaries from the index of the attribute to the value if the file is `sparse`.
    lines : list of int
        Numbers of the lines of the rows.
    """

    relation: str
    attributes: list[tuple[str, Any]]
    rows: list[Any]
    lines: list[int]
    sparse: bool


def _to_array(content: ArffText, columns: list[int]) -> Any:
    """Return columns as numbers: an array, or a sparse matrix if the file is sparse and most values are 0."""
    place = {column: j for j, column in enumerate(columns)}
    rows: list[list[int]] = [[] for _ in columns]
    values: list[list[str | None]] = [[] for _ in columns]
    for i, row in enumerate(content.rows):
        for column, value in row.items() if content.sparse else enumerate(row):
            if column in place:
                rows[place[column]].append(i)
                values[place[column]].append(value)
    codes = [_find_codes(*content.attributes[column]) for column in columns]
    numbers = [
        _to_numbers(values[j], codes[j], content.attributes[column][0], [content.lines[i] for i in rows[j]])
        for column, j in place.items()
    ]
    if not content.sparse:
        return np.array(numbers, dtype=float).reshape(len(columns), len(content.rows)).T
    # Values that a sparse row omits are 0 for numeric attributes, and the first value for nominal ones.
    default = np.array([next(iter((code or {"": 0.0}).values())) for code in codes])
    at_column = np.repeat(np.arange(len(columns)), [len(part) for part in rows])
    at_row = np.concatenate([np.array(part, dtype=np.intp) for part in rows])
    stored = np.concatenate([np.array(part, dtype=float) for part in numbers])
    shape = (len(content.rows), len(columns))
    array = sp.csr_array((stored - default[at_column], (at_row, at_column)), shape=shape)
    array.eliminate_zeros()
    return array.toarray() + default if default.any() else array


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


def _to_numbers(values: list[str | None], codes: dict[str, float] | None, name: str, lines: list[int]) -> list[float]:
    convert = float if codes is None else codes.__getitem__
    numbers: list[float] = []
    try:
        for value in values:
            numbers.append(np.nan if value is None else convert(value))  # noqa: PERF401, to know where it failed
    except (KeyError, ValueError):
        kind = "a number" if codes is None else f"one of {', '.join(codes)[:80]}"
        value = values[len(numbers)] or ""
        raise ValueError(f"line {lines[len(numbers)]}: {name!r} must be {kind}, got {value[:80]!r}") from None
    return numbers


def parse_arff(text: str) -> ArffText:
    r"""Parse the text of an ARFF file.

    Examples
    --------
    >>> from spmld.datasets.arff import parse_arff
    >>> content = parse_arff("@relation songs\n@attribute pitch real\n@attribute 'is sad' {0,1}\n@data\n0.5,1\n?,0")
    >>> content.attributes, content.rows
    ([('pitch', 'REAL'), ('is sad', ['0', '1'])], [['0.5', '1'], [None, '0']])
    """
    relation, attributes = "", {}
    content = ((number, line.strip()) for number, line in enumerate(text.split("\n"), 1))
    lines = ((number, line) for number, line in content if line and not line.startswith("%"))
    for number, line in lines:
        keyword, _, rest = line.replace("\t", " ", 1).partition(" ")
        if not keyword.startswith("@"):
            raise ValueError(f"line {number} is neither a declaration nor a comment: {line[:80]!r}")
        if keyword.lower() == "@data":
            break
        if keyword.lower() == "@relation":
            relation = unquote(rest.strip())
        elif keyword.lower() == "@attribute":
            name, kind = _attribute(rest.strip(), number)
            if name in attributes:
                raise ValueError(f"line {number} declares the attribute {name!r} a second time")
            attributes[name] = kind
    else:
        raise ValueError("the file has no @data")
    rows = [(number, _row(line, number, len(attributes))) for number, line in lines]
    sparse = bool(rows) and isinstance(rows[0][1], dict)
    for number, row in rows:
        if isinstance(row, dict) != sparse:
            raise ValueError(f"line {number} is {'dense' if sparse else 'sparse'}, unlike the first sample")
    return ArffText(relation, list(attributes.items()), [row for _, row in rows], [n for n, _ in rows], sparse)


def quote(name: str) -> str:
    r"""Return a name as it is written in an ARFF file.

    Examples
    --------
    >>> from spmld.datasets.arff import quote
    >>> print(quote("pitch"), quote("it's"), quote("is sad"))
    pitch 'it\'s' 'is sad'
    """
    if re.fullmatch(r"[^\s,{}%'\"\\@?]+", name):
        return name
    return "'" + "".join(f"\\{_LETTERS[character]}" if character in _LETTERS else character for character in name) + "'"


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


def _attribute(text: str, number: int) -> tuple[str, Any]:
    match = _NAME.fullmatch(text)
    if match is None:
        raise ValueError(f"line {number} must be @attribute, a name and a type, got {text[:80]!r}")
    name, kind = unquote(match[1]), match[2]
    if not kind.startswith("{"):
        if kind.split()[0].upper() not in _TYPES:
            accepted = "numeric, real, integer, string or a list of values in braces"
            raise ValueError(f"line {number} has an attribute of type {kind[:80]!r}, accepted: {accepted}")
        return name, kind.split()[0].upper()
    values = _split(kind[1:-1], _DENSE, number) if kind.endswith("}") else [""]
    if "" in values:
        raise ValueError(f"line {number} must have values in braces, separated by commas, got {kind[:80]!r}")
    return name, [unquote(value) for value in values]


def _row(line: str, number: int, n_attributes: int) -> Any:
    if not line.startswith("{"):
        values = _convert(_split(line, _DENSE, number))
        if len(values) != n_attributes:
            raise ValueError(f"line {number} has {len(values)} values, expected {n_attributes}, one for each attribute")
        return values
    if not line.endswith("}"):
        raise ValueError(f"line {number} starts with a brace but does not end with one: {line[:80]!r}")
    inner = line[1:-1].strip()
    pairs = [pair.split(None, 1) for pair in _split(inner, _SPARSE, number)] if inner else []
    if any(len(pair) != 2 or not pair[0].isdecimal() for pair in pairs):
        raise ValueError(f"line {number} must have an index and a value between commas, got {line[:80]!r}")
    values = _convert([pair[1] for pair in pairs])
    row = {int(pair[0]): value for pair, value in zip(pairs, values, strict=True)}
    if row and max(row) >= n_attributes:
        raise ValueError(f"line {number} has the index {max(row)}, expected 0 to {n_attributes - 1}")
    return row


def _convert(values: list[str]) -> list[str | None]:
    """Return None for missing values, and the others without quotes."""
    return [None if value in ("?", "") else unquote(value) if value[0] in "'\"" else value for value in values]


def _split(text: str, pattern: re.Pattern[str], number: int) -> list[str]:
    """Split a line by the commas outside of quotes."""
    if "'" not in text and '"' not in text:
        return [value.strip() for value in text.split(",")]
    values, position = [], 0
    while match := pattern.match(text, position):
        values.append(match[1].strip())
        position = match.end() + 1
        if match.end() == len(text):
            return values
        if text[match.end()] != ",":
            break
    raise ValueError(f"line {number} cannot be split at commas: {text[max(0, position - 1) :][:80]!r}")


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

"""The text of ARFF files: parsing in linear time, and quoting."""

import re
from dataclasses import dataclass
from typing import Any

_VALUE = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,{}'"]*"""
_DENSE = re.compile(rf"\s*({_VALUE})\s*")
_SPARSE = re.compile(rf"\s*(\d+\s+(?:{_VALUE}))\s*")
_NAME = re.compile(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{},%'"][^\s{},%]*)(?:\s+|(?=\{))(.+)""")
_TYPES = ("NUMERIC", "REAL", "INTEGER", "STRING")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'", '"': '"', "%": "%"}
_LETTERS = {character: letter for letter, character in _ESCAPES.items()}


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
        Lists of values, or dictionaries from the index of the attribute to the value if the file is sparse.
    lines : list of int
        Numbers of the lines of the rows.
    sparse : bool
        Whether the rows are dictionaries.
    """

    relation: str
    attributes: list[tuple[str, Any]]
    rows: list[Any]
    lines: list[int]
    sparse: bool


def parse_arff(text: str) -> ArffText:
    r"""Parse the text of an ARFF file.

    Examples
    --------
    >>> from spmld.datasets.arff_text import parse_arff
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
    >>> from spmld.datasets.arff_text import quote
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
    >>> from spmld.datasets.arff_text import unquote
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

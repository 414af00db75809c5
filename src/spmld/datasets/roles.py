"""Roles of the columns of a table: labels, tags, identifier, text and columns to ignore."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from spmld._validation import did_you_mean
from spmld.labels.spelling import clean_spelling
from spmld.labels.tags import (
    SEPARATORS,
    EmptyIs,
    TagCase,
    Tags,
    Untagged,
    check_choice,
    guess_separator,
    read_tags,
    split_tags,
    unclear_separators,
)
from spmld.labels.words import WORDS, label_words, to_number, word_to_number
from spmld.preprocessing.columns import column_kind
from spmld.preprocessing.numbers import NESTED
from spmld.preprocessing.problems import TableProblem

PREFIX = "label_"
COLUMN_LISTS = ("labels", "text", "number", "category", "date", "drop")
"""Roles that several columns may have."""
LISTS = (*COLUMN_LISTS, "positive", "negative", "missing")
"""Roles with several values."""


@dataclass(frozen=True)
class TableRoles:
    """Roles of the columns of a table.

    Attributes
    ----------
    labels : sequence of str, optional
        Label columns. By default, the columns whose names start with `prefix`, unless there are tags.
    prefix : str, optional
        Prefix of the names of label columns, by default ``"label_"``. It is not part of the names of the labels.
    tags : str, optional
        Column with a list of tags for each sample.
    tag_sep : str, optional
        Separator of the tags, or several, such as ``";,"``; see `spmld.labels.read_tags`. By default, it is guessed.
    untagged : {"negative", "weak", "missing"}, default="negative"
        Whether a tag that is not in the list of a sample is a negative or a missing label; see
        `spmld.labels.read_tags`.
    tag_case : {"merge", "keep"}, default="merge"
        Whether tags that differ only in case or width are one label or several.
    empty_is : {"missing", "negative"}, default="missing"
        Whether an empty field of a label column or of the tags is missing or negative.
    id : str, optional
        Column that identifies the samples in all outputs. It is not a feature.
    text, number, category, date : sequence of str, default=()
        Columns of these kinds. The kinds of the other features are detected.
    drop : sequence of str, default=()
        Columns to ignore.
    day_first : bool, default=False
        Whether the day comes first in dates such as 03/04/2024 if all dates can be read in both orders.
    decimal : {".", ","}, optional
        Decimal separator of text such as 1,234. By default, it is decided by the other values of the column.
    strict : bool, default=False
        Whether values that cannot be read as the number or date of their column are an error, also in new data. By
        default, they are missing, and a note counts them.
    positive, negative, missing : sequence of str, default=()
        Words for positive, negative and missing labels, in addition to those of `spmld.labels.words`.

    Examples
    --------
    >>> from spmld.datasets import TableRoles
    >>> TableRoles.from_dict(TableRoles(tags="tags", text="review").to_dict()).text
    ('review',)
    """

    labels: Sequence[str] | None = None
    prefix: str = PREFIX
    tags: str | None = None
    tag_sep: str | None = None
    untagged: Untagged = "negative"
    tag_case: TagCase = "merge"
    empty_is: EmptyIs = "missing"
    id: str | None = None
    text: Sequence[str] = ()
    number: Sequence[str] = ()
    category: Sequence[str] = ()
    date: Sequence[str] = ()
    drop: Sequence[str] = ()
    day_first: bool = False
    decimal: str | None = None
    strict: bool = False
    positive: Sequence[str] = ()
    negative: Sequence[str] = ()
    missing: Sequence[str] = ()

    def __post_init__(self) -> None:
        check_choice("untagged", self.untagged, ("negative", "weak", "missing"))
        check_choice("empty_is", self.empty_is, ("missing", "negative"))
        check_choice("tag_case", self.tag_case, ("merge", "keep"))
        if self.decimal is not None:
            check_choice("decimal", self.decimal, (".", ","))
        for name in LISTS:
            value = getattr(self, name)
            columns = (value,) if isinstance(value, str) else value
            object.__setattr__(self, name, None if columns is None else tuple(map(str, columns)))

    def to_dict(self) -> dict[str, Any]:
        """Return the roles that are set, in types that JSON supports."""
        return {name: value for name, value in asdict(self).items() if value != getattr(type(self)(), name)}

    @classmethod
    def from_dict(cls, roles: dict[str, Any]) -> Self:
        """Return the roles from their dictionary."""
        return cls(**{item.name: roles[item.name] for item in fields(cls) if item.name in roles})

    def find_problems(self, columns: Sequence[str]) -> list[TableProblem]:
        """Return a problem for each named column that the table does not have, or that has two roles."""
        named: dict[str, list[str]] = {}
        for option in ("tags", "id", *COLUMN_LISTS):
            value = getattr(self, option)
            for name in (value,) if isinstance(value, str) else value or ():
                named.setdefault(name, []).append(option)
        problems = []
        for name, options in named.items():
            if name not in columns:
                hint = did_you_mean(name, columns) or f"; the columns are {first(columns)}"
                problems.append(TableProblem(f"column {name!r} of {options[0]} does not exist{hint}"))
            elif len(options) > 1:
                problems.append(TableProblem(f"column {name!r} has two roles, {' and '.join(options)}; pass one"))
        return problems

    def with_tag_sep(self, sep: str | None) -> "TableRoles":
        """Return the roles with the separator of the tags."""
        return replace(self, tag_sep=sep)


@dataclass
class LabelColumns:
    """Labels of a table: values as 0 and 1 or -1 and +1, NaN where missing, and the columns that they are read from."""

    Y: Any = None
    names: list[str] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    tag_sep: str | None = None
    problems: list[TableProblem] = field(default_factory=list)
    notes: list[TableProblem] = field(default_factory=list)


def read_label_columns(frame: Any, roles: TableRoles, names: Sequence[str] | None = None) -> LabelColumns:
    """Read the labels of a table.

    Parameters
    ----------
    frame : DataFrame
        Table. Columns that do not exist must have been reported by `TableRoles.find_problems`.
    roles : TableRoles
        Roles of the columns.
    names : sequence of str, optional
        Names of the labels of a model. By default, all labels of the table.
    """
    if roles.tags is not None:
        return _read_tag_column(frame, roles, names)
    if names is None:
        columns, names = _find_columns(frame, roles)
    else:
        columns = [next((c for c in (roles.prefix + name, name) if c in frame.columns), "") for name in names]
        absent = [name for name, column in zip(names, columns, strict=True) if not column]
        if absent:
            text = f"the file lacks {len(absent)} of the {len(names)} labels, {first(absent)}"
            return LabelColumns(
                problems=[TableProblem(f"{text}; its columns are {first(frame.columns)}")]
            )
    result = LabelColumns(names=list(names), columns=columns)
    if not columns:
        result.problems.append(_no_labels(frame, roles))
        return result
    words = label_words(roles.positive, roles.negative, roles.missing)
    present = [column for column in columns if column in frame.columns]
    arrays = [_read_column(frame[column], words, result.problems) for column in present]
    if arrays and not result.problems:
        result.Y = np.column_stack(arrays)
        if roles.empty_is == "negative":
            result.Y[np.isnan(result.Y)] = -1.0 if (result.Y == -1).any() else 0.0
        elif empty := [
            column
            for column, y in zip(present, result.Y.T, strict=True)
            if _is_positive_only(y) and getattr(frame[column].dtype, "kind", "O") not in "biuf"
        ]:
            text = f"columns {first(empty)} have only x and empty fields, and empty fields are missing labels"
            result.notes.append(TableProblem(text, (("empty_is", "negative"),)))
        if np.isnan(result.Y).all():
            result.problems.append(TableProblem(f"all fields of the label columns are empty: {first(columns)}"))
    return result


def _is_positive_only(y: NDArray[np.float64]) -> bool:
    return bool(np.isnan(y).any() and (y == 1).any() and not (y < 1).any())


def _find_columns(frame: Any, roles: TableRoles) -> tuple[list[str], list[str]]:
    if roles.labels is not None:
        return list(roles.labels), list(roles.labels)
    columns = [name for name in frame.columns if name.startswith(roles.prefix) and name not in set(roles.drop)]
    return columns, [name.removeprefix(roles.prefix) for name in columns]


def _read_tag_column(frame: Any, roles: TableRoles, names: Sequence[str] | None) -> LabelColumns:
    column = str(roles.tags)
    result = LabelColumns(columns=[column])
    if column not in frame.columns:
        return result
    values = frame[column].astype(object).where(frame[column].notna(), None)
    try:
        meaning: dict[str, Any] = {name: getattr(roles, name) for name in ("untagged", "empty_is", "tag_case")}
        tags = read_tags(values, sep=roles.tag_sep, names=names, **meaning)
    except ValueError as error:
        result.problems.append(TableProblem(f"column {column!r}: {error}", (("tags", "COLUMN"),)))
        return result
    result.Y, result.names, result.tag_sep = tags.Y, tags.names, tags.sep
    if tags.n_empty and roles.empty_is == "missing":
        text = f"{tags.n_empty} of {len(values)} samples have an empty field {column!r}: their labels are missing"
        result.notes.append(TableProblem(text, (("empty_is", "negative"),)))
    texts = [value for value in values if isinstance(value, str)]
    for other, text in unclear_separators(texts, tags.sep).items() if roles.tag_sep is None and names is None else ():
        used = "no separator" if tags.sep is None else f"the separator {tags.sep!r}"
        note = f"tags of {column!r} are read with {used}, but {other!r} occurs, too, as in {text!r}"
        note = note if other != tags.sep else f"{other!r} may be part of tags of {column!r}, as in {text!r}"
        several = f"{tags.sep}{other}" if tags.sep in SEPARATORS and tags.sep != other else other
        result.notes.append(TableProblem(note, (("tag_sep", several),)))
    if tags.unknown:
        text = f"{len(tags.unknown)} tags of {column!r} are not labels of the model and are ignored"
        result.notes.append(TableProblem(f"{text}: {first(list(tags.unknown))}"))
    if names is None:
        result.notes += _spelling_notes(tags)
    return result


def _spelling_notes(tags: Tags) -> list[TableProblem]:
    """Return notes about spellings that are read as one label, and about labels that may be the same."""
    alike = {tag: name for tag, name in tags.merged.items() if clean_spelling(tag) == name}
    notes = []
    if alike:
        text = first([f"{tag!a} is read as {name!r}" for tag, name in sorted(alike.items())])
        notes.append(TableProblem(f"tags that look the same are merged: {text}"))
    if others := sorted(tags.merged.items() - alike.items()):
        text = first([f"{tag!r} is read as {name!r}" for tag, name in others])
        notes.append(
            TableProblem(f"tags that differ only in case or width are merged: {text}", (("tag_case", "keep"),))
        )
    for group in tags.similar:
        names = " and ".join(map(repr, group))
        notes.append(TableProblem(f"tags {names} are different labels; if they are the same, use one spelling"))
    return notes


def _read_column(column: Any, words: dict[str, float], problems: list[TableProblem]) -> NDArray[np.float64]:
    """Return a label column as numbers; values that are not labels are a problem."""
    objects = column.astype(object).where(column.notna(), None)
    numbers: dict[Any, float] = {None: np.nan}
    invalid = []
    for value in dict.fromkeys(str(value) if isinstance(value, NESTED) else value for value in objects):
        if value is None:
            continue
        try:
            number = to_number(value, words)
        except (TypeError, ValueError):
            number = np.inf
        if not (np.isnan(number) or number in (-1, 0, 1)):
            invalid.append(value)
        numbers[value] = number
    if invalid:
        shown = ", ".join(repr(value) for value in invalid[:3]) + (", ..." if len(invalid) > 3 else "")
        name = str(column.name)
        options = [("drop", name)]
        if any(isinstance(value, str) for value in invalid):
            word = next(value for value in invalid if isinstance(value, str))
            named = (
                [("tags", name)]
                if _looks_like_tags(column)
                else [("positive", word), ("negative", word), ("missing", word)]
            )
            options = named + options
        problems.append(TableProblem(f"label column {name!r} contains {shown}; labels are {WORDS}", tuple(options)))
        return np.full(len(objects), np.nan)
    return np.array([numbers[value] for value in objects], dtype=float)


def _no_labels(frame: Any, roles: TableRoles) -> TableProblem:
    """Return the problem of a table without label columns, with the columns that look like labels or tags."""
    columns = [name for name in frame.columns if name not in {roles.id, *roles.drop, *roles.text}]
    labels = [name for name in columns if _looks_like_label(frame[name])]
    tags = [name for name in columns if _looks_like_tags(frame[name])]
    prefix = str(labels[0]).partition("_")[0] + "_" if labels else ""
    shared = len(labels) > 1 and labels == [name for name in columns if str(name).startswith(prefix)]
    named = [("prefix", prefix)] if shared else [("labels", name) for name in labels[:10]]
    options = [("tags", name) for name in tags[:1]] + named
    text = f"no column starts with {roles.prefix!r}, and no labels or tags are named"
    if labels or tags:
        text += f". Columns that look like labels or tags: {first(labels + tags)}"
    else:
        text += f". The columns are {first(columns)}"
    return TableProblem(text, tuple(options) or (("labels", "COLUMN"), ("tags", "COLUMN")))


def _looks_like_label(column: Any) -> bool:
    values = column.dropna().unique()
    numbers = {word_to_number(v.strip() if isinstance(v, str) else str(v).removesuffix(".0")) for v in values[:20]}
    return 0 < len(values) <= 4 and None not in numbers and 1.0 in numbers


def _looks_like_tags(column: Any) -> bool:
    if column_kind(column) in ("number", "date"):
        return False
    values = [value for value in column.dropna() if isinstance(value, (str, list))]
    sep = guess_separator([value for value in values if isinstance(value, str)])
    if not values or (sep is None and not isinstance(values[0], list)):
        return False
    tags = [tag for value in values for tag in split_tags(value, sep) or ()]
    return len(set(tags)) <= 0.5 * len(tags) and sum(len(tag.split()) for tag in tags) <= 3 * len(tags)


def first(names: Sequence[Any]) -> str:
    """Return the first names as text."""
    names = [str(name) for name in names]
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")

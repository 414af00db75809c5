"""Where a table has its labels, and how annotations change it: label columns, or one column of tags."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spmld.labels.tags import (
    EmptyIs,
    TagCase,
    Untagged,
    guess_separator,
    label_of_tags,
    read_tags,
    separator_pattern,
    separators,
    split_tags,
)
from spmld.labels.words import to_number
from spmld.review.annotations import Annotation
from spmld.review.text_tables import Changes, EditableTable

Decided: TypeAlias = Mapping[tuple[int, str], int]
"""Annotations, 1 or 0, by row and name of the label."""
_Floats = NDArray[np.float64]
_DEFAULTS = {1: "1", 0: "0"}
_SEPARATOR = ";"  # of tags, if no sample has two of them


def label_columns(columns: Sequence[str], label_names: Iterable[str], prefix: str = "label_") -> dict[str, str]:
    """Return the column of each label, whose name may have a prefix.

    Examples
    --------
    >>> from spmld.review.label_forms import label_columns
    >>> label_columns(["pitch", "label_sad", "calm"], ["sad", "calm"])
    {'sad': 'label_sad', 'calm': 'calm'}
    """
    chosen = {name: next((c for c in (prefix + name, name) if c in columns), None) for name in label_names}
    absent = [name for name, column in chosen.items() if column is None]
    if absent:
        raise ValueError(f"the table has no column for the label {absent[0]!r}; its columns: {', '.join(columns[:10])}")
    return {name: str(column) for name, column in chosen.items()}


@dataclass(frozen=True)
class LabelFields:
    r"""Labels in columns of their own. Annotations are written in the form that a column uses, such as yes and no.

    Attributes
    ----------
    by_name : mapping
        Column of each label, see `label_columns`.
    empty_is : {"missing", "negative"}
        Meaning of an empty field.
    meaning : mapping
        Label of each value of a column, by column and value, as read from the table; see `LabelFields.of`. Other values
        are read as in `spmld.labels`.

    Examples
    --------
    >>> from spmld.review.label_forms import LabelFields
    >>> from spmld.review.text_tables import CsvTable
    >>> table = CsvTable("words,label_sad\nThe rain,no\nThe sun,yes\n")
    >>> LabelFields({"sad": "label_sad"}).changes(table, {(0, "sad"): 1})
    {(0, 'label_sad'): 'yes'}
    """

    by_name: Mapping[str, str]
    empty_is: EmptyIs = "missing"
    meaning: Mapping[tuple[str, Any], float] = field(default_factory=dict)

    @classmethod
    def of(cls, table: EditableTable, by_name: Mapping[str, str], Y: Any, empty_is: EmptyIs = "missing") -> Self:
        r"""Return the label columns of a table whose labels have been read as Y, in the order of the names.

        Examples
        --------
        >>> from spmld.review.label_forms import LabelFields
        >>> from spmld.review.text_tables import CsvTable
        >>> table = CsvTable("x,sad\n1,n/a\n2,yes\n")
        >>> LabelFields.of(table, {"sad": "sad"}, [[float("nan")], [1]]).read(table, {}).tolist()
        [[nan], [1.0]]
        """
        meaning: dict[tuple[str, Any], float] = {}
        for column, y in zip(by_name.values(), np.asarray(Y, dtype=float).T, strict=True):
            labels = np.where(np.isnan(y), np.nan, y > 0).tolist()
            meaning |= {(column, value): label for value, label in zip(table.column(column), labels, strict=True)}
        return cls(by_name, empty_is, meaning)

    @property
    def names(self) -> list[str]:
        """Names of the labels."""
        return list(self.by_name)

    @property
    def columns(self) -> list[str]:
        """Columns that contain labels."""
        return list(self.by_name.values())

    def read(self, table: EditableTable, changes: Changes) -> _Floats:
        """Return the labels after changes, as 1 and 0, NaN where missing."""
        Y = np.array([[self._number(c, value) for value in table.column(c)] for c in self.columns], dtype=float).T
        for (row, column), value in changes.items():
            Y[row, self.columns.index(column)] = self._number(column, value)
        return Y

    def changes(self, table: EditableTable, decided: Decided) -> Changes:
        """Return the new values of the fields for annotations, 1 or 0, given by row and name of the label."""
        forms, old = self._forms(table), self.read(table, {})
        places = {name: j for j, name in enumerate(self.by_name)}
        return {
            (row, self.by_name[name]): forms[self.by_name[name]][value]
            for (row, name), value in decided.items()
            if old[row, places[name]] != value
        }

    def with_names(self, annotations: list[Annotation]) -> list[Annotation]:
        """Return annotations with the names of the labels."""
        return annotations

    def exact(self, table: EditableTable, decided: Decided) -> Decided:
        """Return the annotations that the words of the table can express: absent only if it has a negative."""
        negative = (self.read(table, {}) == 0).any()
        return {place: value for place, value in decided.items() if value or negative}

    def _number(self, column: str, value: Any) -> float:
        if (column, value) in self.meaning:
            return self.meaning[column, value]
        number = to_number(value)
        if np.isnan(number):
            return 0.0 if self.empty_is == "negative" else np.nan
        return float(number > 0)

    def _forms(self, table: EditableTable) -> dict[str, dict[int, Any]]:
        """Return the value of a positive and of a negative in each label column, or in the other label columns."""
        used: dict[str, dict[int, Counter[Any]]] = {}
        total: dict[int, Counter[Any]] = {1: Counter(), 0: Counter()}
        for column in self.columns:
            used[column] = {1: Counter(), 0: Counter()}
            for value, count in Counter(table.column(column)).items():
                if not np.isnan(number := self._number(column, value)):
                    used[column][int(number)][value] += count
                    total[int(number)][value] += count
        return {
            column: {value: _most_common(counts[value], counts[1 - value], total[value], value) for value in (1, 0)}
            for column, counts in used.items()
        }


def _most_common(same: Counter[Any], opposite: Counter[Any], others: Counter[Any], default: int) -> Any:
    """Return the most frequent form of a value: in its column, else in other columns, of the same type."""
    if same:
        return same.most_common(1)[0][0]
    kinds = {type(value) for value in opposite} - {type(None)}
    form = next((value for value, _ in others.most_common() if not kinds or type(value) in kinds), None)
    if form is not None:
        return form
    kind = next(iter(kinds), str)
    return _DEFAULTS[default] if kind is str else kind(default)


@dataclass(frozen=True)
class TagColumn:
    r"""Labels in one column with a list of tags. An annotation adds a tag at the end of a list, or removes it.

    A label has all spellings that `spmld.labels.read_tags` reads as this label: the most frequent one is added, and all
    of them are removed. Other tags, their order and the separator stay the same. A list without tags is ``[]``, since
    an empty field means missing labels, unless `empty_is` is "negative".

    Attributes
    ----------
    column : str
        Name of the column.
    names : list of str
        Names of the labels.
    sep : str or None
        Separator of the tags, or several, see `spmld.labels.read_tags`. By default, it is guessed. A tag is added with
        the separator that its list has already, or else with the most common one of the column.
    untagged, empty_is, tag_case : str
        Meaning of a tag that is not in a list and of an empty field, and whether tags that differ only in case are one
        label; see `spmld.labels.read_tags`.

    Examples
    --------
    >>> from spmld.review.label_forms import TagColumn
    >>> from spmld.review.text_tables import CsvTable
    >>> table = CsvTable("words,tags\nThe rain,calm; sad\nThe sun,calm\n")
    >>> tags = TagColumn("tags", ["calm", "sad"])
    >>> tags.changes(table, {(0, "calm"): 0, (1, "sad"): 1, (1, "calm"): 1})
    {(0, 'tags'): 'sad', (1, 'tags'): 'calm; sad'}
    """

    column: str
    names: list[str]
    sep: str | None = None
    untagged: Untagged = "negative"
    empty_is: EmptyIs = "missing"
    tag_case: TagCase = "merge"

    @property
    def columns(self) -> list[str]:
        """Columns that contain labels."""
        return [self.column]

    def read(self, table: EditableTable, changes: Changes) -> _Floats:
        """Return the labels after changes, as 1 and 0, NaN where missing."""
        values = table.column(self.column)
        sep = self._separator(values)
        for (row, _), value in changes.items():
            values[row] = value
        options: Any = {"untagged": self.untagged, "empty_is": self.empty_is, "tag_case": self.tag_case}
        return read_tags(values, sep=sep, names=self.names, **options).Y

    def changes(self, table: EditableTable, decided: Decided) -> Changes:
        """Return the new values of the fields for annotations, 1 or 0, given by row and name of the label.

        An empty field that means missing labels does not change, unless a tag is added or all labels are decided.
        """
        values = table.column(self.column)
        sep = self._separator(values)
        style = _TagStyle.of(values, sep)
        counts = Counter(tag for value in values for tag in split_tags(value, sep) or ())
        label = label_of_tags(counts, self.names, self.tag_case)
        usual = {label[tag]: tag for tag, _ in reversed(counts.most_common())}
        by_row: dict[int, dict[str, int]] = {}
        for (row, name), value in decided.items():
            by_row.setdefault(row, {})[name] = value
        changes = {}
        for row, answers in by_row.items():
            old = split_tags(values[row], sep)
            present = {label[tag] for tag in old or ()}
            add = [usual.get(name, name) for name, value in answers.items() if value and name not in present]
            remove = {tag for tag in old or () if answers.get(label[tag]) == 0}
            complete = old is None and self.empty_is == "missing" and len(answers) == len(self.names)
            if add or remove or complete:
                changes[row, self.column] = style.edit(values[row], add, remove, self._none())
        return changes

    def with_names(self, annotations: list[Annotation]) -> list[Annotation]:
        """Return annotations with the names of the labels, of which they may have another spelling."""
        label = label_of_tags(Counter(annotation.label for annotation in annotations), self.names, self.tag_case)
        return [replace(annotation, label=label[annotation.label]) for annotation in annotations]

    def exact(self, table: EditableTable, decided: Decided) -> Decided:
        """Return the annotations that lists of tags can express without changing other labels.

        A tag that is not listed is missing or negative, and so are all tags of a sample whose missing labels get a tag.
        """
        if self.untagged != "negative":
            return {place: value for place, value in decided.items() if value}
        values = table.column(self.column)
        sep, counts = self._separator(values), Counter(row for row, _ in decided)
        complete = {row for row in counts if counts[row] == len(self.names) or split_tags(values[row], sep) is not None}
        return {place: value for place, value in decided.items() if place[0] in complete}

    def _separator(self, values: Iterable[Any]) -> str | None:
        return self.sep or guess_separator([value for value in values if isinstance(value, str)])

    def _none(self) -> str:
        """Return the text of a list without tags."""
        return "[]" if self.untagged == "negative" and self.empty_is == "missing" else ""


@dataclass(frozen=True)
class _TagStyle:
    """Form of the lists of a column: separator with its spaces, quotes of a tag, brackets, or real lists."""

    sep: str
    glue: str
    quote: str
    brackets: bool
    lists: bool

    @classmethod
    def of(cls, values: Sequence[Any], sep: str | None) -> "_TagStyle":
        """Return the most common form."""
        texts = [value.strip() for value in values if isinstance(value, str) and value.strip()]
        parts = [_split(_inside(text), sep or _SEPARATOR) for text in texts]
        glue = Counter(part for row in parts for part in row[1::2])
        quotes = Counter(part[:1] if part[:1] in ("'", '"') else "" for row in parts for part in row[::2])
        filled = [text for text in texts if _inside(text)]
        brackets = sum(_inside(text) != text for text in filled) * 2 > len(filled)
        lists = not texts and any(value is not None and not isinstance(value, str) for value in values)
        common, quote = (counts.most_common(1)[0][0] if counts else "" for counts in (glue, quotes))
        sep = sep or _SEPARATOR
        usual = separators(sep)[0]
        return cls(sep, common or (f"{usual} " if usual.strip() else usual), quote, brackets, lists)

    def edit(self, value: Any, add: Sequence[str], remove: set[str], none: str) -> Any:
        """Return a list with other tags, in the type of the value; `none` is the text of a list without tags."""
        if hasattr(value, "tolist") or isinstance(value, (list, tuple)) or (value is None and self.lists):
            items = [] if value is None else list(value)
            return [item for item in items if str(item).strip() not in remove] + list(add)
        text = "" if value is None else str(value)
        inside = text.strip()
        brackets = _inside(inside) != inside if _inside(inside) else self.brackets
        inside = _inside(inside)
        parts = _split(inside, self.sep) if inside.strip() else []
        kept: list[str] = []
        for i in range(0, len(parts), 2):
            if parts[i].strip("'\"").strip() not in remove:
                kept += [*(parts[i - 1 : i] if kept else []), parts[i]]
        glue = parts[1] if len(parts) > 1 else self.glue
        for tag in add:
            kept += [*([glue] if kept else []), self.quote + tag + self.quote]
        joined = "".join(kept)
        if not joined.strip():
            return none
        joined = f"[{joined}]" if brackets else joined
        return text.replace(text.strip(), joined) if text.strip() else joined


def _inside(text: str) -> str:
    """Return a text without the brackets of a list."""
    return text[1:-1].strip() if text.startswith("[") and text.endswith("]") else text


def _split(text: str, sep: str) -> list[str]:
    """Return tags and the separators between them, with the spaces around them, in turn."""
    return re.split(rf"(\s*(?:{separator_pattern(sep)})\s*)", text)

"""Writing annotations into the labels of the reviewed file: label columns, or one column of tags."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld.app.review.annotations import ANSWER_VALUES, Annotation, match_annotations, resolve
from spmld.app.review.editable_tables import EditableTable, to_text
from spmld.app.review.table_samples import TableSamples
from spmld.labels.hierarchy import path_nodes
from spmld.labels.tags import (
    EmptyIs,
    Separator,
    TagCase,
    Untagged,
    label_of_tags,
    read_tags,
    separator_pattern,
    separators,
    tag_fields,
)
from spmld.labels.words import to_number

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LabelFields:
    r"""Labels in columns of their own. Annotations are written in the form that a column uses, such as yes and no.

    Attributes
    ----------
    by_name : mapping
        Column of each label.
    Y : array-like of shape (n_samples, n_labels), optional
        Labels of the table, NaN where missing. By default, they are read from the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.app.review.applying import LabelFields
    >>> from spmld.app.review.editable_tables import CsvTable
    >>> table = CsvTable("words,label_sad\nThe rain,no\nThe sun,yes\n")
    >>> LabelFields({"sad": "label_sad"}).write(table, [[1], [np.nan]]).tolist(), table.column("label_sad")
    ([[1.0], [1.0]], ['yes', 'yes'])
    """

    by_name: Mapping[str, str]
    Y: Any = None

    @property
    def names(self) -> list[str]:
        """Names of the labels."""
        return list(self.by_name)

    @property
    def columns(self) -> list[str]:
        """Columns that contain labels."""
        return list(self.by_name.values())

    def read(self, table: EditableTable) -> _Floats:
        """Return the labels as 1 and 0, NaN where missing."""
        rows = table.select(self.columns) if self.Y is None else self.Y
        Y = np.array([[to_number(value) for value in row] for row in rows])
        return np.where(np.isnan(Y), np.nan, Y > 0)

    def write(self, table: EditableTable, decided: Any) -> _Floats:
        """Write labels, 1 or 0, NaN where not decided, into the table, and return all labels after it."""
        decided = np.asarray(decided, dtype=float)
        Y = self.read(table)
        values = np.array(table.select(self.columns), dtype=object)
        for j, column in enumerate(self.columns):
            for label in (1, 0):
                rows = np.flatnonzero((decided[:, j] == label) & (Y[:, j] != label)).tolist()
                word = _word(values, Y, j, label) if rows else None
                for row in rows:
                    table.set(row, column, word)
        return np.where(np.isnan(decided), Y, decided)

    def exact(self, table: EditableTable, decided: _Floats) -> _Floats:
        """Return the decided labels that the words of the table can express: absent only if it has a negative."""
        return decided if (self.read(table) == 0).any() else np.where(decided == 0, np.nan, decided)


def _word(values: NDArray[Any], Y: _Floats, j: int, label: int) -> Any:
    """Return the most frequent value of a label, 1 or 0, in column j, or else in other columns, of the same type."""
    words = Counter(values[Y[:, j] == label, j])
    if not words:
        kinds = {type(value) for value in values[Y[:, j] == 1 - label, j]} - {type(None)}
        words = Counter(value for value in values[label == Y] if not kinds or type(value) in kinds)
        words.setdefault(next(iter(kinds), str)(label), 0)
    return words.most_common(1)[0][0]


@dataclass(frozen=True)
class TagColumn:
    r"""Labels in one column with a list of tags. An annotation adds a tag at the end of a list, or removes it.

    A label has all spellings that `spmld.labels.read_tags` reads as this label: the most frequent one is added, and all
    of them are removed. Other tags and their order stay the same. A list without tags is ``[]``, since an empty field
    means missing labels, unless `empty_is` is "negative".

    Attributes
    ----------
    column : str
        Name of the column.
    names : list of str
        Names of the labels.
    sep : str, sequence of str or None
        Separators of the tags, see `spmld.labels.read_tags`. By default, it is guessed. Tags are written
        with the separator of their list, or else of the first list of the column with several tags.
    untagged, empty_is, tag_case : str
        Meaning of a tag that is not in a list and of an empty field, and whether tags that differ only in case are one
        label; see `spmld.labels.read_tags`.
    path_sep : str or None
        Separator of tags that are paths. If rock/metal is absent, the tag rock/metal/doom becomes rock.
    positive, negative, missing : sequence of str
        Words that are tags, that mean no tags, and that mean an empty field; see `spmld.labels.read_tags`.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.app.review.applying import TagColumn
    >>> from spmld.app.review.editable_tables import CsvTable
    >>> table = CsvTable("words,tags\nThe rain,calm; sad\nThe sun,calm\n")
    >>> tags = TagColumn("tags", ["calm", "sad"])
    >>> tags.write(table, [[0, np.nan], [1, 1]]).tolist(), table.column("tags")
    ([[0.0, 1.0], [1.0, 1.0]], ['sad', 'calm; sad'])
    """

    column: str
    names: list[str]
    sep: Separator | None = None
    untagged: Untagged = "negative"
    empty_is: EmptyIs = "missing"
    tag_case: TagCase = "merge"
    path_sep: str | None = None
    positive: Sequence[str] = ()
    negative: Sequence[str] = ()
    missing: Sequence[str] = ()

    @property
    def columns(self) -> list[str]:
        """Columns that contain labels."""
        return [self.column]

    def read(self, table: EditableTable) -> _Floats:
        """Return the labels as 1 and 0, NaN where missing."""
        return self._read(table.column(self.column), self.sep)

    def _read(self, values: list[Any], sep: Separator | None) -> _Floats:
        options: Any = {name: getattr(self, name) for name in ("untagged", "empty_is", "tag_case")}
        return read_tags(values, sep=sep, names=self.names, **options, **self._words).Y

    @property
    def _words(self) -> dict[str, Any]:
        """Arguments of `tag_fields` about words and paths."""
        return {name: getattr(self, name) for name in ("path_sep", "positive", "negative", "missing")}

    def write(self, table: EditableTable, decided: Any) -> _Floats:
        """Write labels, 1 or 0, NaN where not decided, into the table, and return all labels after it.

        An empty field that means missing labels does not change, unless a tag is added or all labels are decided.
        """
        values = table.column(self.column)
        fields = tag_fields(values, self.sep, names=self.names, **self._words)
        lists = fields.lists
        sep = fields.sep
        all_tags = [tag for tags in lists for tag in tags or ()]
        counts = Counter(node for tag in all_tags for node in self._nodes(tag))
        label = label_of_tags(counts, self.names, self.tag_case)
        usual = {label[tag]: tag for tag, _ in reversed(counts.most_common())}
        several = [value for value, tags in zip(values, lists, strict=True) if len(tags or ()) > 1]
        example = next((value for value in several if isinstance(value, str)), "")
        no_tags = "[]" if self.untagged == "negative" and self.empty_is == "missing" else ""
        has_lists = any(isinstance(value, list) for value in values)
        decided = np.asarray(decided, dtype=float)
        for row in np.flatnonzero(~np.isnan(decided).all(axis=1)).tolist():
            old = lists[row] or []
            answers = dict(zip(self.names, decided[row].tolist(), strict=True))
            absent = {node for node in counts if answers.get(label[node]) == 0}
            kept = [self._remove(tag, absent) for tag in old]
            new = [tag for tag in kept if tag is not None]
            present = {label[node] for tag in new for node in self._nodes(tag)}
            new += [usual.get(name, name) for name, value in answers.items() if value == 1 and name not in present]
            complete = lists[row] is None and self.empty_is == "missing" and not np.isnan(decided[row]).any()
            if new != old or complete:
                is_list = isinstance(values[row], list) or (has_lists and lists[row] is None)
                text = _join(new, to_text(values[row]), example, sep or ";") if new else no_tags
                table.set(row, self.column, new if is_list else text)
        return self._read(table.column(self.column), sep)

    def _nodes(self, tag: str) -> list[str]:
        """Return the tag after its ancestors, if tags are paths."""
        return [tag] if self.path_sep is None else path_nodes(tag, self.path_sep)

    def _remove(self, tag: str, absent: set[str]) -> str | None:
        """Return the tag, or else its nearest ancestor that is not absent or below an absent one."""
        nodes = self._nodes(tag)
        kept = list(takewhile(lambda node: node not in absent, nodes))
        return tag if kept == nodes else kept[-1] if kept else None

    def exact(self, table: EditableTable, decided: _Floats) -> _Floats:
        """Return the decided labels, which were missing, that tags can express without changing other labels.

        A tag that is not listed is missing or negative, and so are all tags of a sample whose missing labels get a tag.
        """
        negative = self.untagged == "negative"
        lost = np.isnan(decided).any(axis=1, keepdims=True) if negative else decided == 0
        return np.where(lost, np.nan, decided)


def _join(tags: list[str], old: str, example: str, sep: Separator) -> str:
    """Return tags as a text, with the separator, brackets and quotes of the old text, or of an example with several."""
    separator = re.compile(rf"\s*(?:{separator_pattern(sep)})\s*")
    model = next((text.strip() for text in (old, example) if separator.search(text.strip())), old.strip())
    match = separator.search(model)
    listed = re.match(r"\[(['\"]?)", model)
    usual = separators(sep)[0]
    glue = match[0] if match else usual if usual.isspace() else f"{usual} "
    quote = listed[1] if listed else ""
    joined = glue.join(quote + tag + quote for tag in tags)
    return f"[{joined}]" if listed else joined


@dataclass(frozen=True, eq=False)
class Applied:
    """Result of `apply_annotations`.

    Attributes
    ----------
    content : bytes
        Content of the new file.
    written : ndarray of bool of shape (n_samples, n_labels)
        Entries that are decided and that the new file contains.
    trusted : ndarray of bool of shape (n_samples, n_labels)
        Those of them that people have decided, and not a model.
    changed, confirmed, added : int
        Number of observed labels that were changed and confirmed, and of missing labels that were added.
    unsure, conflicts : int
        Number of entries that were left as they are because reviewers are unsure or disagree.
    unwritten, implied : int
        Number of annotations that a column of tags cannot express, such as an absent tag of a sample whose labels are
        missing, and of entries without an annotation that were missing and are negative now, because their sample has
        its first tag.
    unmatched : list of Annotation
        Annotations of samples or labels that are not in the file.

    Examples
    --------
    See `apply_annotations`.
    """

    content: bytes
    written: NDArray[np.bool_]
    trusted: NDArray[np.bool_]
    changed: int
    confirmed: int
    added: int
    unsure: int
    conflicts: int
    unwritten: int
    implied: int
    unmatched: list[Annotation]


def apply_annotations(
    table: EditableTable,
    annotations: Iterable[Annotation],
    labels: Mapping[str, str] | LabelFields | TagColumn,
    id: str | None = None,
) -> Applied:
    r"""Write annotations into a table, whose other fields do not change.

    Labels are written in the form that the table uses, such as 1 and 0, yes and no, or a list of tags. The table has
    the new labels afterwards.

    Parameters
    ----------
    table : EditableTable
        Table, see `open_table`.
    annotations : iterable of Annotation
        Annotations of one or several reviewers, see `resolve`.
    labels : mapping, LabelFields or TagColumn
        Column of each label, or the column of tags.
    id : str, optional
        Column that identifies the samples, see `TableSamples`.

    Returns
    -------
    Applied

    Examples
    --------
    >>> from spmld.app.review import Annotation, apply_annotations
    >>> from spmld.app.review.applying import TagColumn
    >>> from spmld.app.review.editable_tables import CsvTable
    >>> table = CsvTable("words,label_sad,label_calm\nThe rain,no,\nThe sun,yes,no\n")
    >>> annotations = [Annotation("", "sad", "present", sample=0), Annotation("", "calm", "absent", sample=0)]
    >>> applied = apply_annotations(table, annotations, {"sad": "label_sad", "calm": "label_calm"})
    >>> print(applied.content.decode(), end="")
    words,label_sad,label_calm
    The rain,yes,no
    The sun,yes,no
    >>> applied.changed, applied.added, applied.trusted[0]
    (1, 1, array([ True,  True]))
    >>> table = CsvTable("words,tags\nThe rain,calm | slow\nThe sun,calm\n")
    >>> applied = apply_annotations(table, annotations, TagColumn("tags", ["calm", "sad", "slow"]))
    >>> print(applied.content.decode(), end="")
    words,tags
    The rain,slow | sad
    The sun,calm
    """
    form = LabelFields(labels) if isinstance(labels, Mapping) else labels
    samples = TableSamples(table, form.columns, id=id)
    annotations, unmatched = match_annotations(annotations, samples, form.names)
    outcomes = resolve(annotations)
    columns = {name: j for j, name in enumerate(form.names)}
    places = {
        (key, name): (samples.index[key], columns[name])
        for key, name in outcomes
        if key in samples.index and name in columns
    }
    values = np.full((len(table), len(columns)), np.nan)
    verified = np.zeros((len(table), len(columns)), dtype=bool)
    for place, entry in places.items():
        values[entry] = ANSWER_VALUES.get(outcomes[place], np.nan)
    for annotation in annotations:
        if annotation.place in places and annotation.confidence is None:
            verified[places[annotation.place]] = True
    old = form.read(table)
    new = form.write(table, values)
    written = new == values
    given = [outcomes[place] for place in places]
    return Applied(
        content=table.content(),
        written=written,
        trusted=written & verified,
        changed=int((written & ~np.isnan(old) & (old != values)).sum()),
        confirmed=int((written & (old == values)).sum()),
        added=int((written & np.isnan(old)).sum()),
        unsure=given.count("unsure"),
        conflicts=given.count("conflict"),
        unwritten=int((~np.isnan(values) & ~written).sum()),
        implied=int((np.isnan(values) & np.isnan(old) & ~np.isnan(new)).sum()),
        unmatched=unmatched,
    )

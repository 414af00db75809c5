"""Roles of the columns of a table: labels, tags, identifier and text; features that have the role of a label."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld._io import need
from spmld._validation import check_choice, list_names
from spmld.labels.tags import EmptyIs, Separator, TagCase, Untagged
from spmld.labels.words import LabelWords, fold_spelling, label_words
from spmld.tables.columns import FIRST_VALUES, is_nested, is_typed, without_missing_words
from spmld.tables.errors import LIST_OPTIONS, TableProblem, absent_columns
from spmld.tables.label_columns import (
    LabelColumns,
    ambiguous_numbers,
    no_labels,
    notes_on_rest,
    read_label_column,
    read_tag_column,
)

PREFIX = "label_"
COLUMN_KINDS = ("text", "number", "category", "date", "vectors")
COLUMN_LISTS = ("labels", *COLUMN_KINDS, "drop", "keep")
"""Roles that several columns may have."""


MIN_SAMPLES = 10
"""Mean number of samples with each value of a column that show that it determines a label.

A column that agrees with a label in nine of ten samples is expected to differ from it in one of them.
"""


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
    tag_sep : str or sequence of str, optional
        Separators of the tags, such as ``";"``, ``";,"`` or ``[";", " and "]``; see `spmld.labels.read_tags`. By
        default, one is guessed.
    untagged : {"negative", "weak", "missing"}, default="negative"
        Whether a tag that is not in the list of a sample is a negative or a missing label; see
        `spmld.labels.read_tags`.
    tag_case : {"merge", "keep"}, default="merge"
        Whether tags that differ only in case or width are one label or several.
    path_sep : str, optional
        Separator of tags or labels that are paths, such as ``"/"`` for rock/metal, below rock. The ancestors of a tag
        are labels, too.
    empty_is : {"missing", "negative"}, default="missing"
        Whether an empty field of a label column or of the tags is missing or negative.
    id : str, optional
        Column that identifies the samples in all outputs. It is not a feature.
    annotator : str, optional
        Column with the annotator of each row. A sample has a row for each annotator, and the same `id` in all of them.
        Its features are those of its first row.
    trusted : str, optional
        Column with 1 or yes for each sample whose labels are verified. It is not a feature.
    text, number, category, date, vectors : sequence of str, default=()
        Columns of these kinds. The kinds of the other features are detected, except vectors: lists of numbers.
    embed : str, optional
        Model whose embeddings of text columns are features, too; see `TextEmbedder`.
    drop : sequence of str, default=()
        Columns to ignore.
    keep : sequence of str, default=()
        Features that may determine a label, or look like one. Without it, a feature is an error if each of its values
        occurs with one value of a label only, in many samples, since it is then a copy of the label. Columns in `text`
        need not be named here.
    day_first : bool, default=False
        Whether the day comes first in dates such as 03/04/2024 if all dates can be read in both orders.
    decimal : {".", ","}, optional
        Decimal separator of text such as 1,234. By default, it is decided by the other values of the column.
    strict : bool, default=False
        Whether values that cannot be read as the number or date of their column are an error, also in new data. By
        default, they are missing, and a note counts them.
    positive, negative, missing : sequence of str or number, default=()
        Words, numbers, and thresholds such as ``">=2"`` for positive, negative and missing labels, in addition to those
        of `spmld.labels.words`; see `spmld.labels.words.label_words`. In a column of tags, words that are tags, that
        mean no tags, and that mean an empty field; see `spmld.labels.read_tags`.

    Examples
    --------
    >>> from spmld.tables import TableRoles
    >>> TableRoles.from_dict(TableRoles(tags="tags", text="review").to_dict()).text
    ('review',)
    """

    labels: Sequence[str] | None = None
    prefix: str = PREFIX
    tags: str | None = None
    tag_sep: Separator | None = None
    untagged: Untagged = "negative"
    tag_case: TagCase = "merge"
    path_sep: str | None = None
    empty_is: EmptyIs = "missing"
    id: str | None = None
    annotator: str | None = None
    trusted: str | None = None
    text: Sequence[str] = ()
    number: Sequence[str] = ()
    category: Sequence[str] = ()
    date: Sequence[str] = ()
    vectors: Sequence[str] = ()
    embed: str | None = None
    drop: Sequence[str] = ()
    keep: Sequence[str] = ()
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
        for name in LIST_OPTIONS:
            value = getattr(self, name)
            columns = (value,) if np.isscalar(value) else value
            object.__setattr__(self, name, None if columns is None else tuple(map(str, columns)))
        self.words  # noqa: B018  # words with two meanings raise an error

    @cached_property
    def words(self) -> LabelWords:
        """Meaning of the words and numbers of label columns."""
        return label_words(self.positive, self.negative, self.missing)

    @property
    def tag_meaning(self) -> dict[str, Any]:
        """Arguments of `spmld.labels.read_tags` about the meaning of tags and words."""
        names = ("untagged", "empty_is", "tag_case", "path_sep", "positive", "negative", "missing")
        return {name: getattr(self, name) for name in names}

    def to_dict(self) -> dict[str, Any]:
        """Return the roles that are set, in types that JSON supports."""
        return {name: value for name, value in asdict(self).items() if value != getattr(type(self)(), name)}

    @classmethod
    def from_dict(cls, roles: dict[str, Any]) -> Self:
        """Return the roles from their dictionary."""
        return cls(**{item.name: roles[item.name] for item in fields(cls) if item.name in roles})

    def options_by_column(self) -> dict[str, list[str]]:
        """Return the options that name each column."""
        named: dict[str, list[str]] = {}
        for option in ("tags", "id", "annotator", "trusted", *COLUMN_LISTS):
            value = getattr(self, option)
            for name in (value,) if isinstance(value, str) else value or ():
                named.setdefault(name, []).append(option)
        return named

    def find_problems(self, columns: Sequence[str]) -> list[TableProblem]:
        """Return a problem for each named column that the table does not have, or that has two roles."""
        problems = []
        for name, options in self.options_by_column().items():
            if name not in columns:
                problems.append(absent_columns([name], columns, option=options[0]))
            elif len(options) > 1 and not (options[0] in COLUMN_KINDS and options[1:] == ["keep"]):
                problems.append(TableProblem(f"column {name!r} has two roles, {' and '.join(options)}; pass one"))
        if self.annotator is not None and self.id is None:
            text = "annotator requires the column that identifies the samples, since each has several rows"
            problems.append(TableProblem(text, (("id", "COLUMN"),)))
        if self.annotator is not None and self.trusted is not None:
            problems.append(TableProblem("trusted cannot be combined with annotator; leave out one of them"))
        return problems


ROLES = tuple(item.name for item in fields(TableRoles))
"""Names of the roles, which are options of the readers of tables."""


def find_label_columns(names: Iterable[str], columns: Iterable[str], prefix: str = PREFIX) -> dict[str, str]:
    """Return the column of each label, whose name may have a prefix; labels without a column are left out."""
    existing = set(columns)
    by_name = {}
    for name in names:
        if prefix + name in existing:
            by_name[name] = prefix + name
        elif name in existing:
            by_name[name] = name
    return by_name


def read_label_columns(frame: Any, roles: TableRoles, names: Sequence[str] | None = None) -> LabelColumns:
    """Read the labels of a table, by default all, otherwise those of a model with these names.

    Columns of `roles` that do not exist must have been reported by `TableRoles.find_problems`.
    """
    if roles.tags is not None:
        return read_tag_column(frame, roles, names)
    result = LabelColumns()
    if names is not None:
        by_name = find_label_columns(names, frame.columns, roles.prefix)
        if absent := [name for name in names if name not in by_name]:
            return LabelColumns(problems=[absent_columns(absent, frame.columns, expected=names, kind="label")])
        result.names = list(names)
        result.columns = list(by_name.values())
    elif roles.labels is not None:
        result.names = result.columns = list(roles.labels)
    else:
        result.columns = [c for c in frame.columns if c.startswith(roles.prefix) and c not in roles.drop]
        result.names = [column.removeprefix(roles.prefix) for column in result.columns]
    if not result.columns:
        columns = [name for name in frame.columns if name not in roles.options_by_column()]
        result.problems.append(no_labels(frame, columns, roles.prefix))
    present = [column for column in result.columns if column in frame.columns]
    arrays = [read_label_column(frame[column], roles, result.problems) for column in present]
    if arrays and not result.problems:
        result.Y = np.column_stack(arrays)
        result.problems += ambiguous_numbers(result.Y, present)
        result.notes += notes_on_rest(frame[present], roles)
        _read_empty_fields(frame[present], roles, result)
    return result


def _read_empty_fields(frame: Any, roles: TableRoles, labels: LabelColumns) -> None:
    """Make empty fields negatives if the roles say so; otherwise note columns without negatives."""
    Y = labels.Y
    if roles.empty_is == "negative":
        Y[np.isnan(Y)] = -1.0 if (Y == -1).any() else 0.0
    positive_only = np.isnan(Y).any(axis=0) & (Y == 1).any(axis=0) & ~(Y < 1).any(axis=0)
    columns = [name for name, chosen in zip(frame.columns, positive_only, strict=True) if chosen]
    if columns := [name for name in columns if not is_typed(frame[name])]:
        text = f"columns {list_names(columns)} have only x and empty fields, and empty fields are missing labels"
        labels.notes.append(TableProblem(text, (("empty_is", "negative"),)))
    if np.isnan(Y).all():
        text = f"all fields of the label columns are empty: {list_names(frame.columns)}"
        labels.problems.append(TableProblem(text))


def copies_of_labels(features: Any, Y: NDArray[np.float64], names: Sequence[str]) -> list[TableProblem]:
    """Return a problem for each column of features that determines a label.

    A column determines a label if each of its values occurs with one value of the label only, as in a copy of the label
    or in its negation; or if its gaps do. Among the samples where both are observed, both values of the label must
    occur in at least `MIN_SAMPLES` samples for each value of the column that goes with them. Constant and rare labels
    are therefore never determined, nor are labels by columns with few samples for each value, such as identifiers.
    Repeated rows must be left out of `features` and `Y`, since they are the same evidence.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from spmld.tables.roles import copies_of_labels
    >>> songs = pd.DataFrame({"tempo": range(60, 80), "mood": ["sad", "happy"] * 10})
    >>> print(copies_of_labels(songs, np.array([[1], [0]] * 10), ["sad"])[0].text)
    column 'mood' determines the label sad in all samples, as a copy of the label does
    """
    frequent = np.flatnonzero(((Y == 1).sum(axis=0) >= MIN_SAMPLES) & ((Y < 1).sum(axis=0) >= MIN_SAMPLES))
    Y = Y[:, frequent]
    problems = []
    for name, column in features.items() if len(frequent) else ():
        values = _value_codes(column)
        gaps = (values < 0).astype(int)
        if len(labels := frequent[_determines(values, Y) | _determines(gaps, Y)]):
            shown = f"label{'s' * (len(labels) > 1)} {list_names(names[i] for i in labels)}"
            text = f"column {name!r} determines the {shown} in all samples, as a copy of the label does"
            problems.append(TableProblem(text, (("drop", str(name)), ("keep", str(name)))))
    return problems


def _value_codes(column: Any) -> NDArray[np.intp]:
    """Return the index of the value of each sample, -1 where it is missing."""
    column = (column.astype(str) if is_nested(column) else column).reset_index(drop=True)
    observed = without_missing_words(column.dropna())
    codes = np.full(len(column), -1)
    codes[observed.index], _ = need("pandas").factorize(observed)
    return codes


def _determines(codes: NDArray[np.intp], Y: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which labels are determined by the values with these indices, see `copies_of_labels`."""
    determined = np.zeros(Y.shape[1], dtype=bool)
    n_values = codes.max(initial=-1) + 1
    if n_values < 2 or n_values * MIN_SAMPLES > len(codes):
        return determined
    pure = ~_are_mixed(*_count_labels(codes[:FIRST_VALUES], Y[:FIRST_VALUES], n_values))
    if pure.any():
        counts = _count_labels(codes, Y[:, pure], n_values)
        are_enough = [count.sum(axis=0) >= MIN_SAMPLES * np.maximum((count > 0).sum(axis=0), 1) for count in counts]
        determined[pure] = ~_are_mixed(*counts) & are_enough[0] & are_enough[1]
    return determined


def _are_mixed(positives: NDArray[np.float64], negatives: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which labels are positive and negative in samples with the same value."""
    return np.any(np.minimum(positives, negatives) > 0, axis=0)


def _count_labels(codes: NDArray[np.intp], Y: NDArray[np.float64], n_values: int) -> tuple[Any, Any]:
    """Return the number of positives and of negatives of each label among the samples with each value."""
    samples = np.flatnonzero(codes >= 0)
    shape = n_values, len(codes)
    members = sp.csr_array((np.ones(len(samples)), (codes[samples], samples)), shape=shape)
    return members @ (Y == 1), members @ (Y < 1)


def like_labels(features: Any, labels: Any, roles: TableRoles) -> list[TableProblem]:
    """Return a note about features that look like label columns, as a label that is not named does.

    Their values and the first parts of their names are the same. The first part of a name ends before a digit, an
    underscore, a space or punctuation, and case is ignored.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.tables.roles import TableRoles, like_labels
    >>> songs = pd.DataFrame({"mood1": [1, 0], "mood2": [0, 1], "Mood 3": [1.0, None], "mood4": [2, 1], "new": [1, 0]})
    >>> print(like_labels(songs[["Mood 3", "mood4", "new"]], songs[["mood1", "mood2"]], TableRoles())[0].text)
    features that look like the labels mood1, mood2, but are not among them: Mood 3
    """
    parts = {_first_part(name) for name in labels.columns}
    named = [name for name in features.columns if _first_part(name) in parts]
    values = set().union(*(_distinct_values(labels[name]) for name in labels.columns)) if named else set()
    names = [name for name in named if (observed := _distinct_values(features[name])) and observed <= values]
    if not names:
        return []
    choices = ("drop" if roles.labels is None else "labels", "keep")
    options = tuple((option, name) for option in choices for name in names)
    text = f"features that look like the labels {list_names(labels.columns)}, but are not among them"
    return [TableProblem(f"{text}: {list_names(names)}", options)]


def _first_part(name: str) -> str:
    return fold_spelling(re.split(r"[\d\W_]", name, maxsplit=1)[0])


def _distinct_values(column: Any) -> set[Any]:
    """Return the distinct values, without differences of case."""
    if is_nested(column):
        return set()
    return {fold_spelling(value) if isinstance(value, str) else value for value in column.dropna().unique()}

"""Label columns and columns of tags: how they are recognized, and read as labels with notes and problems."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spmld._validation import list_names
from spmld.labels.tags import (
    SEPARATORS,
    Separator,
    Tags,
    absent_separators,
    guess_separator,
    read_tags,
    separators,
    show_separators,
    split_tags,
    unclear_separators,
)
from spmld.labels.words import WORDS, clean_spelling, fold_spelling, fold_words, parse_float, word_to_number
from spmld.tables.columns import column_kind
from spmld.tables.errors import TableProblem
from spmld.tables.numbers import NESTED

if TYPE_CHECKING:
    from spmld.tables.roles import TableRoles

MAX_LABEL_VALUES = 4
"""Maximum number of distinct values of a column that looks like a label."""


@dataclass
class LabelColumns:
    """Labels of a table: values as 0 and 1 or -1 and +1, NaN where missing, and the columns that they are read from."""

    Y: Any = None
    names: list[str] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    tag_sep: Separator | None = None
    problems: list[TableProblem] = field(default_factory=list)
    notes: list[TableProblem] = field(default_factory=list)


def no_labels(frame: Any, columns: Sequence[str], prefix: str) -> TableProblem:
    """Return the problem of a table without labels, with all columns that look like labels, or their prefix, and tags.

    `columns` are those without a role, and `prefix` is the one of label columns, which no column has.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.tables.label_columns import no_labels
    >>> songs = pd.DataFrame({"tempo": [60.5, 80], "is_sad": [1, 0], "is_loud": [0, 1]})
    >>> no_labels(songs, list(songs.columns), "label_").options
    (('prefix', 'is_'),)
    """
    labels = [name for name in columns if _looks_like_label(frame[name])]
    tags = [name for name in columns if looks_like_tags(frame[name])]
    shared = labels[0].partition("_")[0] + "_" if labels else ""
    has_prefix = len(labels) > 1 and labels == [name for name in frame.columns if name.startswith(shared)]
    named = [("prefix", shared)] if has_prefix else [("labels", name) for name in labels]
    options = [("tags", name) for name in tags[:1]] + named
    text = f"no column starts with {prefix!r}, and no labels or tags are named"
    if labels or tags:
        text += f". Columns that look like labels or tags: {list_names(labels + tags)}"
    else:
        text += f". The columns are {list_names(columns)}"
    return TableProblem(text, tuple(options) or (("labels", "COLUMN"), ("tags", "COLUMN")))


def _looks_like_label(column: Any) -> bool:
    values = column[~column.map(lambda value: isinstance(value, NESTED))].dropna().unique()
    if len(values) > MAX_LABEL_VALUES:
        return False
    texts = [value.strip() if isinstance(value, str) else str(value).removesuffix(".0") for value in values]
    numbers = set(map(word_to_number, texts))
    return None not in numbers and 1.0 in numbers


def looks_like_tags(column: Any) -> bool:
    """Return whether a column has lists of words, or text with a separator, that repeat.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.tables.label_columns import looks_like_tags
    >>> looks_like_tags(pd.Series(["sad; slow", "slow", "sad; slow"])), looks_like_tags(pd.Series(["sad", "slow"]))
    (True, False)
    """
    if column_kind(column) in ("number", "date"):
        return False
    values = [value for value in column.dropna() if isinstance(value, (str, list))]
    sep = guess_separator([value for value in values if isinstance(value, str)])
    if not values or (sep is None and not isinstance(values[0], list)):
        return False
    tags = [tag for value in values for tag in split_tags(value, sep) or ()]
    return len(set(tags)) <= 0.5 * len(tags) and sum(len(tag.split()) for tag in tags) <= 3 * len(tags)


def read_label_column(
    column: Any, roles: "TableRoles", problems: list[TableProblem], role: str = "label"
) -> NDArray[np.float64]:
    """Return a column of labels, or of verified samples, as numbers; values that are not labels are a problem."""
    words = roles.words if role == "label" else roles.words.without_numbers()
    name = str(column.name)
    objects = _label_values(column)
    try:
        meanings = {value: words.read(value) for value in dict.fromkeys(objects)}
    except ValueError as error:
        problems.append(TableProblem(f"{role} column {name!r}: {error}"))
        return np.full(len(objects), np.nan)
    invalid = sorted((value for value, meaning in meanings.items() if meaning is None), key=_number_first)
    if invalid:
        shown = ", ".join(map(_show, invalid[:3])) + (", ..." if len(invalid) > 3 else "")
        options = [("drop", name)] if role == "label" else []
        word = next((value.strip() for value in invalid if isinstance(value, str)), _show(invalid[0]))
        is_number = parse_float(word) is not None
        if looks_like_tags(column):
            options = [("tags", name), *options]
        elif role == "label" or not is_number:
            threshold = f">={word}" if is_number else word
            options = [("positive", threshold), ("negative", word), ("missing", word), *options]
        problems.append(TableProblem(f"{role} column {name!r} contains {shown}; accepted: {WORDS}", tuple(options)))
    return np.array([meanings[value] for value in objects], dtype=float)


def _label_values(column: Any) -> list[Any]:
    """Return the values of a label column as numbers and texts, None where missing."""
    if getattr(column.dtype, "kind", "O") == "f" and column.dtype.itemsize < 8:
        column = column.astype(str)  # 0.7 has other digits in double precision
    present = column.notna()
    return [
        (str(value) if isinstance(value, (*NESTED, bool, np.bool_)) else value) if known else None
        for value, known in zip(column.astype(object), present, strict=True)
    ]


def _number_first(value: Any) -> tuple[bool, float]:
    """Return a key that sorts numbers by size, before other values."""
    number = parse_float(value)
    return number is None, number or 0.0


def _show(value: Any) -> str:
    return repr(value) if parse_float(value) is None or isinstance(value, str) else f"{value:.15g}"


def ambiguous_numbers(Y: NDArray[np.float64], columns: list[str]) -> list[TableProblem]:
    """Return the problem that a table has the labels -1, 0 and 1, so that 0 may mean negative or missing."""
    if not ((Y == -1).any() and (Y == 0).any()):
        return []
    shown = list_names([name for name, signed in zip(columns, (Y == -1).any(axis=0), strict=True) if signed])
    text = f"label columns contain -1, 0 and 1, and -1 occurs in {shown}; pass the number that means missing, -1 or 0"
    return [TableProblem(text, (("missing", "0"),))]


def notes_on_rest(frame: Any, roles: "TableRoles") -> list[TableProblem]:
    """Return a note about the numbers that are neither positive nor negative words or thresholds."""
    rest = roles.words.rest
    if rest is None:
        return []
    by_column: dict[str, set[float]] = {}
    for name in frame.columns:
        numbers_of = set(map(roles.words.rest_number, dict.fromkeys(_label_values(frame[name]))))
        by_column[name] = {number for number in numbers_of if number is not None}
    numbers = sorted(set().union(*by_column.values()))
    if not numbers:
        return []
    columns = [name for name, found in by_column.items() if found]
    shown = f"number{'s' * (len(numbers) > 1)} {list_names(map(_show, numbers))}"
    text = f"{shown} of label columns {list_names(columns)} {'are' if len(numbers) > 1 else 'is'}"
    if np.isnan(rest):
        return [TableProblem(f"{text} missing, neither positive nor negative")]
    if rest == 1:
        text = f"{text} positive, since only negative"
        advice = ("positive", f">={_show(numbers[-1])}")
    else:
        text = f"{text} negative, since only positive"
        advice = ("negative", f"<={_show(numbers[0])}")
    return [TableProblem(f"{text} numbers are passed", (advice,))]


def read_tag_column(frame: Any, roles: "TableRoles", names: Sequence[str] | None) -> LabelColumns:
    """Return the labels of a column of tags; `names` are those of a model."""
    column = str(roles.tags)
    result = LabelColumns(columns=[column])
    if column not in frame.columns:
        return result
    values = frame[column].astype(object).where(frame[column].notna(), None)
    texts = [value for value in values if isinstance(value, str)]
    if names is None:
        result.problems += _absent_separators(texts, roles)
    try:
        tags = read_tags(values, sep=roles.tag_sep, names=names, **roles.tag_meaning)
    except ValueError as error:
        result.problems.append(TableProblem(f"column {column!r}: {error}", (("tags", "COLUMN"),)))
        return result
    result.Y = tags.Y
    result.names = tags.names
    result.tag_sep = tags.sep
    if tags.n_empty and roles.empty_is == "missing":
        text = f"{tags.n_empty} of {len(values)} samples have an empty field {column!r}: their labels are missing"
        result.notes.append(TableProblem(text, (("empty_is", "negative"),)))
    result.notes += _word_notes(tags, roles)
    if names is None:
        texts = [text for text in texts if fold_spelling(text) not in tags.words]
        result.notes += _separator_notes(texts, tags.sep, roles)
    if tags.unknown:
        text = f"{len(tags.unknown)} tags of {column!r} are not labels of the model and are ignored"
        result.notes.append(TableProblem(f"{text}: {list_names(list(tags.unknown))}"))
        result.problems += _separator_problems(tags, column)
    if names is None:
        result.notes += _spelling_notes(tags)
    return result


def _word_notes(tags: Tags, roles: "TableRoles") -> list[TableProblem]:
    """Return notes about words that are not tags, such as none, and about those that are tags beside others."""
    notes = []
    passed = fold_words((*roles.negative, *roles.missing))
    for word, (meaning, count) in tags.words.items():
        if word not in passed:
            means, option = ("an empty field", "negative") if np.isnan(meaning) else ("no tags", "missing")
            have = "sample has" if count == 1 else "samples have"
            text = f"{count} {have} {word!r} in {roles.tags!r}, which is not a tag and means {means}"
            notes.append(TableProblem(text, ((option, word), ("positive", word))))
    for word, example in tags.kept.items():
        if example:
            text = f"{word!r} is a tag of {roles.tags!r}, since it occurs beside other tags, as in {example!r}"
            notes.append(TableProblem(text, (("negative", word), ("missing", word))))
    return notes


def _absent_separators(texts: list[str], roles: "TableRoles") -> list[TableProblem]:
    """Return problems of separators that occur in no value, such as several that were passed as one text."""
    problems = []
    for sep, signs in absent_separators(texts, roles.tag_sep or ()).items():
        others = f"{' and '.join(map(repr, signs))} {'does' if len(signs) == 1 else 'do'}"
        text = f"tag_sep {sep!r} occurs in no value of column {roles.tags!r}, but {others}"
        problems.append(TableProblem(text, tuple(("tag_sep", sign) for sign in signs)))
    return problems


def _separator_notes(texts: list[str], sep: Separator | None, roles: "TableRoles") -> list[TableProblem]:
    """Return notes about tags that contain another separator, and about a guessed one that may be part of tags."""
    notes = []
    used = separators(sep or ())
    read = f"the separator {show_separators(used)}" if used else "no separator"
    for other, tag in unclear_separators(texts, sep, guessed=roles.tag_sep is None).items():
        if other in used:
            text = f"{other!r} may be part of tags of {roles.tags!r}, as in {tag!r}"
            chosen = used
        elif other != roles.path_sep:
            text = f"tags of {roles.tags!r} are read with {read}, but the tag {tag!r} contains {other!r}"
            chosen = (*used, other)
        else:
            continue
        notes.append(TableProblem(text, tuple(("tag_sep", item) for item in chosen)))
    return notes


def _separator_problems(tags: Tags, column: str) -> list[TableProblem]:
    """Return the problem that most tags which are not labels are lists of labels with another separator.

    A slash may be part of a tag.
    """
    labels = set(map(fold_spelling, tags.names))
    unknown = list(tags.unknown)
    for sep in (sep for sep in SEPARATORS if sep != "/"):
        lists = [
            tag for tag in unknown if sep in tag and labels.issuperset(map(fold_spelling, split_tags(tag, sep) or ()))
        ]
        if 2 * len(lists) > len(unknown):
            used = show_separators(tags.sep or ())
            text = f"tags of {column!r} are lists of labels, such as {lists[0]!r}, but the separator was {used}"
            return [TableProblem(text, (("tag_sep", sep),))]
    return []


def _spelling_notes(tags: Tags) -> list[TableProblem]:
    """Return notes about spellings that are read as one label, and about labels that may be the same."""
    alike = {tag: name for tag, name in tags.merged.items() if clean_spelling(tag) == name}
    notes = []
    if alike:
        text = list_names([f"{tag!a} is read as {name!r}" for tag, name in sorted(alike.items())])
        notes.append(TableProblem(f"tags that look the same are merged: {text}"))
    if others := sorted(tags.merged.items() - alike.items()):
        text = list_names([f"{tag!r} is read as {name!r}" for tag, name in others])
        notes.append(
            TableProblem(f"tags that differ only in case or width are merged: {text}", (("tag_case", "keep"),))
        )
    for group in tags.similar:
        names = " and ".join(map(repr, group))
        notes.append(TableProblem(f"tags {names} are different labels; if they are the same, use one spelling"))
    return notes

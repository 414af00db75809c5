"""Data sets from and to data frames."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld._frames import DataFrame, to_pandas
from spmld._io import need
from spmld._validation import list_names
from spmld.annotators import AnnotatorLabels, read_annotators
from spmld.datasets.dataset import Dataset
from spmld.datasets.hierarchies import path_hierarchy
from spmld.tables import TableEncoder, columns
from spmld.tables.errors import TableError, TableProblem, TableWarning
from spmld.tables.label_columns import LabelColumns, read_label_column
from spmld.tables.numbers import MAX_EXACT, NumberTexts
from spmld.tables.roles import COLUMN_KINDS, PREFIX, TableRoles, copies_of_labels, like_labels, read_label_columns


def from_frame(frame: Any, *, name: str = "", source: str = "", **roles: Any) -> Dataset:
    """Convert a DataFrame to a data set.

    If all features are numbers without missing values, they are used unchanged. Otherwise they are encoded by
    `spmld.tables.TableEncoder`, which is the attribute `encoder` of the result.

    Parameters
    ----------
    frame : DataFrame
        Table with a row for each sample, of pandas, polars or another library that narwhals supports.
    name : str, default=""
        Name of the data set.
    source : str, default=""
        Name of the table in error messages.
    **roles
        Roles of the columns, such as ``labels``, ``tags``, ``id``, ``text``, ``number`` and ``drop``; see `TableRoles`.

    Raises
    ------
    TableError
        With all problems of the table. A feature that determines a label is a problem, unless it is in `keep`.

    Warns
    -----
    TableWarning
        For columns that are not used as features, such as identifiers, for features that look like labels, for guesses
        about the values of columns, and for duplicate rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.datasets import from_frame
    >>> data = from_frame(pd.DataFrame({"pitch": [0.5, 0.1], "label_sad": [1, None], "label_calm": ["no", "yes"]}))
    >>> data.label_names
    ['sad', 'calm']
    >>> data.Y
    array([[ 1.,  0.],
           [nan,  1.]])
    >>> songs = pd.DataFrame({"nr": ["a1", "a2"], "review": ["slow and sad", "loud"], "tags": ["sad", "rock; loud"]})
    >>> from_frame(songs, text="review", tags="tags", id="nr").label_names
    ['loud', 'rock', 'sad']
    """
    table = TableRoles(**roles)
    frame = to_pandas(frame, "frame").rename(columns=str)
    problems = table.find_problems(list(frame.columns))
    if len(frame) == 0:
        problems.append(TableProblem("the table has no samples"))
    labels = read_label_columns(frame, table) if len(frame) else LabelColumns()
    problems += labels.problems
    hierarchy = None
    if table.path_sep is not None and labels.names:
        hierarchy = path_hierarchy(labels.names, table.path_sep, table.tag_case)
        if not hierarchy.edges:
            example = list_names(labels.names)
            problems.append(
                TableProblem(f"no label is below another one with the separator {table.path_sep!r}: {example}")
            )
    used = {*labels.columns, *table.drop, table.id, table.tags, table.trusted, table.annotator}
    answers = None
    inputs = [column for column in frame.columns if column not in used]
    if not inputs and table.annotator is None and set(labels.columns) <= set(frame.columns):
        problems.append(TableProblem("no column is left for features; at least one feature column is required"))
    verified = None
    if table.trusted in frame.columns:
        verified = read_label_column(frame[table.trusted], table, problems, "trusted") == 1
    if problems:
        raise TableError(problems, source)
    try:
        if table.annotator is not None:
            frame, labels.Y, answers = _read_answers(frame, table, inputs, labels)
        features = frame[inputs]
        X, kinds, encoder = _encode(features, table) if inputs else (np.empty((len(frame), 0)), {}, None)
    except ValueError as error:  # a TableError has several problems
        raise TableError(getattr(error, "problems", [TableProblem(str(error))]), source) from error
    used_names = [name for name, kind in kinds.items() if kind not in columns.IGNORED_KINDS]
    identifiers = {table.id, *(name for name, kind in kinds.items() if kind in ("identifier", "row number"))}
    distinct = ~columns.duplicated_rows(frame[[name for name in frame.columns if name not in identifiers]])
    candidates = features[[name for name in used_names if name not in (*table.keep, *table.text, *table.vectors)]]
    if problems := copies_of_labels(candidates[distinct], labels.Y[distinct], labels.names):
        raise TableError(problems, source)
    notes = [*labels.notes, *_feature_notes(features, table, kinds, encoder)]
    notes += [] if table.tags is not None else like_labels(candidates, frame[labels.columns], table)
    notes += _row_notes(frame, table, int((~distinct).sum())) if inputs else []
    for note in notes:
        warnings.warn(TableWarning(note), stacklevel=2)
    return Dataset(
        X,
        labels.Y,
        used_names if encoder is None else list(encoder.get_feature_names_out()),
        labels.names,
        name,
        trusted=verified,
        sample_names=sample_names(frame, table),
        answers=answers,
        encoder=encoder,
        roles=replace(table, tag_sep=labels.tag_sep or table.tag_sep, annotator=None),
        columns={name: columns.describe_column(name, kind, encoder) for name, kind in kinds.items()},
        hierarchy=hierarchy,
    )


def _read_answers(
    frame: Any, roles: TableRoles, features: list[str], labels: LabelColumns
) -> tuple[Any, NDArray[np.float64], AnnotatorLabels]:
    """Return the first row of each sample, the majority of the answers to each entry, and the answers."""
    names = frame[[roles.id, roles.annotator]].map(lambda value: value.strip() if isinstance(value, str) else value)
    empty = (names.isna() | (names == "")).sum()
    if empty.any():
        text = "column {!r} is empty in {} of {} rows; fill it in, or remove these rows"
        raise TableError([TableProblem(text.format(name, n, len(frame))) for name, n in empty.items() if n])
    frame = frame.assign(**names)
    samples, annotators = (frame[column].tolist() for column in names)
    answers = read_annotators(need("pandas").DataFrame(labels.Y, columns=labels.names), samples, annotators)
    differing = []
    for name in features:
        column = frame[name].astype(str) if columns.is_nested(frame[name]) else frame[name]
        if count := int((column.groupby(samples).nunique(dropna=False) > 1).sum()):
            differing.append(f"{name!r} in {count} sample{'s' * (count > 1)}")
    if differing:
        text = f"columns differ between the rows of a sample, and its first row is used: {list_names(differing)}"
        labels.notes.append(TableProblem(text))
    total = answers.by_sample(answers.signs)
    return frame[~frame[roles.id].duplicated()], np.where(total == 0, np.nan, total > 0), answers


def _encode(features: Any, roles: TableRoles) -> tuple[Any, dict[str, str], TableEncoder | None]:
    """Return the features, the kinds of the columns, and the encoder; None for numbers without missing values."""
    declared: dict[str, Any] = {kind: list(getattr(roles, kind)) for kind in COLUMN_KINDS}
    encoded = {name for kind, names in declared.items() if kind != "number" for name in names}
    kinds: dict[str, str] = {}
    for name in sorted(features.columns, key=lambda name: columns.is_typed(features[name])):  # the others show it first
        kinds[name] = "encoded" if name in encoded else columns.column_kind(features[name])
        if kinds[name] not in columns.IGNORED_KINDS:
            column = features[name]
            is_number = kinds[name] == "number" and column.dtype.kind in "biuf"
            if not is_number or columns.to_numbers(column).isna().any():
                break
    else:
        used = [name for name in features.columns if kinds[name] not in columns.IGNORED_KINDS]
        if used and roles.embed is None:
            X = np.column_stack([columns.to_numbers(features[name]).to_numpy() for name in used])
            return X, {name: kinds[name] for name in features.columns}, None
    options: dict[str, Any] = {name: getattr(roles, name) for name in ("embed", "day_first", "decimal", "strict")}
    encoder = TableEncoder(**declared, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)  # the notes have these values, and the options for them
        return encoder.fit_transform(features), encoder.kinds_, encoder


def sample_names(frame: Any, roles: TableRoles) -> list[Any] | None:
    """Return the values of the identifier column, None if there is none."""
    if roles.id is None or roles.id not in frame.columns:
        return None
    column = frame[roles.id]
    known = column.dropna()
    if column.dtype.kind == "f" and (known % 1 == 0).all() and (known.astype(float).abs() < MAX_EXACT).all():
        column = column.astype("Int64")  # pandas reads whole numbers with gaps as 1.0, 2.0
    return column.astype(object).where(column.notna(), "").tolist()


def identifier_text(value: Any) -> str:
    """Return an identifier as text; 7, 7.0 and 007 are equal, since formats store numbers in different ways.

    Examples
    --------
    >>> from spmld.datasets.frames import identifier_text
    >>> identifier_text(7.0), identifier_text("007"), identifier_text(" S7 ")
    ('7', '7', 'S7')
    """
    text = str(value).strip()
    return str(int(text.removesuffix(".0"))) if text.removesuffix(".0").isdecimal() else text


def _feature_notes(
    features: Any, roles: TableRoles, kinds: dict[str, str], encoder: TableEncoder | None
) -> list[TableProblem]:
    """Return notes about columns that are ignored or detected as text, and about guesses."""
    notes: list[TableProblem] = []
    for name, kind in kinds.items():
        if kind in columns.IGNORED_KINDS:
            options: list[tuple[str, str]] = []
            if kind in ("identifier", "row number") and not name.startswith("Unnamed"):
                options += [("id", name)] if roles.id is None else []
                other = "number" if columns.is_typed(features[name]) else "category"
                options += [(other, name)] if kind == "identifier" else []
            options += [("vectors", name)] if kind == "nested" and name not in roles.drop else []
            text = f"column {name!r} {columns.IGNORED_KINDS[kind]} and is not used as a feature"
            notes.append(TableProblem(text, tuple(options)))
        elif kind == "text" and name not in roles.text:
            notes.append(TableProblem(f"column {name!r} is encoded as text", (("text", name), ("drop", name))))
        notes += [] if encoder is None else columns.column_notes(features[name], encoder)
    return notes


def _row_notes(frame: Any, roles: TableRoles, n_repeated: int) -> list[TableProblem]:
    """Return notes about repeated identifiers, and about rows that are equal to an earlier one."""
    notes = []
    if roles.id is not None and not frame[roles.id].is_unique:
        repeated = frame[roles.id][frame[roles.id].duplicated()].iloc[0]
        shown = "an empty field" if repeated != repeated else repr(str(repeated))
        text = f"the identifiers in {roles.id!r} are not unique: {shown} occurs more than once"
        notes.append(TableProblem(text))
    if n_repeated:
        duplicates = "is a duplicate" if n_repeated == 1 else "are duplicates"
        text = f"{n_repeated} of {len(frame)} rows {duplicates} of another row"
        notes.append(TableProblem(f"{text}; held-out quality is too high if copies are in several folds"))
    return notes


def to_frame(data: Dataset) -> DataFrame:
    """Convert a data set to a DataFrame: features, then labels with the prefix "label_"."""
    pandas = need("pandas")
    X = data.X.toarray() if sp.issparse(data.X) else data.X
    taken = [name for name in data.feature_names if name.startswith(PREFIX)]
    if taken:
        raise ValueError(f"the feature {taken[0]!r} would be read as a label, since its name starts with {PREFIX!r}")
    labels = pandas.DataFrame(data.Y, columns=[PREFIX + name for name in data.label_names]).astype("Int8")
    return pandas.concat([pandas.DataFrame(X, columns=list(data.feature_names)), labels], axis=1)


def numeric_columns(frame: Any, columns: Sequence[str], decimal: str | None = None) -> NDArray[np.float64]:
    """Return columns as an array of numbers, NaN where missing.

    `decimal` is the decimal separator of text such as 1,234, which raises an error without it.
    """
    arrays = [_column_to_floats(frame[column], decimal) for column in columns]
    return np.column_stack(arrays) if arrays else np.empty((len(frame), 0))


def _column_to_floats(column: Any, decimal: str | None) -> NDArray[np.float64]:
    if columns.is_typed(column):
        return columns.to_numbers(column).to_numpy()
    texts = NumberTexts(column, decimal)
    numbers = texts.values(texts.format)
    unclear = "none" if texts.is_clear else "?"
    guessed = [value for value, n in texts.parsed.items() if n.unit or n.bound or n.decimal == unclear]
    invalid = [*columns.without_missing_words(column[(column.notna() & numbers.isna()).to_numpy()]), *guessed]
    if invalid:
        raise ValueError(
            f"column {column.name!r} contains {invalid[0]!r}, which is not a number, or could be two numbers: pass the "
            "decimal separator (--decimal), encode the column, for example with spmld.tables.TableEncoder, or "
            "drop it"
        )
    return numbers.to_numpy()

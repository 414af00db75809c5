"""Loading of data sets and models."""

from __future__ import annotations

import shlex
import sys
import warnings
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp

from spmld._io import need
from spmld.cli.printing import print_message
from spmld.cli.trusted import add_trusted
from spmld.datasets import Dataset, TableError, TableRoles, TableWarning, list_datasets, load_dataset, read_table
from spmld.datasets.files import accepted_options
from spmld.datasets.frames import from_frame, numeric_columns, sample_names
from spmld.datasets.roles import absent_columns, read_label_columns
from spmld.datasets.tables import TABLE_OPTIONS, check_options, folder_roles, table_format
from spmld.labels.tags import separators
from spmld.preprocessing.problems import TableProblem

if TYPE_CHECKING:
    from spmld.persistence import ModelInfo


FILE_OPTIONS = ("sep", "decimal", "encoding", "sheet")
"""Options of the readers of tables, in addition to the roles of the columns."""
MIN_SAMPLES = 3
"""Minimum number of samples of a fit, one for each fold."""


@dataclass(frozen=True)
class MatchedData:
    """Features and labels in the order of a model; Y is None if labels were not requested.

    The features of a model with an encoder are the columns of the table. `sample_names` are the values of the
    identifier column, whose name is `id`; both are None without one. `roles` are those of the columns of a table.
    """

    X: Any
    Y: Any
    label_names: list[str]
    sample_names: list[Any] | None = None
    id: str | None = None
    roles: TableRoles | None = None


@dataclass(frozen=True)
class Source:
    """Data set of a command: file or name, part of the official split, options of the reader, and verified entries.

    `default_part` is used without a part, and `trusted` is a column or a file.
    """

    path: str
    part: Literal["all", "train", "test"] | None
    default_part: str
    options: dict[str, Any]
    trusted: str | None = None

    @property
    def name(self) -> str:
        """Name of the file without its folders."""
        return Path(self.path).name

    def command(self, *arguments: str, roles: bool = True) -> str:
        """Return the path, other arguments, and the options as they are written on the command line.

        Without `roles`, only the options of the file are included, not the roles of its columns.
        """
        names = {"format": "from", "labels": "label"}
        words = [self.path, *arguments]
        for name, value in self.options.items():
            if not roles and name not in ("format", *FILE_OPTIONS):
                continue
            option = f"--{names.get(name, name).replace('_', '-')}"
            for item in value if isinstance(value, list) else [value]:
                words += [option] if item is True else [option, str(item)]
        return shlex.join([*words, *(["--trusted", self.trusted] if self.trusted and roles else [])])

    @property
    def table_kind(self) -> str | None:
        """Format of a table; None for other formats and for data sets of the registry."""
        kind = table_format(self.path, self.options.get("format"))
        named = kind == "folder" and self.path.lower() in {info.name for info in list_datasets()}
        return None if named else kind

    def load(self) -> Dataset:
        """Load all samples."""
        if self.table_kind is not None:
            return self._load_table(self.table_kind)
        data = load_dataset(self.path, progress=sys.stderr.isatty(), **self.options)  # nosec B615
        return data if self.trusted is None else add_trusted(data, self.path, self.trusted, self.options)

    def read_table(self, kind: str) -> Any:
        """Return the table as a DataFrame."""
        return read_table(self.path, format=kind, **self.file_options(kind))

    def file_options(self, kind: str) -> dict[str, Any]:
        """Return the options of the reader of tables, or raise ValueError if one does not apply to the format."""
        options = {name: value for name, value in self.options.items() if name != "format"}
        check_options(options, accepted_options(kind), f"{self.path} is read as {kind}")
        return {name: options[name] for name in TABLE_OPTIONS[kind] if name in options}

    def roles(self, frame: Any, kind: str) -> dict[str, Any]:
        """Return the roles of the columns that are set by options."""
        names = {item.name for item in fields(TableRoles)}
        roles = {name: value for name, value in self.options.items() if name in names}
        return folder_roles(frame, roles) if kind == "folder" else roles

    def _load_table(self, kind: str) -> Dataset:
        frame = self.read_table(kind)
        roles = self.roles(frame, kind)
        labels = set(read_label_columns(frame, TableRoles(**roles)).columns) if self.trusted else set()
        column = self.trusted if self.trusted in set(frame.columns) - labels else None
        data = from_frame(frame, name=Path(self.path).name.split(".")[0], source=self.path, trusted=column, **roles)
        if data.roles.tags is not None:
            warnings.warn(TableWarning(TableProblem(describe_tags(data.roles))), stacklevel=2)
        return data if column or self.trusted is None else add_trusted(data, self.path, self.trusted, self.options)

    def load_part(self, folds: int | None = None) -> Dataset:
        """Load the samples to fit on: the part, or all if there is no official split."""
        data = self._select(self.load(), self.default_part)
        if data.X.shape[0] < MIN_SAMPLES:
            raise ValueError(f"{self.path} must have at least {MIN_SAMPLES} samples, got {data.X.shape[0]}")
        self.check_features(data)
        if folds is not None and folds > data.X.shape[0]:
            n = data.X.shape[0]
            raise ValueError(f"--folds must be at most the number of samples in {self.path}, {n}, got {folds}")
        return data

    def check_features(self, data: Dataset) -> None:
        """Raise ValueError if a feature is not finite, since no method of the commands imputes features."""
        self._check_finite(data.X, list(data.feature_names), "fill them, or remove the column with --drop")

    def _check_finite(self, X: Any, names: list[str], advice: str, offset: int = 0) -> None:
        if np.isfinite(X.data if sp.issparse(X) else X).all():
            return
        rows, columns = np.nonzero(~np.isfinite(X.toarray() if sp.issparse(X) else X))
        raise ValueError(
            f"{self.path}: features must be finite numbers, but {len(rows)} are empty or infinite, the first in sample "
            f"{offset + rows[0]}, feature {names[columns[0]]}: {advice}"
        )

    def match(self, path: str, info: ModelInfo, *, labels: bool, completing: bool = False) -> MatchedData:
        """Load data in the form that the model in the file `path` expects.

        Only the columns of a table that the model needs are read, and label columns only if `labels`. Columns are
        matched by name. If the model has no names they are matched by position, and their numbers must agree. Tags
        that are weak negatives in a fit are negatives here, or missing if labels are completed.
        """
        kind, named = self.table_kind, info.encoded or info.label_names is not None or not labels
        if kind is not None and info.feature_names is not None and named:
            if self.part not in (None, "all"):
                raise ValueError(f"--part {self.part} needs an official split, which {self.path} does not have")
            return self.match_table(self.read_table(kind), kind, info, labels=labels, completing=completing)
        data = self._select(self.load(), "test")
        X = data.X[:, self._order("feature", data.feature_names, info.feature_names, path)]
        Y = data.Y[:, self._order("label", data.label_names, info.label_names, path)] if labels else None
        if labels and info.n_labels is not None:
            self._check_count("labels", Y, info.n_labels, path)
        if info.n_features is not None:
            self._check_count("features", X, info.n_features, path)
        return MatchedData(X, Y, info.label_names or [f"y{i}" for i in range(info.n_labels or 0)])

    def match_table(
        self, frame: Any, kind: str, info: ModelInfo, *, labels: bool, completing: bool = False, offset: int = 0
    ) -> MatchedData:
        """Return the columns of a table that the model needs, or raise an error with all problems.

        `offset` is the number of samples before the table, for error messages.
        """
        roles, problems = self._model_roles(frame, kind, info)
        problems += _absent_tags(frame, roles) if labels else []
        features, names = info.feature_names or [], info.label_names
        absent = [name for name in features if name not in frame.columns]
        if absent:
            problems.append(absent_columns(absent, len(features), "feature", frame))
        if len(frame) == 0:
            problems.append(TableProblem("the file has no samples"))
        Y: Any = None
        if labels and len(frame):
            weak = roles.untagged == "weak" and not completing
            content = read_label_columns(frame, replace(roles, untagged="negative") if weak else roles, names)
            problems += content.problems
            for note in content.notes:
                print_message(f"spmld: note: {note.describe(command_line=True)}")
            Y, names = content.Y, names or content.names
            if Y is not None and info.n_labels not in (None, len(names)):
                problems.append(TableProblem(f"the file has {len(names)} labels, and the model has {info.n_labels}"))
        if problems:
            raise TableError(problems, self.path)
        if labels:
            Y = Dataset(np.zeros((len(frame), 1)), Y, label_names=names or ()).Y
        X = frame[features]
        if not info.encoded:
            try:
                X = numeric_columns(frame, features, roles.decimal)
            except ValueError as error:
                raise TableError([TableProblem(str(error))], self.path) from None
            advice = "fill them, or fit the model on a table with empty fields, so that it replaces them"
            self._check_finite(X, features, advice, offset)
        ids = sample_names(frame, roles)
        return MatchedData(X, Y, names or [], ids, None if ids is None else roles.id, roles)

    def _model_roles(self, frame: Any, kind: str, info: ModelInfo) -> tuple[TableRoles, list[TableProblem]]:
        """Return the roles of the columns: those of the options, else those of the fit; and problems of the options."""
        options, names = self.roles(frame, kind), info.label_names or []
        columns = options.pop("labels", None) if names else None
        if columns is not None and set(columns) != set(names):
            raise ValueError(f"--label must name the labels of the model, {_shorten(names)}, got {_shorten(columns)}")
        given = {name: value for name, value in options.items() if name == "id"}
        problems = TableRoles(**given).find_problems(list(frame.columns))
        old = {"prefix": info.summary["prefix"]} if info.summary.get("prefix") else {}
        roles = TableRoles.from_dict({**old, **info.summary.get("table", {}), **options})
        as_columns = bool(names) and all(
            name in frame.columns or roles.prefix + name in frame.columns for name in names
        )
        if roles.tags is not None and roles.tags not in frame.columns and as_columns:
            roles = replace(roles, tags=None)
        return roles, problems

    def _select(self, data: Dataset, default: Any) -> Dataset:
        return data.part(self.part or (default if data.train is not None else "all"))

    def _order(self, kind: str, names: Any, expected: list[str] | None, path: str) -> Any:
        """Return the indices in the data of the model's features or labels."""
        if expected is None:
            return slice(None)
        index = {name: i for i, name in enumerate(names)}
        missing = [name for name in expected if name not in index]
        if missing or (kind == "label" and len(index) != len(expected)):
            extra = [name for name in index if name not in set(expected)]
            reason = f"missing {_shorten(missing)}" if missing else f"not in {path}: {_shorten(extra)}"
            raise ValueError(
                f"{self.path} has {len(index)} {kind}s, but {path} was fitted on {len(expected)}: {reason}"
            )
        return [index[name] for name in expected]

    def _check_count(self, kind: str, values: Any, expected: int, path: str) -> None:
        if values.shape[1] != expected:
            raise ValueError(f"{self.path} has {values.shape[1]} {kind}, but {path} was fitted on {expected}")


def frames(data: Dataset) -> tuple[Any, Any]:
    """Return features and labels as DataFrames, so that a model stores their names.

    The index has the names of the samples. Sparse features and those of an encoder are unchanged.
    """
    pandas = need("pandas")
    index = None if data.sample_names is None else pandas.Index(data.sample_names)
    plain = sp.issparse(data.X) or data.encoder is not None
    X = data.X if plain else pandas.DataFrame(data.X, columns=list(data.feature_names), index=index)
    return X, pandas.DataFrame(data.Y, columns=list(data.label_names), index=index)


def with_encoder(model: Any, data: Dataset) -> Any:
    """Return a pipeline of the encoder of a table and a model; the model if the table was not encoded."""
    if data.encoder is None:
        return model
    from sklearn.pipeline import Pipeline

    return Pipeline([("encoder", data.encoder), ("estimator", model)])


def split_encoder(model: Any, X: Any, path: str) -> tuple[Any, Any]:
    """Return the model without the encoder of a table, and the encoded features of the table in the file `path`."""
    from sklearn.pipeline import Pipeline

    from spmld.persistence.model_parts import encoder_of

    if not isinstance(model, Pipeline) or encoder_of(model[0]) is None:
        return model, X
    try:
        return (model[1] if len(model) == 2 else model[1:]), model[0].transform(X)
    except TableError as error:
        raise TableError(error.problems, path) from None


def describe_tags(roles: TableRoles) -> str:
    """Return how tags are read, for a message.

    Examples
    --------
    >>> from spmld.cli.loading import describe_tags
    >>> from spmld.datasets import TableRoles
    >>> describe_tags(TableRoles(tags="tags", tag_sep=";"))
    "tags of 'tags' are separated by ';'; a tag that is not listed in 'tags' is negative (see --untagged)"
    """
    meaning = {"negative": "negative", "weak": "a negative of lower weight", "missing": "missing"}[roles.untagged]
    used = " or ".join(map(repr, separators(roles.tag_sep or "")))
    separated = "" if roles.tag_sep is None else f"tags of {roles.tags!r} are separated by {used}; "
    return f"{separated}a tag that is not listed in {roles.tags!r} is {meaning} (see --untagged)"


def open_model(path: str, trusted_types: tuple[str, ...] = (), source: Source | None = None) -> tuple[Any, ModelInfo]:
    """Return the model in a file, and the description of it.

    With --strict of the source, values of it that the encoder of the model cannot read raise an error. With --decimal,
    its decimal separator is that of the source.
    """
    from sklearn.pipeline import Pipeline

    from spmld.persistence import load, model_info
    from spmld.preprocessing import TableEncoder

    model, info = load(path, trusted=trusted_types), model_info(path)
    options = {} if source is None else source.options
    for step in model if isinstance(model, Pipeline) else ():
        if isinstance(step, TableEncoder):
            step.set_params(**{name: options[name] for name in ("strict", "decimal") if name in options})
    return model, info


def _absent_tags(frame: Any, roles: TableRoles) -> list[TableProblem]:
    return [] if roles.tags is None else TableRoles(tags=roles.tags).find_problems(list(frame.columns))


def _shorten(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")

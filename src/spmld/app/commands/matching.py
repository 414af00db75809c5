"""Models in files, and data in the form that a model expects."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from spmld._io import need
from spmld._validation import plural
from spmld.app.commands.loading import Source
from spmld.app.commands.printing import list_first, print_message
from spmld.datasets import Dataset
from spmld.datasets.files import file_format, read_libsvm_features
from spmld.datasets.frames import numeric_columns, sample_names
from spmld.datasets.hierarchies import resolve_contradictions
from spmld.estimators.model_parts import encoder_of
from spmld.export import ModelInfo, load, model_info
from spmld.tables import TableEncoder, TableError, TableRoles
from spmld.tables.errors import TableProblem, absent_columns
from spmld.tables.label_columns import read_label_column
from spmld.tables.reading import BLOCK_ROWS
from spmld.tables.roles import find_label_columns, read_label_columns


@dataclass(frozen=True)
class MatchedData:
    """Features and labels in the order of a model; Y is None if labels were not requested.

    The features of a model with an encoder are the columns of the table. `sample_names` are the values of the
    identifier column, whose name is `id`; both are None without one. `roles` are those of the columns of a table, and
    `trusted` are the verified samples or entries of an update.
    """

    X: Any
    Y: Any
    label_names: list[str]
    sample_names: list[Any] | None = None
    id: str | None = None
    roles: TableRoles | None = None
    trusted: Any = None

    def sample(self, index: int) -> Any:
        """Return the identifier of a sample, or its number."""
        return index if self.sample_names is None else self.sample_names[index]

    def resolve_contradictions(self, model: Any) -> Self:
        """Return the data with labels that do not contradict the hierarchy of a model, if it has one."""
        hierarchy = getattr(model, "hierarchy_", None)
        if hierarchy is None:
            return self
        Y = self.Y
        names = self.label_names
        if self.roles is not None and self.roles.tags is not None:  # a label that is no tag is positive if one below is
            positive = Y == 1
            Y = np.where(~positive.any(axis=0) & (positive @ hierarchy.ancestors(names)), 1.0, Y)
        return replace(self, Y=resolve_contradictions(hierarchy, Y, names, self.sample_names))


def open_model(path: str, trusted_types: tuple[str, ...] = (), source: Source | None = None) -> tuple[Any, ModelInfo]:
    """Return the model in a file, and the description of it.

    The encoder of the model has the options --strict, --decimal, --embed and --allow-missing of the source. The
    features in the description do not include columns that the encoder drops.
    """
    if source is not None and source.hierarchy is not None:
        raise ValueError(f"--hierarchy {source.hierarchy} cannot be combined with {path}, which has the one of its fit")
    model = load(path, trusted=trusted_types)
    info = model_info(path)
    if source is not None:
        options = {name: source.options[name] for name in ("strict", "decimal", "embed") if name in source.options}
        set_encoder(model, allow_missing=source.allow_missing, **options)
    encoder = encoder_of(model)
    if isinstance(encoder, ColumnTransformer) and info.feature_names is not None:
        info = replace(info, feature_names=used_columns(encoder))
    return model, info


def used_columns(encoder: ColumnTransformer) -> list[str]:
    """Return the names of the columns that a fitted encoder does not drop."""
    names = need("pandas").DataFrame(columns=encoder.feature_names_in_)
    selected = [[part] if np.isscalar(part) else part for _, step, part in encoder.transformers_ if str(step) != "drop"]
    used = {name for part in selected for name in _safe_indexing(names, part, axis=1)}
    return [str(name) for name in names if name in used]


def set_encoder(model: Any, **parameters: Any) -> None:
    """Set parameters of the encoder of tables in a pipeline, if it has one."""
    for step in model if isinstance(model, Pipeline) else ():
        if isinstance(step, TableEncoder):
            step.set_params(**parameters)


def split_encoder(model: Any, X: Any, path: str) -> tuple[Any, Any]:
    """Return the model without the encoder of a table, and the encoded features of the table in the file `path`."""
    if not isinstance(model, Pipeline) or encoder_of(model[0]) is None:
        return model, X
    with problems_of(path):
        return (model[1] if len(model) == 2 else model[1:]), model[0].transform(X)


@contextmanager
def problems_of(path: str) -> Iterator[None]:
    """Name the file `path` in the errors about a table that are raised in the block."""
    try:
        yield
    except TableError as error:
        raise TableError(error.problems, path) from None


def match(source: Source, path: str, info: ModelInfo, *, labels: bool, completing: bool = False) -> MatchedData:
    """Load data in the form that the model in the file `path` expects.

    Only the columns of a table that the model needs are read, and label columns only if `labels`. Columns are matched
    by name. If the model has no names they are matched by position, and their numbers must agree. Tags that are weak
    negatives in a fit are negatives here, or missing if labels are completed.
    """
    source = source.like_fit(info)
    kind = source.table_kind
    named = info.encoded or info.label_names is not None or not labels
    if kind is not None and info.feature_names is not None and named:
        if source.part not in (None, "all"):
            raise ValueError(f"--part {source.part} needs an official split, which {source.path} does not have")
        (frame,) = source.read_blocks(kind)
        return _match_table(source, frame, info, labels=labels, completing=completing)
    data = source.load("test")
    X = data.X[:, _order(source, "feature", data.feature_names, info.feature_names)]
    Y = None
    if info.encoded:
        X = need("pandas").DataFrame(X, columns=info.feature_names)
    if labels:
        Y = data.Y[:, _order(source, "label", data.label_names, info.label_names)]
    for values, n, of in ((Y, info.n_labels, "labels"), (X, info.n_features, "features")):
        if values is not None and n not in (None, values.shape[1]):
            raise ValueError(f"{source.path} has {values.shape[1]} {of}, but {path} was fitted on {n}")
    return MatchedData(X, Y, _label_names(info))


def match_update(source: Source, path: str, info: ModelInfo) -> MatchedData:
    """Load labeled data in the form that the model in the file `path` expects, for an update.

    The file may have some of the labels of the model, and new ones, see `_labels_of_update`. Other columns that the fit
    did not have are ignored, which a note says.
    """
    source = source.like_fit(info)
    kind = source.table_kind
    verified = source.trusted
    if kind is None:
        data = source.load()
        X = data.X[:, _order(source, "feature", data.feature_names, info.feature_names)]
        return MatchedData(X, data.Y, list(data.label_names), trusted=data.trusted)
    (frame,) = source.read_blocks(kind)
    options = {name: value for name, value in source.options.items() if name != "labels"}
    unnamed = replace(source, options=options)
    roles, _ = _model_roles(unnamed, frame, info)
    names = _labels_of_update(source, frame.columns, roles, info.label_names or [])
    matched = _match_table(unnamed, frame, replace(info, label_names=names, n_labels=None), labels=True)
    column = roles.trusted if verified is None else verified
    if column in frame.columns:
        problems: list[TableProblem] = []
        matched = replace(matched, trusted=read_label_column(frame[column], roles, problems, "trusted") == 1)
        if problems:
            raise TableError(problems, source.path)
    elif verified is not None:
        data = Dataset(np.zeros((len(frame), 1)), matched.Y, (), names, sample_names=matched.sample_names, roles=roles)
        matched = replace(matched, trusted=source.read_trusted(data))
    used = {*(info.feature_names or []), *info.summary.get("columns", {}), *roles.drop, roles.id, roles.tags, column}
    used |= {*names, *(roles.prefix + name for name in names)}
    if ignored := [name for name in frame.columns if name not in used]:
        note = f"columns that the model does not have are ignored: {list_first(ignored)}; --label names a new label"
        print_message(f"spmld: note: {note}")
    return matched


def _labels_of_update(source: Source, columns: Any, roles: TableRoles, known: list[str]) -> list[str]:
    """Return the labels of the model that a table has, and new ones.

    These are named with --label or, if the labels of the fit were the columns with a prefix, the others with it.
    """
    new = list(source.options.get("labels", []))
    if roles.tags is None:
        if roles.labels is None:
            chosen = [name for name in columns if name.startswith(roles.prefix) and name not in roles.drop]
            new += [name.removeprefix(roles.prefix) for name in chosen]
        present = list(find_label_columns(known, columns, roles.prefix))
        if not present and not new:
            raise TableError([absent_columns(known, columns, expected=known, kind="label")], source.path)
        known = present
    return list(dict.fromkeys([*known, *new]))


def match_blocks(source: Source, path: str, info: ModelInfo) -> Iterator[MatchedData]:
    """Yield blocks of samples, without labels, in the form that the model in the file `path` expects.

    CSV and Parquet files are read in blocks, so that predictions of large files need little memory, other formats
    whole.
    """
    source = source.like_fit(info)
    kind = source.table_kind
    all_samples = source.part in (None, "all")
    if all_samples and kind is not None and info.feature_names is not None:
        offset = 0
        for frame in source.read_blocks(kind, BLOCK_ROWS):
            yield _match_table(source, frame, info, labels=False, offset=offset)
            offset += len(frame)
        return
    if all_samples and _is_libsvm(source, info):
        whole = MatchedData(read_libsvm_features(source.path, info.n_features or 0), None, _label_names(info))
    else:
        whole = match(source, path, info, labels=False)
    for start in range(0, whole.X.shape[0], BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        samples = None if whole.sample_names is None else whole.sample_names[rows]
        yield replace(whole, X=whole.X[rows], sample_names=samples)


def _label_names(info: ModelInfo) -> list[str]:
    return info.label_names or [f"y{i}" for i in range(info.n_labels or 0)]


def _is_libsvm(source: Source, info: ModelInfo) -> bool:
    """Return whether a file has the format LIBSVM, and the features of the model have its names, or none."""
    kind = file_format(source.path, source.options.get("format"))
    if info.n_features is None or kind not in ("libsvm", "xc") or source.options.keys() - {"format"}:
        return False
    return info.feature_names in (None, [f"x{i}" for i in range(info.n_features)])


def _match_table(
    source: Source, frame: Any, info: ModelInfo, *, labels: bool, completing: bool = False, offset: int = 0
) -> MatchedData:
    """Return the columns of a table that the model needs, or raise an error with all problems.

    `offset` is the number of samples before the table, for error messages.
    """
    roles, problems = _model_roles(source, frame, info)
    features = info.feature_names or []
    names = info.label_names
    allow_missing = source.allow_missing if info.encoded else None  # others have no values for missing features
    if absent := [name for name in features if name not in frame.columns]:
        problem = absent_columns(absent, frame.columns, expected=features, kind="feature", allow_missing=allow_missing)
        if source.allow_missing and not info.encoded:
            text = "--allow-missing requires a model that was fitted on a table with text, categories or empty fields"
            problem = replace(problem, text=f"{problem.text}; {text}")
        if set(absent) & set(roles.vectors):
            problem = replace(problem, options=(*problem.options, ("vectors", "FILE.npy")))
        if not allow_missing:
            problems.append(problem)
        elif offset == 0:
            print_message(f"spmld: note: {problem.describe(command_line=True)}")
    if len(frame) == 0:
        problems.append(TableProblem("the file has no samples"))
    Y: Any = None
    if labels:
        Y, names = _read_labels(frame, roles, info, problems, completing=completing)
    if problems:
        raise TableError(problems, source.path)
    X = frame.reindex(columns=features)
    if not info.encoded:
        try:
            X = numeric_columns(frame, features, roles.decimal)
        except ValueError as error:
            raise TableError([TableProblem(str(error))], source.path) from None
        advice = "fill them, or fit the model on a table with empty fields, so that it replaces them"
        source.check_finite(X, features, advice, offset)
    ids = sample_names(frame, roles)
    return MatchedData(X, Y, names or [], ids, None if ids is None else roles.id, roles)


def _read_labels(
    frame: Any, roles: TableRoles, info: ModelInfo, problems: list[TableProblem], *, completing: bool
) -> tuple[Any, list[str] | None]:
    """Return the labels of the model as 0 and 1, NaN where missing, and their names; add the problems of the labels."""
    if roles.tags is not None:
        problems += TableRoles(tags=roles.tags).find_problems(list(frame.columns))
    if len(frame) == 0:
        return None, info.label_names
    weak = roles.untagged == "weak" and not completing
    content = read_label_columns(frame, replace(roles, untagged="negative") if weak else roles, info.label_names)
    problems += content.problems
    for note in content.notes:
        print_message(f"spmld: note: {note.describe(command_line=True)}")
    names = info.label_names or content.names
    if content.Y is not None and np.isnan(np.asarray(content.Y, dtype=float)).all():
        problems.append(TableProblem("no label is observed: all fields of the labels are empty"))
    if content.Y is None or problems:
        return None, names
    if info.n_labels not in (None, len(names)):
        problems.append(TableProblem(f"the file has {plural(len(names), 'label')}, and the model has {info.n_labels}"))
    return Dataset(np.zeros((len(frame), 1)), content.Y, label_names=names).Y, names


def _model_roles(source: Source, frame: Any, info: ModelInfo) -> tuple[TableRoles, list[TableProblem]]:
    """Return the roles of the columns: those of the options, else those of the fit; and problems of the options."""
    options = source.roles
    names = info.label_names or []
    columns = options.pop("labels", None) if names else None
    if columns is not None and set(columns) != set(names):
        raise ValueError(f"--label must name the labels of the model, {list_first(names)}, got {list_first(columns)}")
    given = {name: value for name, value in options.items() if name == "id"}
    problems = TableRoles(**given).find_problems(list(frame.columns))
    roles = TableRoles.from_dict({**info.summary.get("table", {}), **options})
    if names and roles.tags is not None and roles.tags not in frame.columns:
        as_columns = len(find_label_columns(names, frame.columns, roles.prefix)) == len(names)
        roles = replace(roles, tags=None) if as_columns else roles
    return roles, problems


def _order(source: Source, kind: str, names: Any, expected: list[str] | None) -> list[int] | slice:
    """Return the indices in the data of the model's features or labels."""
    if expected is None:
        return slice(None)
    index = {name: i for i, name in enumerate(names)}
    if absent := [name for name in expected if name not in index]:
        raise TableError([absent_columns(absent, names, expected=expected, kind=kind)], source.path)
    return [index[name] for name in expected]

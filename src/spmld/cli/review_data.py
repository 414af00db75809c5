"""Data of the commands ``review``, ``correct`` and ``next``: audit, probabilities, tables and samples."""

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spmld._response import as_frame, predict_all
from spmld._validation import list_names
from spmld.audit import LabelIssues, find_label_issues
from spmld.cli.loading import Source
from spmld.cli.matching import MatchedData, match, open_model, split_encoder
from spmld.cli.printing import print_message, progress_bar
from spmld.datasets import Dataset, TableRoles, TableWarning
from spmld.datasets.roles import PREFIX
from spmld.labels.tags import label_of_tags
from spmld.review import open_table
from spmld.review.annotations import Place
from spmld.review.evidence import Evidence
from spmld.review.label_forms import LabelFields, TagColumn, label_columns
from spmld.review.queue import update_issues
from spmld.review.samples import ArraySamples, Samples, TableSamples
from spmld.review.text_tables import EditableTable

if TYPE_CHECKING:
    from spmld.persistence import ModelInfo

AUDIT_FOLDS = 5
"""Number of folds of the audit."""
FOLDER_SEPARATOR = ";"
"""Separator of the tags in the table of a folder of text files."""
_LABEL_ROLES = ("labels", "prefix", "tags")


@dataclass(frozen=True)
class ReviewData:
    """Source with all options, data set, its audit, probabilities of missing labels if there is a model, evidence."""

    source: Source
    data: Dataset
    issues: LabelIssues
    probabilities: NDArray[np.float64] | None
    evidence: Evidence | None


@dataclass(frozen=True)
class _Fitted:
    """Model, its file, the data in its order, and its probabilities."""

    estimator: Any
    path: str
    matched: MatchedData
    probabilities: NDArray[np.float64]

    def label_order(self, names: list[str]) -> list[int]:
        """Return the index of each label in the model."""
        absent = [name for name in names if name not in self.matched.label_names]
        if absent:
            raise ValueError(
                f"--model {self.path} has no label {absent[0]!r}; pass the labels of the model with --label"
            )
        return [self.matched.label_names.index(name) for name in names]


def load_review(
    source: Source, model: str | None, trusted_types: tuple[str, ...], seed: int, *, evidence: bool
) -> ReviewData:
    """Load a data set, audit its labels, and predict the missing ones with a model if there is one.

    Roles of columns that are not set by options are those of the model.
    """
    source = replace(source, part=source.part or "all")
    fitted = None
    if model is not None:
        estimator, info = open_model(model, trusted_types, source)
        source = _with_roles(source, info)
        fitted = _predict(source, model, estimator, info)
    with warnings.catch_warnings():
        if fitted is not None:  # the notes about the labels have been printed
            warnings.simplefilter("ignore", TableWarning)
        data = source.load_part(AUDIT_FOLDS)
    if fitted is not None:
        data = _known_tags(data, fitted.matched.label_names)
    with progress_bar(None, "auditing labels"):
        issues = _audit(data, seed)
    order = None if fitted is None else fitted.label_order(list(data.label_names))
    probabilities = None if fitted is None or order is None else fitted.probabilities[:, order]
    shown = _evidence(data, issues, fitted, order) if evidence else None
    return ReviewData(source, data, issues, probabilities, shown)


def _audit(data: Dataset, seed: int) -> LabelIssues:
    """Audit the labels. Noise rates are not estimated from verified entries, which an earlier review has selected."""
    names = list(data.label_names)
    issues = find_label_issues(None, data.X, data.Y, cv=AUDIT_FOLDS, random_state=seed, label_names=names)
    return issues if data.trusted is None else issues.mark_verified(data.trusted)


def audit_again(loaded: ReviewData, outcomes: Mapping[Place, str], keys: list[str], seed: int) -> LabelIssues:
    """Audit the labels after the annotations of a review."""
    rows = {key: i for i, key in enumerate(keys)}
    columns = {name: j for j, name in enumerate(loaded.data.label_names)}
    annotations = np.zeros(loaded.issues.signs.shape, dtype=np.int8)
    for (key, label), outcome in outcomes.items():
        if outcome in ("present", "absent") and key in rows and label in columns:
            annotations[rows[key], columns[label]] = 1 if outcome == "present" else -1
    return update_issues(loaded.issues, loaded.data.X, annotations, cv=AUDIT_FOLDS, random_state=seed)


def open_editable(source: Source, n_samples: int) -> EditableTable | None:
    """Return the table of a source, whose fields can be changed; None for other formats."""
    kind = source.table_kind
    if kind is None:
        return None
    options = {name: source.options[name] for name in ("encoding", "sep", "sheet") if name in source.options}
    table = open_table(source.path, format=kind, **options)
    if table is not None and len(table) != n_samples:
        raise ValueError(f"{source.path} has {len(table)} records, but {n_samples} samples were read")
    return table


def label_form(
    source: Source, table: EditableTable, roles: TableRoles | None, names: Sequence[str], Y: Any
) -> LabelFields | TagColumn:
    """Return where the table has its labels, which have been read as Y."""
    names = list(names)
    if roles is not None and roles.tags is not None:
        sep = roles.tag_sep or (FOLDER_SEPARATOR if source.table_kind == "folder" else None)
        return TagColumn(roles.tags, names, sep, roles.untagged, roles.empty_is, roles.tag_case)
    prefix = PREFIX if roles is None else "" if roles.labels else roles.prefix
    columns = label_columns(table.columns, names, prefix)
    return LabelFields.of(table, columns, Y, "missing" if roles is None else roles.empty_is)


def open_samples(source: Source, data: Dataset, image: str | None = None) -> Samples:
    """Return the content of the samples: rows of a table, or features in other formats."""
    table = open_editable(source, data.X.shape[0])
    if table is None:
        if image is not None:
            raise ValueError(f"--image needs a table, got {source.path}; convert it to .csv or .parquet")
        return ArraySamples(data)
    id = None if data.roles is None else data.roles.id
    form = label_form(source, table, data.roles, data.label_names, data.Y)
    return TableSamples(table, form.columns, image, Path(source.path).parent, id)


def _with_roles(source: Source, info: "ModelInfo") -> Source:
    """Return the source with the file options and the roles of the columns in the fit, unless options set them."""
    source = source.like_fit(info)
    roles = {name: list(value) if isinstance(value, (list, tuple)) else value for name, value in _table_roles(info)}
    if any(name in source.options for name in _LABEL_ROLES):
        roles = {name: value for name, value in roles.items() if name not in _LABEL_ROLES}
    return replace(source, options={**roles, **source.options}) if source.table_kind is not None else source


def _table_roles(info: "ModelInfo") -> Any:
    return info.summary.get("table", {}).items()


def _predict(source: Source, path: str, estimator: Any, info: "ModelInfo") -> _Fitted:
    """Return the model, the data in its order, and the probabilities that labels are positive."""
    matched = match(source, path, info, labels=True, completing=True)
    inner, X = split_encoder(estimator, matched.X, source.path)
    with progress_bar(None, "predicting missing labels"):
        if hasattr(inner, "complete"):
            labels, confidences = inner.complete(as_frame(inner, X), matched.Y)
            confidences = np.asarray(confidences, dtype=float)
            return _Fitted(estimator, path, matched, np.where(np.asarray(labels) == 1, confidences, 1 - confidences))
        probabilities = predict_all(inner, X).probabilities
    if probabilities is None:
        raise ValueError(f"--model must predict probabilities, but {path} contains {info.estimator}, which does not")
    return _Fitted(estimator, path, matched, probabilities)


def _known_tags(data: Dataset, names: list[str]) -> Dataset:
    """Return the data with the tags that the model has, in its spelling; other labels are unchanged."""
    if data.roles is None or data.roles.tags is None:
        return data
    label = label_of_tags(Counter(data.label_names), names, data.roles.tag_case)
    if unknown := [name for name in data.label_names if label[name] not in names]:
        print_message(
            f"spmld: note: {len(unknown)} tags are not labels of the model and are not reviewed: {list_names(unknown)}"
        )
    kept = [j for j, name in enumerate(data.label_names) if label[name] in names]
    trusted = data.trusted if data.trusted is None or data.trusted.ndim == 1 else data.trusted[:, kept]
    return replace(data, Y=data.Y[:, kept], label_names=[label[data.label_names[j]] for j in kept], trusted=trusted)


def _evidence(data: Dataset, issues: LabelIssues, fitted: _Fitted | None, order: list[int] | None) -> Evidence:
    correct = 1 - np.nan_to_num(issues.error_probability, nan=1.0)
    model = {} if fitted is None else {"model": fitted.estimator, "model_X": fitted.matched.X, "model_labels": order}
    return Evidence(data.X, issues.signs, list(data.feature_names), entry_weight=correct, **model)

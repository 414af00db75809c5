"""Data of the commands ``review``, ``correct`` and ``complete``: audit, probabilities, tables and samples."""

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from spmld._response import as_frame
from spmld.app.commands.fitting import base_estimator, without_decision
from spmld.app.commands.loading import Source
from spmld.app.commands.matching import MatchedData, match, open_model, split_encoder
from spmld.app.commands.printing import progress_bar
from spmld.app.review import Annotation, open_table, read_annotations
from spmld.app.review.annotations import Place
from spmld.app.review.applying import LabelFields, TagColumn
from spmld.app.review.editable_tables import EditableTable
from spmld.app.review.evidence import Evidence
from spmld.app.review.queue import update_issues
from spmld.app.review.table_samples import TableSamples
from spmld.audit import LabelIssues, find_label_issues
from spmld.datasets import Dataset
from spmld.estimators import Completion
from spmld.export import ModelInfo
from spmld.labels.tags import label_of_tags
from spmld.noise import NoiseRates
from spmld.tables import TableRoles, TableWarning
from spmld.tables.errors import absent_columns
from spmld.tables.roles import PREFIX, find_label_columns

AUDIT_FOLDS = 5
"""Number of folds of the audit."""
_LABEL_ROLES = ("labels", "prefix", "tags")


@dataclass(frozen=True)
class ReviewData:
    """Source with all options, data set, its audit, probabilities of missing labels if there is a model, evidence."""

    source: Source
    data: Dataset
    issues: LabelIssues
    probabilities: NDArray[np.float64] | None
    evidence: Evidence | None


def load_review(
    source: Source, model: str | None, trusted_types: tuple[str, ...], seed: int, *, evidence: bool
) -> ReviewData:
    """Load a data set, audit its labels, and predict the missing ones with a model if there is one.

    Roles of columns that are not set by options are those of the model. Noise rates are not estimated from verified
    entries, which an earlier review has selected.
    """
    source = replace(source, part=source.part or "all")
    estimator = None
    completed = None
    if model is not None:
        estimator, info = open_model(model, trusted_types, source)
        source = _with_roles(source, info)
        completed = complete_with_model(estimator, source, model, info)
        source = replace(source, allow_missing=False)
    with warnings.catch_warnings():
        if completed is not None:  # the notes about the labels have been printed
            warnings.simplefilter("ignore", TableWarning)
        data = source.load_part(AUDIT_FOLDS)
    names = list(data.label_names)
    with progress_bar(None, "auditing labels"):
        issues = find_label_issues(None, data.X, data.Y, cv=AUDIT_FOLDS, random_state=seed, label_names=names)
    issues = issues if data.trusted is None else issues.mark_verified(data.trusted)
    explained: dict[str, Any] = {"entry_weight": np.nan_to_num(issues.label_quality)}
    probabilities = None
    if completed is not None:
        columns = _model_columns(names, completed[0].label_names)
        probabilities = _probabilities(completed[1], columns, _likelihood_rates(estimator))
        if None not in columns:
            explained |= {"model": estimator, "model_X": completed[0].X, "model_labels": columns}
    shown = Evidence(data.X, issues.signs, list(data.feature_names), **explained) if evidence else None
    return ReviewData(source, data, issues, probabilities, shown)


def complete_with_model(estimator: Any, data: Source, model: str, info: ModelInfo) -> tuple[MatchedData, Completion]:
    """Return the data in the order of the model in the file `model`, and its labels completed by the model."""
    matched = match(data, model, info, labels=True, completing=True)
    estimator, X = split_encoder(estimator, matched.X, data.path)
    estimator = without_decision(estimator)
    if not hasattr(estimator, "complete"):
        raise ValueError(f"{model} contains {info.estimator}, which cannot complete labels")
    with progress_bar(None, "completing"):
        completion = estimator.complete(as_frame(estimator, X), matched.Y)
    return replace(matched, Y=np.asarray(matched.Y, dtype=float)), completion


def _model_columns(names: list[str], model_names: list[str]) -> list[int | None]:
    """Return the index of each label in a model, which may spell it in another way; None if it is not there."""
    label = label_of_tags(Counter(names), model_names)
    places = {name: j for j, name in enumerate(model_names)}
    return [places.get(label[name]) for name in names]


def _likelihood_rates(model: Any) -> NoiseRates | None:
    """Return the floor, or the noise rates, with which a model was fitted; None if it has none."""
    last = model[-1] if isinstance(model, Pipeline) else model
    return getattr(base_estimator(last), "likelihood_rates_", None)


def _probabilities(
    completion: Completion, columns: list[int | None], rates: NoiseRates | None = None
) -> NDArray[np.float64]:
    """Return the probabilities of a model that labels are positive, NaN for labels that it does not have.

    They are those without the floor, as in decisions by F1: otherwise no missing label would be clear.
    """
    confidences = np.asarray(completion.confidences, dtype=float)
    positive = np.where(np.asarray(completion.labels) == 1, confidences, 1 - confidences)
    if rates is not None:
        positive = np.clip(rates.true_probability(positive), 0.0, 1.0)
    return np.column_stack([np.full(len(positive), np.nan) if j is None else positive[:, j] for j in columns])


def audit_again(loaded: ReviewData, outcomes: Mapping[Place, str], keys: list[str], seed: int) -> LabelIssues:
    """Audit the labels after the annotations of a review."""
    rows = {key: i for i, key in enumerate(keys)}
    columns = {name: j for j, name in enumerate(loaded.data.label_names)}
    annotations = np.zeros(loaded.issues.signs.shape, dtype=np.int8)
    for (key, label), outcome in outcomes.items():
        if outcome in ("present", "absent") and key in rows and label in columns:
            annotations[rows[key], columns[label]] = 1 if outcome == "present" else -1
    return update_issues(loaded.issues, loaded.data.X, annotations, cv=AUDIT_FOLDS, random_state=seed)


def read_answers(path: str, id: str | None) -> list[Annotation]:
    """Return the annotations of a file, or raise ValueError if none of them is an answer."""
    annotations = read_annotations(path, id)
    if all(annotation.answer == "skip" for annotation in annotations):
        raise ValueError(
            f"{path} has no answers; decide entries with spmld review, or fill in the answers of an exported file with "
            "present, absent or unsure"
        )
    return annotations


def describe_unmatched(
    unmatched: Sequence[Annotation], total: int, path: str, source: Source, label_names: Sequence[str]
) -> str:
    """Return how many annotations in the file `path` are not in a source, and the sample or label of the first one."""
    first = unmatched[0]
    sample = first.sample_name or (first.key if first.sample is None else first.sample)
    missing = f"sample {sample}" if first.label in label_names else f"label {first.label!r}"
    return (
        f"annotations of {path} that are not in {source.path}: {len(unmatched)} of {total}, such as that of {missing}"
    )


def open_editable(source: Source, n_samples: int) -> EditableTable:
    """Return the table of a source, whose fields can be changed."""
    options = {name: source.options[name] for name in ("encoding", "sep", "sheet") if name in source.options}
    table = open_table(source.path, format=source.table_kind, **options)
    if len(table) != n_samples:
        raise ValueError(f"{source.path} has {len(table)} records, but {n_samples} samples were read")
    return table


def label_form(table: EditableTable, roles: TableRoles | None, names: Sequence[str], Y: Any) -> LabelFields | TagColumn:
    """Return where the table has its labels, which have been read as Y."""
    if roles is not None and roles.tags is not None:
        return TagColumn(roles.tags, list(names), roles.tag_sep, **roles.tag_meaning)
    prefix = PREFIX if roles is None else "" if roles.labels else roles.prefix
    by_name = find_label_columns(names, table.columns, prefix)
    if absent := [name for name in names if name not in by_name]:
        raise ValueError(absent_columns(absent, table.columns, expected=names, kind="label", source="the table").text)
    return LabelFields(by_name, Y)


def open_samples(source: Source, data: Dataset, image: str | None = None) -> TableSamples:
    """Return the samples in the rows of the table of a source."""
    table = open_editable(source, data.X.shape[0])
    form = label_form(table, data.roles, data.label_names, data.Y)
    id = None if data.roles is None else data.roles.id
    return TableSamples(table, form.columns, image, Path(source.path).parent, id)


def _with_roles(source: Source, info: ModelInfo) -> Source:
    """Return the source with the file options and the roles of the columns in the fit, unless options set them."""
    source = source.like_fit(info)
    stored = info.summary.get("table", {}).items()
    roles = {name: list(value) if isinstance(value, (list, tuple)) else value for name, value in stored}
    if any(name in source.options for name in _LABEL_ROLES):
        roles = {name: value for name, value in roles.items() if name not in _LABEL_ROLES}
    return replace(source, options={**roles, **source.options}) if source.table_kind is not None else source

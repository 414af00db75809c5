"""Data of the commands ``review``, ``apply`` and ``next``: audit, probabilities, and content of the samples.

Tables are opened by `open_samples` only, so this is the place to change when the readers of tables change.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld._response import as_frame, predict_all
from spmld.audit import LabelIssues, find_label_issues
from spmld.cli.loading import MatchedData, Source, open_model
from spmld.cli.progress import progress_bar
from spmld.datasets import Dataset
from spmld.persistence import linear_predictor
from spmld.review import ArraySamples, Evidence, TableSamples, label_columns, open_table, update_issues
from spmld.review.decisions import Place

FOLDS = 5
"""Number of folds of the audit."""


@dataclass(frozen=True)
class ReviewData:
    """Data set, its audit, probabilities of missing labels if there is a model, and the evidence."""

    data: Dataset
    issues: LabelIssues
    probabilities: NDArray[np.float64] | None
    evidence: Evidence | None


def load_review(source: Source, model: str | None, trust: tuple[str, ...], seed: int, *, evidence: bool) -> ReviewData:
    """Load a data set, audit its labels, and predict the missing ones with a model if there is one."""
    source = replace(source, part=source.part or "all")
    data = source.load_part(FOLDS)
    fitted = None if model is None else _predict(source, model, trust)
    with progress_bar(None, "auditing labels"):
        verified = {"trusted": data.trusted, "label_names": list(data.label_names)}
        issues = find_label_issues(None, data.X, data.Y, cv=FOLDS, random_state=seed, **verified)
    if fitted is None:
        return ReviewData(data, issues, None, _evidence(data, issues, None) if evidence else None)
    estimator, matched, probabilities = fitted
    order = _label_order(matched.label_names, list(data.label_names), str(model))
    coef = _coefficients(estimator, matched, data, order) if evidence else None
    return ReviewData(data, issues, probabilities[:, order], _evidence(data, issues, coef) if evidence else None)


def audit_again(loaded: ReviewData, outcomes: Mapping[Place, str], keys: list[str], seed: int) -> LabelIssues:
    """Audit the labels after the decisions of a review."""
    rows = {key: i for i, key in enumerate(keys)}
    columns = {name: j for j, name in enumerate(loaded.data.label_names)}
    decisions = np.zeros(loaded.issues.signs.shape, dtype=np.int8)
    for (key, label), outcome in outcomes.items():
        if outcome in ("present", "absent") and key in rows and label in columns:
            decisions[rows[key], columns[label]] = 1 if outcome == "present" else -1
    return update_issues(loaded.issues, loaded.data.X, decisions, cv=FOLDS, random_state=seed)


def open_samples(source: Source, data: Dataset, image: str | None = None) -> TableSamples | ArraySamples:
    """Return the content of the samples: rows of a table, or features in other formats."""
    format, encoding = source.options.get("format"), source.options.get("encoding", "utf-8")
    table = open_table(source.path, encoding=encoding, format=format)
    if table is None:
        if image is not None:
            raise ValueError(f"--image needs a table, got {source.path}; convert it to .csv or .parquet")
        return ArraySamples(data)
    if len(table) != data.X.shape[0]:
        raise ValueError(f"{source.path} has {len(table)} records, but {data.X.shape[0]} samples were read")
    columns = label_columns(table.columns, data.label_names, source.options.get("prefix") or "label_")
    return TableSamples(table, list(columns.values()), image, Path(source.path).parent)


def _predict(source: Source, path: str, trust: tuple[str, ...]) -> tuple[Any, MatchedData, NDArray[np.float64]]:
    """Return the model, the data in its order, and the probabilities that labels are positive."""
    estimator, info = open_model(path, trust)
    matched = source.match(path, info, labels=True)
    with progress_bar(None, "predicting missing labels"):
        if hasattr(estimator, "complete"):
            labels, confidences = estimator.complete(as_frame(estimator, matched.X), matched.Y)
            confidences = np.asarray(confidences, dtype=float)
            return estimator, matched, np.where(np.asarray(labels) == 1, confidences, 1 - confidences)
        probabilities = predict_all(estimator, matched.X).probabilities
    if probabilities is None:
        raise ValueError(f"--model must predict probabilities, but {path} contains {info.estimator}, which does not")
    return estimator, matched, probabilities


def _label_order(names: list[str], wanted: list[str], path: str) -> list[int]:
    absent = [name for name in wanted if name not in names]
    if absent:
        raise ValueError(f"--model {path} has no label {absent[0]!r}; pass the labels of the model with --label")
    return [names.index(name) for name in wanted]


def _coefficients(estimator: Any, matched: MatchedData, data: Dataset, order: list[int]) -> Any:
    """Return the coefficients of a linear model of the features of the data, or None."""
    try:
        linear = linear_predictor(estimator)
    except ValueError:
        return None
    return linear.coef[order] if np.array_equal(_dense(matched.X), _dense(data.X)) else None


def _dense(X: Any) -> Any:
    return X.toarray() if hasattr(X, "toarray") else X


def _evidence(data: Dataset, issues: LabelIssues, coef: Any) -> Evidence:
    correct = 1 - np.nan_to_num(issues.error_probability, nan=1.0)
    return Evidence(data.X, issues.signs, list(data.feature_names), coef, correct)

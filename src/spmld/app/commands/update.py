"""``spmld update``: update a model with new samples, corrected labels or new labels."""

import shlex
import time
from collections import Counter
from dataclasses import replace
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from spmld import SelfPacedEnsemble
from spmld._arrays import contiguous, features_to_numpy
from spmld._io import need
from spmld._response import as_frame
from spmld._table import format_number
from spmld._validation import plural
from spmld.app.commands import options
from spmld.app.commands.fitting import quality_metrics, save_model
from spmld.app.commands.loading import Source
from spmld.app.commands.matching import MatchedData, match_update, open_model, split_encoder
from spmld.app.commands.printing import (
    check_output_path,
    list_first,
    metric_title,
    print_json,
    print_message,
    progress_bar,
)
from spmld.datasets import Dataset
from spmld.datasets.frames import identifier_text
from spmld.ensemble.updating import KeptData
from spmld.estimators.model_parts import label_names_of
from spmld.export import ModelInfo
from spmld.tables import TableRoles

ROUNDING = 1e-6
"""Difference of features, relative to the largest one, that single precision explains."""


@click.command()
@click.argument("model")
@options.source_options("data", trusted=True, allow_missing=True)
@options.out_option("NEW_MODEL", "Model file to write, such as new.skops.", required=True)
@options.force_option
@options.trust_type_option
@options.json_option
def update(model: str, data: Source, out: str, force: bool, trusted_types: tuple[str, ...], as_json: bool) -> None:
    """Update MODEL, a file of `spmld fit --keep-data`, with the labels of DATA, and write it to another file.

    The rows of DATA are new samples. If the model was fitted with --id, a row with the identifier of a training sample
    corrects the labels of this sample: observed labels replace those of the fit, and empty fields change nothing. A
    column that starts with label_, or that --label names, is a new label if the model does not have it, and is missing
    for other samples. With tags, new ones are ignored unless --label names them.

    The settings and the encoder of the model, such as the words of a text, stay as they are. An update takes about a
    fifth of the time of a fit. Models with a hierarchy or of several annotators cannot be updated.

    \b
    Examples:
      spmld fit songs.csv --tags tags --id song_id -o songs.skops --keep-data
      spmld update songs.skops new.csv -o updated.skops
      spmld update songs.skops reviewed.csv --trusted reviewed.trusted.csv -o updated.skops
    """
    check_output_path(out, force)
    loaded, info = open_model(model, trusted_types, data)
    kept = _training_data(loaded, model, info)
    matched = match_update(data, model, info)
    samples = _find_samples(kept.sample_names, matched, data.path)
    estimator, X = split_encoder(loaded, matched.X, data.path)
    _warn_of_features(X, kept, samples)
    Y = need("pandas").DataFrame(matched.Y, columns=matched.label_names)
    start = time.perf_counter()
    with progress_bar(None, "updating"):
        estimator.update(as_frame(estimator, X), Y, trusted=matched.trusted, samples=samples)
    seconds = time.perf_counter() - start
    added = [identifier_text(matched.sample(i)) if matched.id else "" for i in np.flatnonzero(samples < 0).tolist()]
    dataset = _dataset(estimator, loaded, info, [*kept.sample_names, *added])
    n, l = kept.samples.labels.shape
    signs = estimator.training_data_.samples.signs
    metrics = quality_metrics(dataset.Y, estimator.out_of_fold_scores_)
    details = {
        "data": f"{info.summary.get('data', model)}, {data.name}",
        "new_samples": len(added),
        "corrected_labels": int((signs[:n, :l] != kept.samples.signs).sum()),
        "new_labels": list(dataset.label_names[l:]),
        "held_out": {"model": {name: value for name, value in metrics.items() if not np.isnan(value)}},
        **{name: info.summary[name] for name in ("file",) if name in info.summary},
    }
    summary = save_model(estimator, out, data, dataset, type(estimator).__name__, seconds, **details)
    if as_json:
        print_json({"model": out, **summary})
    else:
        print_message("\n".join(_describe(out, summary)))


def _training_data(model: Any, path: str, info: ModelInfo) -> KeptData:
    """Return the training data in a model, or raise ValueError if it cannot be updated."""
    estimator = model[-1] if isinstance(model, Pipeline) else model
    if not isinstance(estimator, SelfPacedEnsemble):
        method = info.summary.get("method", type(estimator).__name__)
        found = "has a hierarchy" if hasattr(estimator, "hierarchy_") else f"contains {method}"
        raise ValueError(
            f"{path} {found}, and only SelfPacedEnsemble without a hierarchy can be updated; fit a model to the old "
            "and the new samples with spmld fit"
        )
    if estimator.training_data_ is None:
        raise ValueError(
            f"{path} has no training data, which an update needs; fit it with spmld fit --keep-data, or fit a model to "
            "the old and the new samples"
        )
    return estimator.training_data_


def _find_samples(names: NDArray[np.str_], matched: MatchedData, path: str) -> NDArray[np.intp]:
    """Return the index of the training sample with the identifier of each row, and -1 for other rows."""
    known = {name: i for i, name in enumerate(names.tolist()) if name}
    if matched.sample_names is None or not known:
        lacks = f"{path} has no column of identifiers" if known else "the model has no identifiers of its samples"
        print_message(f"spmld: note: all rows are new samples, because {lacks} (see --id)")
        return np.full(len(matched.Y), -1)
    texts = list(map(identifier_text, matched.sample_names))
    for where, count in ((path, Counter(texts)), ("the training data", Counter(names.tolist()))):
        if repeated := [text for text in texts if text in known and count[text] > 1]:
            raise ValueError(f"--id must identify each sample, but {repeated[0]!r} is repeated in {where}")
    samples = np.array([known.get(text, -1) for text in texts])
    count = Counter(texts)
    if n_repeated := sum(count[text] > 1 for text in texts if text):
        print_message(f"spmld: note: {plural(n_repeated, 'new sample')} with an identifier that occurs more than once")
    if n_unnamed := count[""]:
        print_message(f"spmld: note: {plural(n_unnamed, 'row')} without an identifier, used as new samples")
    return samples


def _warn_of_features(X: Any, kept: KeptData, samples: NDArray[np.intp]) -> None:
    """Print how many rows have the identifier of a training sample and other features, which are ignored."""
    rows = np.flatnonzero(samples >= 0)
    difference = abs(features_to_numpy(contiguous(X))[rows] - kept.samples.X[samples[rows]])
    n_changed = int(np.count_nonzero((difference > ROUNDING * abs(kept.samples.X).max()).sum(axis=1)))
    if n_changed:
        changed = f"{plural(n_changed, 'row')} with the identifier of a training sample and other features"
        print_message(f"spmld: note: {changed}; the features of training samples do not change")


def _dataset(estimator: Any, loaded: Any, info: ModelInfo, sample_names: list[str]) -> Dataset:
    """Return the training data of an updated model, with the roles of the columns of its fit."""
    kept = estimator.training_data_
    names = label_names_of(estimator) or info.label_names or []
    roles = TableRoles.from_dict(info.summary["table"]) if "table" in info.summary else None
    return Dataset(
        kept.samples.X,
        np.where(kept.samples.labels.observed, kept.samples.signs > 0, np.nan),
        [] if info.encoded else info.feature_names or [],
        names,
        trusted=kept.samples.labels.trusted,
        sample_names=sample_names if any(sample_names) else None,
        encoder=loaded[0] if info.encoded else None,
        roles=roles if roles is None or roles.labels is None else replace(roles, labels=names),
        columns=info.summary.get("columns"),
    )


def _describe(out: str, summary: dict[str, Any]) -> list[str]:
    """Return the lines that describe an update."""
    changes = f"{plural(summary['new_samples'], 'new sample')}, "
    changes += plural(summary["corrected_labels"], "corrected label")
    new = f", new labels: {list_first(summary['new_labels'])}" if summary["new_labels"] else ""
    total = f"{plural(summary['n_labels'], 'label')} of {plural(summary['n_samples'], 'sample')}"
    metrics = summary["held_out"]["model"].items()
    quality = [f"{metric_title(name)} {format_number(value, 3)}" for name, value in metrics]
    return [
        f"{out}: {changes}{new}; updated to {total} in {summary['seconds']:.1f} s",
        f"held-out: {', '.join(quality) or 'not available'}",
        f"next: spmld predict {shlex.quote(out)} NEW_DATA -o predicted.csv",
    ]

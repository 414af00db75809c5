"""Commands on a Dask cluster."""

import time
from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from spmld._io import need
from spmld.cli.loading import Source
from spmld.datasets import TableRoles
from spmld.datasets.roles import first


def scheduler_option(command: Callable[..., None]) -> Callable[..., None]:
    """Add the option --scheduler to a command whose fits are run in parallel."""

    @click.option("--scheduler", metavar="ADDRESS", help="Run the fits on the Dask cluster with this scheduler.")
    @wraps(command)
    def run(*args: Any, scheduler: str | None, **options: Any) -> None:
        if scheduler is None:
            command(*args, **options)
            return
        from spmld.dask import use_cluster

        with use_cluster(scheduler):
            command(*args, **options)

    return run


def fit_on_cluster(model: Any, method: str, source: Source, scheduler: str, out: str) -> dict[str, Any]:
    """Fit a model to Parquet files on the workers of a cluster, write it to a file, and return a summary."""
    distributed, frames = need("distributed", "dask"), need("dask.dataframe", "dask")
    import spmld.dask

    remote_class = getattr(spmld.dask, f"Dask{method}", None)
    if remote_class is None:
        names = [name.removeprefix("Dask") for name in spmld.dask.__all__ if name.startswith("Dask")]
        raise ValueError(f"--method must be one of {', '.join(names)} with --scheduler, got {method}")
    if source.trusted is not None:
        raise ValueError("--trusted and --scheduler cannot be combined; leave out one of them")
    start = time.perf_counter()
    with distributed.Client(scheduler):
        frame = frames.read_parquet(source.path)
        features, labels = find_columns(frame, TableRoles(**_roles(source)))
        Y = frame[list(labels)].rename(columns=labels)
        fitted = remote_class(**model.get_params(deep=False)).fit(frame[features], Y)
        n_samples = len(frame)
    summary = {
        "data": source.name,
        "method": method,
        "n_samples": n_samples,
        "n_features": len(features),
        "n_labels": len(labels),
        "seconds": round(time.perf_counter() - start, 3),
    }
    spmld.save(fitted.to_local(), out, label_names=list(labels.values()), feature_names=features, summary=summary)
    return summary


def find_columns(frame: Any, roles: TableRoles) -> tuple[list[str], dict[str, str]]:
    """Return the features of a table of numbers, and the names of the labels by column."""
    columns = list(frame.columns)
    problems = roles.find_problems(columns)
    if problems:
        raise ValueError(str(problems[0]))
    if roles.labels is not None:
        labels = {name: name for name in roles.labels}
    else:
        labels = {name: name.removeprefix(roles.prefix) for name in columns if name.startswith(roles.prefix)}
    if not labels:
        raise ValueError(f"no column starts with {roles.prefix}; name the label columns with --label")
    ignored = {*labels, *roles.drop, roles.id}
    features = [name for name in columns if name not in ignored]
    other = [name for name in features if frame[name].dtype.kind not in "biuf"]
    if other:
        raise ValueError(f"columns must be numbers with --scheduler, got {first(other)}; leave them out with --drop")
    if not features:
        raise ValueError("no column is left for features; at least one feature column is required")
    return features, labels


def describe_cluster_fit(out: str, summary: dict[str, Any]) -> str:
    """Return the lines that are printed after a fit."""
    sizes = f"{summary['n_samples']} samples, {summary['n_features']} features, {summary['n_labels']} labels"
    return f"{summary['method']} fitted to {sizes} in {summary['seconds']:.1f} s\n{out}"


def _roles(source: Source) -> dict[str, Any]:
    """Return the roles of columns among the options. Tags and text need the whole table."""
    accepted = ("labels", "prefix", "id", "drop")
    other = [name for name in source.options if name not in accepted]
    if other:
        raise ValueError(f"--{other[0].replace('_', '-')} and --scheduler cannot be combined; leave out one of them")
    return dict(source.options)

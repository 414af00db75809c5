"""Commands on a Dask cluster."""

import time
from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from spmld._io import need
from spmld.cli.fit_summary import describe_precisions
from spmld.cli.fitting import save_model
from spmld.cli.loading import Source, describe_tags
from spmld.cli.printing import print_message


def scheduler_option(command: Callable[..., None]) -> Callable[..., None]:
    """Add the option --scheduler to a command whose fits are run in parallel."""

    @click.option("--scheduler", metavar="ADDRESS", help="Run the fits on the Dask cluster with this scheduler.")
    @wraps(command)
    def run(*args: Any, scheduler: str | None, **options: Any) -> None:
        if scheduler is None:
            command(*args, **options)
            return
        from spmld.scale import use_cluster

        with use_cluster(scheduler):
            command(*args, **options)

    return run


def fit_on_cluster(model: Any, method: str, source: Source, scheduler: str, out: str) -> dict[str, Any]:
    """Fit a model to Parquet files on the workers of a cluster, write it to a file, and return a summary."""
    distributed = need("distributed", "dask")
    from spmld.model_selection.label_decisions import label_decisions
    from spmld.scale import read_parquet

    if not model.fits_blocks():
        raise ValueError(f"--method must be a method that can be fitted to row blocks with --scheduler, got {method}")
    if source.trusted is not None:
        raise ValueError("--trusted and --scheduler cannot be combined; leave out one of them")
    source.file_options("parquet")
    start = time.perf_counter()
    with distributed.Client(scheduler):
        table = read_parquet(source.path, **source.roles(None, "parquet"))
        if table.sample.roles.tags is not None:
            print_message(f"spmld: note: {describe_tags(table.sample.roles)}")
        missing = need("dask.array", "dask").isnan(table.Y)
        n_missing, n_observed = need("dask", "dask").compute(missing.sum(), (~missing).sum())
        decision = getattr(model, "decision", None)
        if isinstance(decision, dict):  # Dask arrays have no label names
            labels = label_decisions(decision, table.Y.shape[1], table.sample.label_names)
            model.set_params(decision=dict(zip(labels, decision.values(), strict=True)))
        model.fit(table.X, table.Y)
    n_entries = int(n_missing + n_observed)
    details = {"n_samples": n_entries // table.Y.shape[1], "observed": round(n_observed / n_entries, 6)}
    seconds = time.perf_counter() - start
    return save_model(model, out, source, table.sample, method, seconds, **details)


def describe_cluster_fit(out: str, summary: dict[str, Any]) -> str:
    """Return the lines that are printed after a fit."""
    sizes = f"{summary['n_samples']} samples, {summary['n_features']} features, {summary['n_labels']} labels"
    decisions = f"\ndecisions: {describe_precisions(summary)}" if "precision" in summary else ""
    return f"{summary['method']} fitted to {sizes} in {summary['seconds']:.1f} s{decisions}\n{out}"

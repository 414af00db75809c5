"""``spmld data``: list, fetch, describe and convert data sets."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Any

import click

from spmld.cli.output import check_target
from spmld.cli.printing import say, show_json, show_table
from spmld.cli.source import load, source_options

__all__ = ["data"]

_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
def data() -> None:
    """List, fetch, describe and convert data sets.

    A SOURCE is a file (arff, csv, tsv, libsvm, svm, mat, npz, parquet, or txt of the extreme-classification
    repository), a name that `spmld data list` shows, or openml:NUMBER or openml:NAME.

    \b
    Example:
      spmld data describe emotions --figure emotions.png
    """


@data.command("list")
@_JSON
def list_(as_json: bool) -> None:
    """List the public data sets that are known by name.

    \b
    Example:
      spmld data list --json
    """
    from spmld.datasets import list_datasets

    infos = list_datasets()
    if as_json:
        show_json([asdict(info) for info in infos])
        return
    rows = [(i.name, i.n_train, i.n_test, i.n_features, i.n_labels, i.task) for i in infos]
    show_table(("name", "train", "test", "features", "labels", "task"), rows)


@data.command()
@click.argument("names", nargs=-1, required=True)
@_JSON
def fetch(names: tuple[str, ...], as_json: bool) -> None:
    """Get the files of data sets, and say where they are.

    Each file is looked for below the folder SPMLD_DATA, then in the cache (the folder SPMLD_CACHE, if set), and
    downloaded if it is in neither. Its SHA-256 is compared with the recorded one, if there is one.

    \b
    Example:
      spmld data fetch emotions scene
    """
    from spmld.datasets import dataset_info, fetch_files
    from spmld.datasets.fetch import checksum

    rows = []
    for info in [dataset_info(name) for name in names]:
        paths = fetch_files(info.name, progress=sys.stderr.isatty())
        for file, path in zip(info.files, paths, strict=True):
            found = checksum(path)
            recorded = "not recorded" if file.sha256 is None else "as recorded" if found == file.sha256 else "differs"
            rows.append({"name": info.name, "file": str(path), "sha256": found, "checksum": recorded})
        say(f"{info.name}: please cite {info.citation}. Licence: {info.licence}.")
    if as_json:
        show_json(rows)
    else:
        table = [(row["name"], row["file"], f"{row['checksum']}: {row['sha256']}") for row in rows]
        show_table(("name", "file", "SHA-256"), table)


@data.command()
@source_options()
@click.option("--figure", metavar="FILE", help="Draw it into this file (png, pdf, svg).")
@_JSON
def describe(source: str, figure: str | None, as_json: bool, **options: Any) -> None:
    """Print cardinality, density, label frequencies, imbalance and missing share.

    \b
    Examples:
      spmld data describe emotions --figure emotions.png
      spmld data describe mine.csv --label sad --label calm
    """
    from spmld.datasets import describe

    check_target(figure, force=True)
    found = describe(load(source, **options))
    if figure:
        found.plot(figure)
    if as_json:
        show_json({"name": found.name, **found.summary(), "per label": found.per_label()})
        return
    rows = found.per_label()
    click.echo(found)
    click.echo()
    show_table(tuple(rows[0]), [tuple(row.values()) for row in rows])
    if figure:
        say(f"figure: {figure}")


@data.command()
@source_options()
@click.argument("target")
@click.option("--to", metavar="FORMAT", help="arff, csv, libsvm, npz, parquet or xc, if the ending does not say it.")
@click.option("--part", type=click.Choice(["all", "train", "test"]), default="all", help="Rows of the official split.")
@click.option("--sparse/--dense", default=None, help="How arff and npz store features.  [default: as they are]")
@click.option("--force", is_flag=True, help="Replace TARGET if it is there.")
def convert(
    source: str, target: str, to: str | None, part: Any, sparse: bool | None, force: bool, **options: Any
) -> None:
    """Write a data set in another format. TARGET is complete or absent.

    Tables name label columns label_..., ARFF puts them last and says so as MEKA does. Only npz keeps the official
    split; for other formats take it apart with --part.

    \b
    Examples:
      spmld data convert emotions train.csv --part train
      spmld data convert mine.arff mine.parquet --xml mine.xml
    """
    from spmld.datasets import write_dataset

    check_target(target, force)
    found = load(source, **options).part(part)
    write_dataset(found, target, format=to, sparse=sparse)
    say(f"{target}: {found}")

"""``spmld data``: list, fetch, describe and convert data sets."""

import sys
from dataclasses import asdict
from typing import Any

import click

from spmld._table import TextTable
from spmld.app.commands import options
from spmld.app.commands.loading import Source
from spmld.app.commands.printing import (
    check_output_path,
    list_columns,
    print_json,
    print_message,
    print_result,
    print_table,
)


@click.group()
def data() -> None:
    """List, fetch, describe and convert data sets.

    SOURCE is a file (arff, csv, tsv, xlsx, jsonl, libsvm, svm, mat, npz, parquet, or txt of the extreme-classification
    repository), or a name from `spmld data list`.

    \b
    Example:
      spmld data describe emotions
    """


@data.command("list")
@options.json_option
def list_(as_json: bool) -> None:
    """List the public data sets that can be fetched by name.

    \b
    Example:
      spmld data list --json
    """
    from spmld.datasets import list_datasets

    infos = list_datasets()
    rows = [(i.name, i.n_train, i.n_test, i.n_features, i.n_labels, i.task) for i in infos]
    table = TextTable(["name", "train", "test", "features", "labels", "task"], rows)
    print_result([asdict(info) for info in infos], table, as_json)


@data.command()
@click.argument("names", nargs=-1, required=True)
@options.json_option
def fetch(names: tuple[str, ...], as_json: bool) -> None:
    """Fetch the files of data sets and print their paths.

    Files are looked up in the folder SPMLD_DATA, then in the cache (the folder SPMLD_CACHE, if set), and downloaded if
    they are in neither. Downloads are verified by their SHA-256 checksums.

    \b
    Example:
      spmld data fetch emotions scene
    """
    from spmld.datasets.registry import checksum, dataset_info, local_files

    rows = []
    for info in [dataset_info(name) for name in names]:
        paths = local_files(info, progress=sys.stderr.isatty())
        for recorded, path in zip(info.files.values(), paths, strict=True):
            sha256 = checksum(path)
            state = "as recorded" if sha256 == recorded else "differs"
            rows.append({"name": info.name, "file": str(path), "sha256": sha256, "checksum": state})
        print_message(f"{info.name}: please cite {info.citation}. License: {info.license}.")
    lines = [(row["name"], row["file"], f"{row['checksum']}: {row['sha256']}") for row in rows]
    print_result(rows, TextTable(["name", "file", "SHA-256"], lines), as_json)


@data.command()
@options.source_options()
@options.json_option
def describe(source: Source, as_json: bool) -> None:
    """Print the cardinality, density, label frequencies, imbalance and fraction of missing labels of SOURCE.

    The kinds of the columns of a table are printed as a message, and are part of the output of --json.

    \b
    Examples:
      spmld data describe emotions
      spmld data describe songs.csv --label sad --label calm
    """
    from spmld.datasets import describe

    description = describe(source.load())
    if as_json:
        columns = {"columns": description.columns} if description.columns else {}
        content = {"name": description.name, **description.summary(), **columns, "per label": description.per_label()}
        print_json(content)
        return
    click.echo(description)
    click.echo()
    print_table(TextTable.from_records(description.per_label()))
    if description.columns:
        print_message(f"columns: {list_columns(description.columns)}")


@data.command()
@options.source_options()
@click.argument("target")
@click.option("--to", metavar="FORMAT", help="csv, npz or parquet.  [default: from the extension]")
@click.option(
    "--part", type=options.PARTS, default="all", show_default=True, help="Part of the official split to write."
)
@options.force_option
def convert(source: Source, target: str, to: str | None, part: Any, force: bool) -> None:
    """Convert a data set to another format.

    Label columns of tables start with label_. Only npz stores the official split; for other formats write the parts
    separately with --part.

    \b
    Examples:
      spmld data convert emotions train.csv --part train
      spmld data convert songs.arff songs.parquet --xml songs.xml
    """
    from spmld.datasets import write_dataset

    check_output_path(target, force)
    dataset = source.load().part(part)
    write_dataset(dataset, target, format=to)
    print_message(f"{target}: {dataset}")

"""``spmld fit``: fit a model and write it to a file."""

from __future__ import annotations

from typing import Any

import click

from spmld.cli.fitting import fit_model, save_model, training_summary
from spmld.cli.loading import load_part
from spmld.cli.methods import build, parse_params
from spmld.cli.options import force_option, json_option, method_options, part_option, source_options
from spmld.cli.printing import check_output_path, print_json, print_message


@click.command()
@source_options("data")
@click.option("-o", "--out", required=True, metavar="MODEL", help="Model file to write, such as model.skops.")
@method_options
@part_option("train")
@force_option
@json_option
def fit(
    data: str,
    out: str,
    method: str,
    params: tuple[str, ...],
    seed: int,
    part: str | None,
    force: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Fit a model on DATA and write it to a file.

    DATA is a file or a name, as for `spmld data`. In a table, label columns start with label_ or are named with
    --label, and empty cells are missing labels.

    \b
    Examples:
      spmld fit songs.csv -o songs.skops
      spmld fit songs.csv --label sad --label calm --drop id -o songs.skops --method MaskedLogistic --param C=0.3
    """
    check_output_path(out, force)
    model = build(method, parse_params(params), seed)
    dataset = load_part(data, options, part, "train")
    seconds = fit_model(model, dataset, method)
    summary = training_summary(data, dataset, method, seconds, options)
    save_model(model, out, dataset, summary)
    if as_json:
        print_json({"model": out, **summary})
    else:
        print_message(f"{out}: {method} fitted on {dataset} in {seconds:.1f} s")

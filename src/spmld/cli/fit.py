"""``spmld fit``: fit a model and write it to a file."""

from typing import Any

import click

from spmld.cli import options
from spmld.cli.cluster import describe_cluster_fit, fit_on_cluster
from spmld.cli.fit_summary import describe_fit, held_out_quality
from spmld.cli.fitting import expected_size, fit_model, save_model, stored_fits
from spmld.cli.loading import Source
from spmld.cli.methods import build, check_decision, parse_decision, parse_params, with_decision
from spmld.cli.printing import check_space, print_json, print_message


@click.command()
@options.source_options("data", part="train", trusted=True)
@options.out_option("MODEL", "Model file to write, such as model.skops.", required=True)
@options.method_options
@options.decision_option
@options.label_decision_options
@click.option(
    "--held-out/--no-held-out",
    default=True,
    help="Whether to estimate the quality on held-out samples.",
    show_default=True,
)
@options.checkpoint_option
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Fit on the Dask cluster with this scheduler; DATA is a directory of Parquet files.",
)
@options.json_option
def fit(
    data: Source,
    out: str,
    method: str,
    params: tuple[str, ...],
    seed: int,
    decision: Any,
    precisions: tuple[str, ...],
    thresholds: tuple[str, ...],
    held_out: bool,
    checkpoint: str | None,
    scheduler: str | None,
    as_json: bool,
) -> None:
    """Fit a model on DATA and write it to a file.

    DATA is a file or a name, as for `spmld data`. In a table, label columns start with label_ or are named with
    --label, or --tags names a column with a list of tags. Empty fields are missing labels. Text, categories, dates and
    missing values are encoded, and the model file contains the encoder. With --trusted, labels that a person has
    verified are used to estimate how often the others are wrong. With --precision, a label gets the lowest threshold
    with this precision on held-out samples. With --checkpoint, a fit that was killed is resumed.

    \b
    Examples:
      spmld fit songs.csv -o songs.skops
      spmld fit songs.csv --text review --tags tags --id song_id -o songs.skops
      spmld fit songs.xlsx --label sad --label calm --drop notes -o songs.skops --method MaskedLogistic --param C=0.3
      spmld fit songs.csv --trusted verified --decision micro_f1 -o songs.skops
      spmld fit songs.csv --precision sad=0.9 --threshold rock=0.7 -o songs.skops
      spmld fit songs/ --method SPMLD --scheduler tcp://10.0.0.1:8786 -o songs.skops
    """
    settings, decision = parse_params(params), parse_decision(decision, precisions, thresholds)
    if decision is not None and "decision" in settings:
        raise ValueError("--param decision cannot be combined with other options for decisions; pass one of them")
    model = build(method, settings, seed, trusted=data.trusted is not None)
    check_decision(model, decision)
    if scheduler is not None:
        if decision is not None:
            if "decision" not in model.get_params():
                raise ValueError(f"--decision and --scheduler cannot be combined for {method}; leave out one of them")
            model.set_params(decision=decision)
        with stored_fits(checkpoint):
            summary = fit_on_cluster(model, method, data, scheduler, out)
        print_json({"model": out, **summary}) if as_json else print_message(describe_cluster_fit(out, summary))
        return
    dataset = data.load_part()
    model = with_decision(model, decision, seed, dataset.Y)
    check_space(out, expected_size(dataset))
    with stored_fits(checkpoint):
        seconds = fit_model(model, dataset, method)
        quality = {"held_out": held_out_quality(model, dataset, seed)} if held_out else {}
        summary = save_model(model, out, data, dataset, method, seconds, **quality)
    if as_json:
        print_json({"model": out, **summary})
    else:
        print_message("\n".join(describe_fit(model, out, data, dataset, summary)))

"""``spmld fit``: fit a model and write it to a file."""

from typing import Any

import click

from spmld.cli import options
from spmld.cli.fitting import describe_estimates, fit_model, save_model
from spmld.cli.loading import Source
from spmld.cli.methods import add_decision, build, parse_params
from spmld.cli.printing import print_json, print_message


@click.command()
@options.source_options("data", part="train", trusted=True)
@options.out_option("MODEL", "Model file to write, such as model.skops.", required=True)
@options.method_options
@options.decision_option
@options.json_option
def fit(data: Source, out: str, method: str, params: tuple[str, ...], seed: int, decision: Any, as_json: bool) -> None:
    """Fit a model on DATA and write it to a file.

    DATA is a file or a name, as for `spmld data`. In a table, label columns start with label_ or are named with
    --label, and empty cells are missing labels. With --trusted, labels that a person has verified are used to estimate
    how often the others are wrong.

    \b
    Examples:
      spmld fit songs.csv -o songs.skops
      spmld fit songs.csv --label sad --label calm --drop id -o songs.skops --method MaskedLogistic --param C=0.3
      spmld fit songs.csv --trusted verified --decision micro_f1 -o songs.skops
    """
    model = build(method, add_decision(method, parse_params(params), decision), seed, trusted=data.trusted is not None)
    dataset = data.load_part()
    seconds = fit_model(model, dataset, method)
    summary = save_model(model, out, data, dataset, method, seconds)
    if as_json:
        print_json({"model": out, **summary})
    else:
        print_message(
            "\n".join([f"{out}: {method} fitted on {dataset} in {seconds:.1f} s", *describe_estimates(summary)])
        )

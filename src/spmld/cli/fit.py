"""``spmld fit``: fit a model and write it to a file."""

import click

from spmld.cli import options
from spmld.cli.fitting import fit_model, save_model
from spmld.cli.loading import Source
from spmld.cli.methods import build, parse_params
from spmld.cli.printing import print_json, print_message


@click.command()
@options.source_options("data", part="train")
@options.out_option("MODEL", "Model file to write, such as model.skops.", required=True)
@options.method_options
@options.json_option
def fit(data: Source, out: str, method: str, params: tuple[str, ...], seed: int, as_json: bool) -> None:
    """Fit a model on DATA and write it to a file.

    DATA is a file or a name, as for `spmld data`. In a table, label columns start with label_ or are named with
    --label, and empty cells are missing labels.

    \b
    Examples:
      spmld fit songs.csv -o songs.skops
      spmld fit songs.csv --label sad --label calm --drop id -o songs.skops --method MaskedLogistic --param C=0.3
    """
    model = build(method, parse_params(params), seed)
    dataset = data.load_part()
    seconds = fit_model(model, dataset, method)
    summary = save_model(model, out, data, dataset, method, seconds)
    if as_json:
        print_json({"model": out, **summary})
    else:
        print_message(f"{out}: {method} fitted on {dataset} in {seconds:.1f} s")

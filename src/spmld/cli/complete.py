"""``spmld complete``: list the missing labels that are most likely positive."""

import click
import numpy as np

from spmld._response import as_frame
from spmld._table import TextTable
from spmld.cli import options
from spmld.cli.fitting import fit_model
from spmld.cli.loading import Source, frames, open_model, split_encoder
from spmld.cli.methods import build, parse_params, without_decision
from spmld.cli.printing import Output, print_message
from spmld.cli.progress import progress_bar


@click.command()
@options.source_options("data", part="train", trusted=True)
@options.model_option
@options.method_options
@options.integer("--top", 20, "Maximum number of labels to list.")
@click.option(
    "--min-confidence",
    default=0.5,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="Minimum confidence of the listed labels.",
)
@options.trust_option
@options.output_options
def complete(
    data: Source,
    model: str | None,
    method: str,
    params: tuple[str, ...],
    seed: int,
    top: int,
    min_confidence: float,
    trusted: tuple[str, ...],
    output: Output,
) -> None:
    """List the missing labels of DATA that are most likely positive, most confident first.

    The output has the sample (the identifier of --id, or its number from 0), the label and the confidence, which is the
    probability that the label is positive. A method is fitted on DATA, unless --model is used. The observed labels of a
    sample help to predict its missing ones.

    \b
    Examples:
      spmld complete songs.csv --top 50
      spmld complete songs.csv --model songs.skops --min-confidence 0.9 -o add.csv
    """
    if model is None:
        estimator = build(method, parse_params(params), seed, trusted=data.trusted is not None)
        dataset = data.load_part()
        fit_model(estimator, dataset, method)
        (X, Y), names = frames(dataset), list(dataset.label_names)
        samples, id = dataset.sample_names, None if dataset.roles is None else dataset.roles.id
    else:
        options.check_model_options()
        estimator, info = open_model(model, trusted)
        matched = data.match(model, info, labels=True, completing=True)
        estimator, X = split_encoder(estimator, matched.X)
        estimator = without_decision(estimator)
        if not hasattr(estimator, "complete"):
            raise ValueError(f"{model} contains {info.estimator}, which cannot complete labels")
        X, Y, names = as_frame(estimator, X), matched.Y, matched.label_names
        samples, id = matched.sample_names, matched.id
    with progress_bar(None, "completing"):
        suggestions = estimator.complete(X, Y).suggestions(Y, min_confidence=min_confidence)
    rows = [
        [sample if samples is None else samples[sample], names[label], round(confidence, 4)]
        for sample, label, confidence in suggestions[:top]
    ]
    output.write(TextTable([id or "sample", "label", "confidence"], rows))
    missing = int(np.isnan(np.asarray(Y, dtype=float)).sum())
    print_message(f"listed {len(rows)} of {len(suggestions)} suggested labels; {missing} entries are missing")
    if not missing:
        print_message("no entry is missing; if tags that are not listed may be present, pass --untagged weak")

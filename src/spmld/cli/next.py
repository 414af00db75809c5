"""``spmld next``: rank the samples to label next."""

import click
import numpy as np

from spmld._table import TextTable
from spmld.cli import options
from spmld.cli.loading import Source
from spmld.cli.printing import Output, print_message
from spmld.cli.review_data import load_review, open_samples
from spmld.review.queue import rank_samples, true_probability


@click.command()
@options.source_options("data", part="all", trusted=True)
@click.option("--model", metavar="MODEL", help="Model file that predicts the missing labels.")
@options.trust_type_option
@options.integer("--top", 20, "Maximum number of samples to list.")
@options.seed_option("Seed for the folds.")
@options.output_options
def next(data: Source, model: str | None, trusted_types: tuple[str, ...], top: int, seed: int, output: Output) -> None:
    """List the samples of DATA that are most valuable to label next.

    The expected gain of a sample is the expected number of its missing labels that would be predicted wrongly, the sum
    of min(p, 1 - p). The output has the sample (the identifier of --id, or its number from 0), the number of its
    missing labels, the expected gain, the label that is most uncertain, and the start of the sample's content.

    \b
    Examples:
      spmld next songs.csv --top 50
      spmld next songs.csv --model songs.skops -o next.csv
    """
    loaded = load_review(data, model, trusted_types, seed, evidence=False)
    samples, names = open_samples(loaded.source, loaded.data), list(loaded.data.label_names)
    ids, roles = loaded.data.sample_names, loaded.data.roles
    probability = true_probability(loaded.issues, loaded.probabilities)
    Y = loaded.data.Y
    ranked = rank_samples(probability, Y)
    distance = np.where(np.isnan(np.asarray(Y, dtype=float)), np.abs(probability - 0.5), np.inf)
    uncertain = distance.argmin(axis=1)
    rows = [
        [i if ids is None else ids[i], missing, round(gain, 4), names[uncertain[i]], samples.title(i)]
        for i, gain, missing in ranked[:top]
    ]
    id = "sample" if ids is None or roles is None else roles.id
    output.write(TextTable([id, "missing", "gain", "most uncertain", "content"], rows))
    total = sum(gain for _, gain, _ in ranked)
    print_message(
        f"listed {len(rows)} of {len(ranked)} samples with missing labels; expected gain {sum(r[2] for r in rows):.1f} "
        f"of {total:.1f}"
    )

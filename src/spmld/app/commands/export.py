"""``spmld export``: write a model as an ONNX graph."""

from pathlib import Path

import click

from spmld.app.commands import options
from spmld.app.commands.matching import open_model
from spmld.app.commands.printing import print_message


@click.command()
@click.argument("model")
@options.out_option("FILE", "ONNX file to write, such as model.onnx.", required=True)
@click.option("--locale", metavar="NAME", help="Locale of the runtime, for lower case.  [default: of this system]")
@options.trust_type_option
def export(model: str, out: str, locale: str | None, trusted_types: tuple[str, ...]) -> None:
    """Write MODEL, a file written by `spmld fit`, to ONNX, for programs without spmld.

    The file has a graph with the outputs scores, probabilities and labels, for onnxruntime and other runtimes. It
    begins with the columns of the table: numbers as floats, categories and text as strings.

    \b
    Example:
      spmld export songs.skops -o songs.onnx
    """
    from spmld.export import export_onnx

    if Path(out).suffix.lower() != ".onnx":
        raise ValueError(f"unknown file extension {Path(out).suffix!r} of {out}; supported: .onnx")
    estimator, info = open_model(model, trusted_types)
    names = None if info.encoded else info.feature_names
    export_onnx(estimator, out, locale=locale, label_names=info.label_names, feature_names=names)
    print_message(f"{out}: {info.estimator} with {info.n_labels} labels")

"""``spmld export``: write a model for programs without spmld."""

from pathlib import Path

import click

from spmld.cli import options
from spmld.cli.matching import open_model
from spmld.cli.printing import print_message

_SUFFIXES = (".onnx", ".npz")


@click.command()
@click.argument("model")
@options.out_option("FILE", "File to write: .onnx, or .npz for linear models.", required=True)
@click.option("--locale", metavar="NAME", help="Locale of the runtime, for lower case.  [default: of this system]")
@options.trust_type_option
def export(model: str, out: str, locale: str | None, trusted_types: tuple[str, ...]) -> None:
    """Write MODEL, a file written by `spmld fit`, for programs without spmld.

    A .onnx file is a graph with the outputs scores, probabilities and labels, for onnxruntime and other runtimes. It
    begins with the columns of the table: numbers as floats, categories and text as strings. An .npz file has the
    coefficients, intercepts and thresholds of a linear model without encoded columns.

    \b
    Examples:
      spmld export songs.skops -o songs.onnx
      spmld export features.skops -o features.npz
    """
    from spmld.persistence import export_npz, export_onnx

    suffix = Path(out).suffix.lower()
    if suffix not in _SUFFIXES:
        raise ValueError(f"unknown file extension {suffix!r} of {out}; supported: {', '.join(_SUFFIXES)}")
    if locale is not None and suffix != ".onnx":
        raise ValueError("--locale can only be used for .onnx files; leave it out")
    estimator, info = open_model(model, trusted_types)
    names = {"label_names": info.label_names, "feature_names": None if info.encoded else info.feature_names}
    if suffix == ".onnx":
        export_onnx(estimator, out, locale=locale, **names)
    else:
        export_npz(estimator, out, **names)
    print_message(f"{out}: {info.estimator} with {info.n_labels} labels")

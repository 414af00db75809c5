"""``spmld info`` and ``spmld export``: print the content of a model file, or write it as an ONNX graph."""

import inspect
import os
import platform
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import click

import spmld
from spmld._table import TextTable, format_number
from spmld.app.commands import options
from spmld.app.commands.matching import open_model
from spmld.app.commands.printing import check_output_path, list_columns, list_first, print_message, print_result
from spmld.export import ModelInfo

_LIBRARIES = (
    *("numpy", "scipy", "scikit-learn", "array-api-compat", "torch", "pandas", "pyarrow", "openpyxl"),
    *("pooch", "matplotlib", "jinja2", "skops", "onnx", "skl2onnx", "click", "rich"),
)


@click.command()
@click.argument("model", required=False)
@options.json_option
def info(model: str | None, as_json: bool) -> None:
    """Print versions and devices, or the content of a model file.

    Parameters with their default values are left out, except with --json.

    \b
    Examples:
      spmld info
      spmld info songs.skops --json
    """
    if model is None:
        content = _environment()
        libraries = {name: text or "not installed" for name, text in content["libraries"].items()}
        shown = {**content, "devices": ", ".join(content["devices"]), **libraries}
        del shown["libraries"]
    else:
        description = spmld.model_info(model)
        content = asdict(description)
        shown = _describe_model(description)
    print_result(content, TextTable(["name", "value"], list(shown.items())), as_json)


def _environment() -> dict[str, Any]:
    return {
        "spmld": spmld.__version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "devices": _devices(),
        "libraries": {name: _version(name) for name in _LIBRARIES},
    }


def _devices() -> list[str]:
    """Return the devices for tensors; NumPy always uses the CPU."""
    try:
        import torch
    except ImportError:
        return ["cpu"]
    cuda = [f"cuda:{i} {torch.cuda.get_device_name(i)}" for i in range(torch.cuda.device_count())]
    return ["cpu", *cuda, *(["mps"] if torch.backends.mps.is_available() else [])]


def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None


def _describe_model(info: ModelInfo) -> dict[str, Any]:
    """Return the description of a model as text."""
    summary = dict(info.summary)
    lines: dict[str, Any] = {"model": info.estimator, **_changed_params(info)}
    for kind in ("feature", "label"):
        names = getattr(info, f"{kind}_names")
        count = getattr(info, f"n_{kind}s")
        lines[f"{kind}s"] = f"{count}: {list_first(names, 20)}" if names else count
    lines |= {"columns": list_columns(summary.pop("columns"))} if summary.get("columns") else {}
    known = ("n_features", "n_labels")  # they are above
    lines |= {_words(name): _to_text(value) for name, value in summary.items() if name not in known}
    written = f"{info.created} by spmld {info.version}"
    return {**lines, "written": written, "libraries": _to_text(info.libraries), "file format": info.format}


def _changed_params(info: ModelInfo) -> dict[str, Any]:
    """Return the parameters of a model that are not the default ones; those of other libraries are all returned."""
    made = getattr(spmld, info.estimator, None)
    defaults = {} if made is None else {p.name: p.default for p in inspect.signature(made).parameters.values()}
    return {
        f"parameter {name}": " ".join(str(value).split())
        for name, value in info.params.items()
        if name not in defaults or value not in (defaults[name], repr(defaults[name]))
    }


def _words(name: str) -> str:
    return {"n_samples": "samples", "table": "column roles", "file": "file options"}.get(name, name.replace("_", " "))


def _to_text(value: Any) -> str:
    """Return the content of a summary as text."""
    if isinstance(value, dict):
        nested = any(isinstance(item, dict) for item in value.values())
        texts = [f"{_words(key)}{':' if nested else ''} {_to_text(item)}" for key, item in value.items()]
        return ("; " if nested else ", ").join(texts)
    return ", ".join(map(_to_text, value)) if isinstance(value, list) else format_number(value)


@click.command()
@click.argument("model")
@options.out_option("FILE", "ONNX file to write, such as model.onnx.", required=True)
@options.force_option
@click.option("--locale", metavar="NAME", help="Locale of the runtime, for lower case.  [default: of this system]")
@options.trust_type_option
def export(model: str, out: str, force: bool, locale: str | None, trusted_types: tuple[str, ...]) -> None:
    """Write MODEL, a file written by `spmld fit`, to ONNX, for programs without spmld.

    The file has a graph with the outputs scores, probabilities and labels, for onnxruntime and other runtimes. It
    begins with the columns of the table: numbers as floats, categories and text as strings.

    \b
    Example:
      spmld export songs.skops -o songs.onnx
    """
    from spmld.export import export_onnx

    check_output_path(out, force)
    if Path(out).suffix.lower() != ".onnx":
        raise ValueError(f"unknown file extension {Path(out).suffix!r} of {out}; supported: .onnx")
    estimator, info = open_model(model, trusted_types)
    names = None if info.encoded else info.feature_names
    export_onnx(estimator, out, locale=locale, label_names=info.label_names, feature_names=names)
    print_message(f"{out}: {info.estimator} with {info.n_labels} labels")

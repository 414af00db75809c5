"""``spmld info``: print versions and devices, or the content of a model file; ``spmld demo``."""

import ast
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
from spmld.cli import options
from spmld.cli.printing import check_output_path, list_columns, list_first, print_result
from spmld.persistence import ModelInfo

_LIBRARIES = (
    *("numpy", "scipy", "scikit-learn", "array-api-compat", "torch", "pandas", "pyarrow", "openpyxl"),
    *("pooch", "matplotlib", "jinja2", "optuna", "skops", "onnx", "skl2onnx", "click", "rich"),
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
        content, shown = asdict(description), _describe_model(description)
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
    lines: dict[str, Any] = {"model": info.estimator, **_changed_params(info.estimator, info.params)}
    for kind, names, count in (
        ("features", info.feature_names, info.n_features),
        ("labels", info.label_names, info.n_labels),
    ):
        lines[kind] = f"{count}: {list_first(names, 20)}" if names else count
    lines |= {"columns": list_columns(summary.pop("columns"))} if summary.get("columns") else {}
    known = ("n_features", "n_labels")  # they are above
    lines |= {_words(name): _to_text(value) for name, value in summary.items() if name not in known}
    written = f"{info.created} by spmld {info.version}"
    return {**lines, "written": written, "libraries": _to_text(info.libraries), "file format": info.format}


def _changed_params(estimator: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a model that are not the default ones; the steps of a pipeline are separate lines."""
    import sklearn.pipeline

    import spmld.model_selection

    params = dict(params)
    modules = (spmld, spmld.model_selection, sklearn.pipeline)
    made = next((getattr(module, estimator) for module in modules if hasattr(module, estimator)), None)
    defaults = {} if made is None else {p.name: p.default for p in inspect.signature(made).parameters.values()}
    lines = {}
    if estimator == "Pipeline":
        steps = ast.parse(" ".join(str(params.pop("steps", "[]")).split()), mode="eval").body
        for name, step in (pair.elts for pair in steps.elts):  # type: ignore[attr-defined]
            lines[f"step {ast.literal_eval(name)}"] = ast.unparse(step)
    for name, value in params.items():
        default = defaults.get(name, inspect.Parameter.empty)
        if value != default and value != repr(default):
            lines[f"parameter {name}"] = " ".join(str(value).split())
    return lines


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
@click.option("-o", "--out", default="demo", show_default=True, metavar="FOLDER", help="Folder to write.")
@options.force_option
def demo(out: str, force: bool) -> None:
    """Fit a model to song reviews with missing and wrong tags, and compare it with scikit-learn.

    The generated reviews, a figure and a report are written to a folder. The last lines are commands that continue with
    these files.

    \b
    Example:
      spmld demo -o demo
    """
    from spmld.demo import FILES, main

    if Path(out).is_dir():
        for name in FILES:
            check_output_path(str(Path(out) / name), force)
    else:
        check_output_path(out, force=False)
    main(out)

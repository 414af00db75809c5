"""``spmld info``: print versions and devices, or the content of a model file."""

import os
import platform
from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import click

import spmld
from spmld._table import TextTable
from spmld.cli import options
from spmld.cli.printing import print_result

_LIBRARIES = (
    *("numpy", "scipy", "scikit-learn", "array-api-compat", "torch", "pandas", "pyarrow", "openpyxl"),
    *("pooch", "matplotlib", "jinja2", "optuna", "skops", "onnx", "skl2onnx", "click", "rich"),
)


@click.command()
@click.argument("model", required=False)
@options.json_option
def info(model: str | None, as_json: bool) -> None:
    """Print versions and devices, or the content of a model file.

    \b
    Examples:
      spmld info
      spmld info songs.skops --json
    """
    content = asdict(spmld.model_info(model)) if model else _environment()
    print_result(content, TextTable(["name", "value"], list(_lines(content))), as_json)


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


def _lines(content: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the names and values, with one line for each value of a dictionary."""
    for key, value in content.items():
        if isinstance(value, dict):
            yield from _lines(value, f"{prefix}{key}: ")
        elif value is None and prefix == "libraries: ":
            yield prefix + key, "not installed"
        else:
            yield prefix + key, ", ".join(map(str, value)) if isinstance(value, list) else value

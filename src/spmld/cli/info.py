"""``spmld info``: versions and devices, or what a model file holds."""

from __future__ import annotations

import os
import platform
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import click

import spmld
from spmld.cli.printing import show_json, show_table

__all__ = ["info"]

_LIBRARIES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "array-api-compat",
    "torch",
    "pandas",
    "pyarrow",
    "liac-arff",
    "pooch",
    "matplotlib",
    "jinja2",
    "optuna",
    "skops",
    "onnx",
    "click",
    "rich",
)


@click.command()
@click.argument("model", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def info(model: str | None, as_json: bool) -> None:
    """Print versions and devices, or with MODEL what a model file says of its model.

    \b
    Examples:
      spmld info
      spmld info songs.skops --json
    """
    content = _about(model) if model else {"spmld": spmld.__version__, **_machine(), "libraries": _versions()}
    if as_json:
        show_json(content)
    else:
        show_table(("what", "value"), list(_lines(content)))


def _about(model: str) -> dict[str, Any]:
    return asdict(spmld.model_info(model))


def _machine() -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "system": platform.platform(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "devices": _devices(),
    }


def _devices() -> list[str]:
    """Where tensors can be; NumPy is always on the processor."""
    try:
        import torch
    except ImportError:
        return ["cpu"]
    found = ["cpu"]
    found += [f"cuda:{i} {torch.cuda.get_device_name(i)}" for i in range(torch.cuda.device_count())]
    return [*found, *(["mps"] if torch.backends.mps.is_available() else [])]


def _versions() -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


def _lines(content: dict[str, Any]) -> Any:
    for key, value in content.items():
        if isinstance(value, dict):
            for inner, part in value.items():
                yield f"{key}: {inner}", "not installed" if part is None and key == "libraries" else part
        else:
            yield key, ", ".join(map(str, value)) if isinstance(value, list) else value

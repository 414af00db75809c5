"""Constraints for pip that select the oldest supported versions: ``python -m tests.oldest > constraints.txt``.

They are the lower bounds in pyproject.toml, of the library and its extras. Tools of the tests are not constrained,
nor is torch, whose old versions on PyPI require CUDA.
"""

import re
import tomllib
from pathlib import Path

EXTRAS = ("cli", "data", "fast", "files", "onnx", "plot", "report", "text")


def oldest_versions():
    """Return the oldest supported version of each dependency.

    >>> oldest_versions()["numpy"]
    '2.0'
    """
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = project["dependencies"] + [line for name in EXTRAS for line in project["optional-dependencies"][name]]
    return dict(match.groups() for line in lines if (match := re.fullmatch(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)", line)))


if __name__ == "__main__":
    for name, version in oldest_versions().items():
        print(f"{name}=={version}")

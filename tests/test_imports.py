"""Packages import each other through public modules only."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1] / "src" / "spmld"
MODULES = sorted(ROOT.rglob("*.py"))


def private_imports(path):
    """Return imports of private modules of other packages; the helpers next to the packages are allowed."""
    package = path.relative_to(ROOT).parts[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("spmld."):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.startswith("spmld.")]
        else:
            continue
        for name in names:
            first, *rest = name.split(".")[1:]
            if first != package and any(part.startswith("_") and not part.startswith("__") for part in rest):
                yield name


def test_no_private_module_of_another_package_is_imported():
    assert [(path.name, name) for path in MODULES for name in private_imports(path)] == []


def test_class_names_are_unique():
    names = [
        node.name
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    ]
    assert sorted({name for name in names if names.count(name) > 1}) == []

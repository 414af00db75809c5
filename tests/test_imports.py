"""Packages import each other through public modules only, no name has two meanings, and no code is long."""

import ast
from collections import Counter
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


# A command has the name of the function that it runs, and both evaluate functions return the same metrics.
SHARED = {"monitor", "compare", "describe", "evaluate"}


def defined_names(path):
    """Return the classes, and the functions and constants of the module that other modules can import."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    yield from (node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            names = [node.name]
        else:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            names = [target.id for target in targets if isinstance(target, ast.Name)]
        yield from (name for name in names if not name.startswith("_"))


def test_names_are_unique():
    names = Counter(name for path in MODULES for name in defined_names(path))
    assert {name for name, count in names.items() if count > 1} == SHARED


def n_lines(node, text):
    """Return the number of lines of a module or function, without those of docstrings."""
    documented = [n for n in ast.walk(node) if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef)]
    strings = [n.body[0] for n in documented if ast.get_docstring(n) is not None]
    first, last = getattr(node, "lineno", 1), getattr(node, "end_lineno", len(text.splitlines()))
    return last - first + 1 - sum(string.end_lineno - string.lineno + 1 for string in strings)


def test_modules_and_functions_are_short():
    long = []
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        long += [(path.name, node.name) for node in functions if n_lines(node, text) >= 60]
        long += [path.name] * (n_lines(tree, text) >= 300)
    assert long == []

"""Mutation testing: change random expressions of the source one at a time, and count how many the tests notice.

``python -m tests.mutants 120 --seed 0 --out mutants.jsonl`` changes 120 expressions, each in a copy of the repository,
and runs the doctests of the changed module and the tests that import it, then the other tests of its package, until one
fails. A mutant is killed if a test fails or the tests exceed a limit of CPU time; otherwise it survives.
"""

import argparse
import ast
import json
import multiprocessing
import os
import random
import resource
import shutil
import sys
import tempfile
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path

from scipy.stats import beta

ROOT = Path(__file__).parents[1]
PACKAGES = ("core", "labels", "metrics", "model_selection", "pacing", "persistence")
SECONDS = 180  # of CPU time
LIBRARIES = (
    "autograd hypothesis.strategies onnxruntime optuna pandas pymanopt pytest scipy.stats skops.io sklearn torch"
)
OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd, ast.And: ast.Or,
    ast.Or: ast.And, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(LIBRARIES.split())


@dataclass(frozen=True)
class Mutant:
    """A change of the source: in a line of a file, `old` becomes `new`."""

    file: str
    line: int
    old: str
    new: str
    start: int  # bytes
    end: int

    def write(self, root):
        """Write the file with the change."""
        content = (ROOT / self.file).read_bytes()
        (root / self.file).write_bytes(content[: self.start] + self.new.encode() + content[self.end :])
        shutil.rmtree((root / self.file).parent / "__pycache__", ignore_errors=True)


def mutants(file):
    """Return all mutants of a source file."""
    content = (ROOT / file).read_bytes()
    starts = [0]
    for line in content.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = {}
    for node in _code(ast.parse(content)):
        for old, new in _changes(node):
            start = starts[old.lineno - 1] + old.col_offset
            end = starts[old.end_lineno - 1] + old.end_col_offset
            text = ast.unparse(ast.fix_missing_locations(new))
            text = f"({text})" if isinstance(old, ast.expr) else text
            found[start, end, text] = Mutant(str(file), old.lineno, content[start:end].decode(), text, start, end)
    return list(found.values())


def _code(node):
    """Yield the nodes below a node, without annotations, decorators and error messages."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list") or isinstance(node, (ast.Raise, ast.JoinedStr)):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child
                yield from _code(child)


def _changes(node):
    """Yield pairs of a node and what replaces it."""

    def changed(**fields):
        new = deepcopy(node)
        for name, value in fields.items():
            setattr(new, name, value)
        return node, new

    if isinstance(node, (ast.BinOp, ast.AugAssign, ast.BoolOp)) and type(node.op) in OPERATORS:
        yield changed(op=OPERATORS[type(node.op)]())
    elif isinstance(node, ast.Compare):
        yield changed(ops=[OPERATORS[type(node.ops[0])](), *node.ops[1:]])
    elif isinstance(node, ast.UnaryOp):
        yield node, node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
        value = node.value
        yield changed(value=not value if isinstance(value, bool) else value + 1 if value in (0, 1) else 2 * value)
    elif isinstance(node, (ast.If, ast.While, ast.IfExp)):
        yield node.test, ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
        yield changed(value=ast.Constant(None))
    elif isinstance(node, ast.Call):
        for i in range(len(node.keywords)):
            yield changed(keywords=node.keywords[:i] + node.keywords[i + 1 :])


def stages(file):
    """Return lists of paths to test one after the other: what imports the module, then all tests of its package."""
    package, name = Path(file).parts[2], Path(file).stem
    folder = Path("tests") / package
    near = [path.relative_to(ROOT) for path in sorted((ROOT / folder).glob("test_*.py"))]
    near = [path for path in near if name.strip("_") in path.stem or f".{name} import" in (ROOT / path).read_text()]
    others = [path.relative_to(ROOT) for path in sorted((ROOT / folder).glob("test_*.py"))]
    return [[Path(file), *near], [path for path in others if path not in near]]


def check(root):
    """Raise an error if the tests of the packages fail without a change."""
    process = _SERVER.Process(target=_test, args=(str(root), [f"tests/{name}" for name in PACKAGES], 10 * SECONDS))
    process.start()
    process.join()
    if process.exitcode != 0:
        raise RuntimeError("a test fails without a change; run make test")


def judge(mutant, root):
    """Test a mutant in a copy of the repository; return killed, timeout or survived."""
    mutant.write(root)
    try:
        for paths in stages(mutant.file):
            process = _SERVER.Process(target=_test, args=(str(root), [str(path) for path in paths]))
            process.start()
            process.join()
            if process.exitcode != 0:
                return "timeout" if process.exitcode < 0 else "killed"
        return "survived"
    finally:
        shutil.copy(ROOT / mutant.file, root / mutant.file)


def _test(root, paths, seconds=SECONDS):
    """Run tests until one fails, without output."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    null = os.open(os.devnull, os.O_RDWR)
    for number in (1, 2):
        os.dup2(null, number)
    os.chdir(root)
    for name in [name for name in sys.modules if name.split(".")[0] in ("tests", "spmld")]:
        del sys.modules[name]
    sys.path[:] = [root, f"{root}/src", *(path for path in sys.path if Path(path).resolve() != ROOT)]
    import pytest

    os._exit(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-W", "ignore", *paths]))  # without waiting for threads


def interval(killed, total):
    """Return the 95 % confidence interval of Clopper and Pearson.

    >>> [round(bound, 3) for bound in interval(26, 30)]
    [0.693, 0.962]
    """
    low = beta.ppf(0.025, killed, total - killed + 1) if killed else 0.0
    return float(low), float(beta.ppf(0.975, killed + 1, total - killed) if killed < total else 1.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("number", type=int, help="number of mutants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("mutants.jsonl"))
    parser.add_argument("--no-check", action="store_true", help="do not test the unchanged source first")
    options = parser.parse_args()
    files = [path.relative_to(ROOT) for name in PACKAGES for path in sorted((ROOT / "src/spmld" / name).glob("*.py"))]
    everything = [mutant for file in files for mutant in mutants(file)]
    chosen = random.Random(options.seed).sample(everything, options.number)
    outcomes = []
    with tempfile.TemporaryDirectory() as name, options.out.open("a") as out:
        root = Path(name)
        for part in ("src", "tests", "docs"):
            shutil.copytree(ROOT / part, root / part, ignore=shutil.ignore_patterns("__pycache__", "_build"))
        shutil.copy(ROOT / "pyproject.toml", root)
        if not options.no_check:
            check(root)
        for mutant in chosen:
            outcomes.append(judge(mutant, root))
            print(f"{outcomes[-1]:9}{mutant.file}:{mutant.line}: {mutant.old} -> {mutant.new}", flush=True)
            out.write(json.dumps({"seed": options.seed, **asdict(mutant), "outcome": outcomes[-1]}) + "\n")
            out.flush()
    killed = len(outcomes) - outcomes.count("survived")
    low, high = interval(killed, len(outcomes))
    print(f"{killed} of {len(outcomes)} mutants killed, of {len(everything)}: {killed / len(outcomes):.1%}")
    print(f"95 % confidence interval: {low:.1%} to {high:.1%}")


if __name__ == "__main__":
    main()

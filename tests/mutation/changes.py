"""Changes of the source: operators, comparisons, constants, conditions, arguments and returned values."""

import ast
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd, ast.And: ast.Or,
    ast.Or: ast.And, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A change of the source: in a line of a file, `old` becomes `new`."""

    file: str
    line: int
    old: str
    new: str
    start: int  # bytes
    end: int
    statement: tuple[int, int]  # first and last line
    in_function: bool

    def source(self):
        """Return the source with the change, which has the same number of lines."""
        content = (ROOT / self.file).read_bytes()
        lost = "\n" * (self.old.count("\n") - self.new.count("\n"))
        new = self.new[:-1] + lost + ")" if self.new.endswith(")") else self.new + lost
        return content[: self.start] + new.encode() + content[self.end :]


def mutants(file):
    """Return all mutants of a source file."""
    content = (ROOT / file).read_bytes()
    starts = [0]
    for line in content.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found, tree = {}, ast.parse(content)
    statements = sorted(
        ((node.lineno, node.end_lineno) for node in ast.walk(tree) if isinstance(node, ast.stmt)),
        key=lambda lines: lines[1] - lines[0],
    )
    bodies = [
        (node.body[0].lineno, node.end_lineno)
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    for node in _code(tree):
        for old, new in _changes(node):
            start = starts[old.lineno - 1] + old.col_offset
            end = starts[old.end_lineno - 1] + old.end_col_offset
            text = ast.unparse(ast.fix_missing_locations(new))
            text = f"({text})" if isinstance(old, ast.expr) else text
            statement = next(lines for lines in statements if lines[0] <= old.lineno <= lines[1])
            inside = any(first <= old.lineno <= last for first, last in bodies)
            old_text = content[start:end].decode()
            found[start, end, text] = Mutant(str(file), old.lineno, old_text, text, start, end, statement, inside)
    return list(found.values())


def _code(node):
    """Yield the nodes below a node, without annotations, decorators, error messages and checks of lengths."""
    if isinstance(node, (ast.Raise, ast.JoinedStr)) or (isinstance(node, ast.keyword) and node.arg == "strict"):
        return
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list"):
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
        for i in (i for i, keyword in enumerate(node.keywords) if keyword.arg != "strict"):
            yield changed(keywords=node.keywords[:i] + node.keywords[i + 1 :])

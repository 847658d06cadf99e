"""The mutants of a file: one small change each, to one node of the syntax tree."""

from __future__ import annotations

import ast
import difflib
import hashlib
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Mutant", "draw", "find_mutants"]

#: Each operator becomes the next one; a comparison, the others too.
_ARITHMETIC: Mapping[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd,
    ast.MatMult: ast.Mult,
}  # fmt: skip
_COMPARISONS: Mapping[type[ast.cmpop], Sequence[type[ast.cmpop]]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt), ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
#: Removed as a whole, like assignments to members and elements. Removing an assignment to a name would only give a NameError.
_REMOVED = (ast.Expr, ast.AugAssign, ast.Raise, ast.Delete, ast.Break, ast.Continue)


#: Arguments that have no effect on a correct program: of a `TypedDict`, and of `zip`, where they check what always holds.
_UNSEEN = ("total", "strict")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A change of a file.

    Attributes:
        path: The file, relative to the checkout.
        line: The line of the change.
        lines: The lines whose tests may see it: those of the statement, or of the changed part of a statement's head.
        at_import: The line runs when the module is imported.
        source: The changed line as it is, without its indentation.
        before: The text that is changed.
        after: The text in its place.
        start: Where that text begins in the file, in bytes.
        identity: A hash that changes with the line, but not with its place in the file.
    """

    path: str
    line: int
    lines: frozenset[int]
    at_import: bool
    source: str
    before: str
    after: str
    start: int
    identity: str

    def apply(self, text: str) -> str:
        """Return the file's text with the change.

        Raises:
            SyntaxError: The result is not Python, a fault of this tool.
        """
        before = text.encode()
        changed = (before[: self.start] + self.after.encode() + before[self.start + len(self.before.encode()) :]).decode()
        compile(changed, self.path, "exec")
        return changed

    def diff(self, text: str) -> str:
        """Return the change of the file's text as a unified diff."""
        lines = difflib.unified_diff(text.splitlines(), self.apply(text).splitlines(), self.path, self.path, n=1, lineterm="")
        return "\n".join(lines)


def _hash(*parts: object) -> str:
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()


def find_mutants(path: str, text: str) -> list[Mutant]:
    """Return all mutants of a file."""
    lines = text.splitlines(keepends=True)
    encoded = text.encode()
    # Columns of the syntax tree count bytes.
    starts = [0, *itertools.accumulate(len(line.encode()) for line in lines)]
    seen: Counter[str] = Counter()
    numbers = []
    for line in lines:
        seen[line.strip()] += 1
        numbers.append(seen[line.strip()])
    found = []
    for node, after, statement, at_import in _changes(ast.parse(text)):
        first = node.lineno - 1  # type: ignore[attr-defined]
        start = starts[first] + node.col_offset  # type: ignore[attr-defined]
        before = encoded[start : starts[node.end_lineno - 1] + node.end_col_offset].decode()  # type: ignore[attr-defined]
        source = lines[first].strip()
        # A statement with a body has lines that say nothing about its head.
        whole: Any = node if hasattr(statement, "body") else statement
        found.append(
            Mutant(
                path=path,
                line=first + 1,
                lines=frozenset({statement.lineno, *range(whole.lineno, whole.end_lineno + 1)}),
                at_import=at_import,
                source=source,
                before=before,
                after=after,
                start=start,
                identity=_hash(path, source, numbers[first], start - starts[first] - lines[first].find(source), before, after),
            )
        )
    return found


def draw(mutants: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """Draw lines of code at random, and a mutant of each.

    The lines with the lowest hashes are drawn. So a changed line affects at most one other line of the draw, the last one.
    """
    by_line: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        by_line.setdefault(f"{mutant.path}:{mutant.line}", []).append(mutant)
    # The first identity of a line represents the line.
    ranked = sorted(by_line.values(), key=lambda line: _hash(seed, min(each.identity for each in line)))
    return [min(line, key=lambda each: _hash(seed, "mutant", each.identity)) for line in ranked[:count]]


def _changes(tree: ast.Module) -> Iterator[tuple[ast.AST, str, ast.stmt, bool]]:
    """Yield each node that can be changed, what it becomes, its statement, and whether the statement runs at the import."""
    pending: list[tuple[ast.AST, ast.stmt | None, bool]] = [(tree, None, True)]
    while pending:
        node, statement, at_import = pending.pop()
        if isinstance(node, ast.stmt):
            statement = node
            if _is_documentation(node):
                continue
        if statement is not None:
            for changed, after in (*((node, after) for after in _alternatives(node)), *_changed_parts(node)):
                yield changed, after, statement, at_import
        inside = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "type_params") or (
                isinstance(node, ast.keyword) and node.arg in _UNSEEN
            ):
                continue
            pending += [
                (each, statement, at_import and not (inside and name == "body"))
                for each in (value if isinstance(value, list) else [value])
                # Before Python 3.12, positions inside an f-string are not positions in the file.
                if isinstance(each, ast.AST) and not isinstance(each, ast.JoinedStr)
            ]


def _is_documentation(node: ast.stmt) -> bool:
    """Tell whether no test can see a statement: docstrings, code for type checkers only, names for ``import *``."""
    match node:
        case ast.Expr(value=ast.Constant()) | ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.Import() | ast.ImportFrom():
            return True
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name in ("__all__", "__slots__")
        case ast.AnnAssign(value=None):
            return True
    return False


def _alternatives(node: ast.AST) -> Iterator[str]:
    """Yield the texts that a node can be changed to."""
    match node:
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            for index, operator in enumerate(ops):
                for other in _COMPARISONS[type(operator)]:
                    yield _text(ast.Compare(left, [*ops[:index], other(), *ops[index + 1 :]], comparators))
        case ast.BoolOp(op=operator, values=values):
            yield _text(ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values))
        case ast.BinOp(left=left, op=operator, right=right):
            yield _text(ast.BinOp(left, _ARITHMETIC[type(operator)](), right))
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield _text(operand)
        case ast.Constant(value=bool(value)):
            yield str(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield _text(ast.Constant(value + 1))
            yield _text(ast.Constant(value - 1))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield _text(ast.IfExp(ast.UnaryOp(ast.Not(), test), body, orelse))
        case ast.Return(value=ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield "return None"
        case ast.Break():
            yield "continue"
        case ast.Continue():
            yield "break"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "pass"
    if isinstance(node, _REMOVED):
        yield "pass"


def _changed_parts(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Yield the parts of a node that are changed because of their role in it: conditions, and strings that are defaults."""
    defaults: Sequence[ast.AST | None] = ()
    match node:
        case ast.If(test=test) | ast.While(test=test):
            yield test, _text(ast.UnaryOp(ast.Not(), test))
        case ast.comprehension(ifs=ifs):
            yield from ((test, _text(ast.UnaryOp(ast.Not(), test))) for test in ifs)
        case ast.arguments():
            defaults = (*node.defaults, *node.kw_defaults)
        case ast.AnnAssign(value=value):
            defaults = (value,)
    for default in defaults:
        if isinstance(default, ast.Constant) and isinstance(default.value, str):
            yield default, repr("" if default.value else "changed")


def _text(node: ast.expr) -> str:
    return f"({ast.unparse(ast.fix_missing_locations(node))})"

"""Every small change of a module: an operator, a bound, a constant, a condition, an omitted call."""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

OPERATORS: dict[type[ast.AST], str] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.In: "not in",
    ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is", ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*",
    ast.FloorDiv: "*", ast.Mod: "*", ast.Pow: "*", ast.BitAnd: "|", ast.BitOr: "&", ast.LShift: ">>", ast.RShift: "<<",
    ast.And: "or", ast.Or: "and",
}  # fmt: skip
"""{operator: its substitute in a mutant}"""

_OPERATOR = re.compile(r"not\s+in|is\s+not|in|is|and|or|<<|>>|\*\*|//|[<>=!]=|[-+*/%<>&|]")
_NO_CODE = {"annotation", "returns", "decorator_list", "bases", "type_params"}
"""Parts of a tree that describe the code and are not run for their values."""

Change = tuple[int, int, str]
"""A range of the text, as two offsets in characters, and its substitute."""

Lines = tuple[int, int]


@dataclass(frozen=True)
class Mutant:
    """One change of a module; the lines of the statement that it is in, and of the function around it."""

    file: Path
    start: int
    end: int
    new: str
    statement: Lines
    function: Lines | None

    @property
    def source(self) -> str:
        """The changed module."""
        text = self.file.read_text()
        return text[: self.start] + self.new + text[self.end :]

    def __str__(self) -> str:
        text = self.file.read_text()
        line = text.count("\n", 0, self.start) + 1
        old = " ".join(text[self.start : self.end].split())
        around = " ".join(text.splitlines()[line - 1].split())
        return f"{self.file}:{line}: `{old}` becomes `{self.new}` in `{around}`"


def mutants(file: Path) -> list[Mutant]:
    """All mutants of a file, in the order of its text."""
    found = _found(_Text(file), ast.parse(file.read_text()), (1, 1), None)
    return sorted(found, key=lambda mutant: (mutant.start, mutant.end, mutant.new))


class _Text:
    """The text of a module, located by the nodes of its tree."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.text = file.read_text()

    @cached_property
    def _lines(self) -> list[tuple[int, str]]:
        lines, start = [], 0
        for line in self.text.splitlines(keepends=True):
            lines.append((start, line))
            start += len(line)
        return lines

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """The offsets of a node."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._offset(node.lineno, node.col_offset), self._offset(node.end_lineno, node.end_col_offset)

    def _offset(self, line: int, byte: int) -> int:
        start, text = self._lines[line - 1]
        return start + len(text.encode()[:byte].decode())

    def operator(self, left: ast.expr, right: ast.expr, operator: ast.AST) -> Iterator[Change]:
        """The text between two operands, without parentheses, and its substitute."""
        match = _OPERATOR.search(self.text, self.span(left)[1], self.span(right)[0])
        if match is not None and type(operator) in OPERATORS:
            yield match.start(), match.end(), OPERATORS[type(operator)]

    def negated(self, node: ast.expr) -> Iterator[Change]:
        """A negated condition."""
        start, end = self.span(node)
        yield start, end, f"not ({self.text[start:end]})"


def _found(text: _Text, node: ast.AST, statement: Lines, function: Lines | None) -> Iterator[Mutant]:
    if _is_not_run(node):
        return
    if isinstance(node, ast.stmt):
        last = node.lineno if hasattr(node, "body") else node.end_lineno
        statement = (node.lineno, last or node.lineno)
    if isinstance(node, ast.FunctionDef):
        function = (node.body[0].lineno, node.end_lineno or node.lineno)
    changes = _CHANGES.get(type(node))
    for start, end, new in changes(text, node) if changes else ():
        yield Mutant(text.file, start, end, new, statement, function)
    for name, part in ast.iter_fields(node):
        for child in part if isinstance(part, list) else [part]:
            if isinstance(child, ast.AST) and name not in _NO_CODE:
                yield from _found(text, child, statement, function)


def _is_not_run(node: ast.AST) -> bool:
    """Parts without effect, such as documentation and what only the type checker reads; and formatted texts."""
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) == "TypeVar"
    if isinstance(node, ast.FunctionDef):
        return any(ast.unparse(each) == "overload" for each in node.decorator_list)
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _compared(text: _Text, node: ast.Compare) -> Iterator[Change]:
    operands = [node.left, *node.comparators]
    for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
        yield from text.operator(left, right, operator)


def _joined(text: _Text, node: ast.BoolOp) -> Iterator[Change]:
    for left, right in zip(node.values, node.values[1:], strict=False):
        yield from text.operator(left, right, node.op)


def _signed(text: _Text, node: ast.UnaryOp) -> Iterator[Change]:
    start, _ = text.span(node)
    yield start, start + (3 if isinstance(node.op, ast.Not) else 1), ""


def _constant(text: _Text, node: ast.Constant) -> Iterator[Change]:
    value, other = node.value, None
    if isinstance(value, bool):
        other = repr(not value)
    elif isinstance(value, int | float):
        other = repr(value + 1)
    elif isinstance(value, str) and value:
        other = repr(value[:-1] + ("-" if value.endswith("_") else "_"))
    elif isinstance(value, bytes) and value:
        other = repr(value[:-1] + b"_")
    if other is not None:
        yield *text.span(node), other


def _left_out(text: _Text, node: ast.stmt) -> Iterator[Change]:
    if isinstance(node, ast.Raise) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        yield *text.span(node), "pass"


def _tested(text: _Text, node: ast.If | ast.While | ast.IfExp) -> Iterator[Change]:
    yield from text.negated(node.test)


_CHANGES: dict[type[ast.AST], Callable[[_Text, ast.AST], Iterator[Change]]] = {
    ast.Compare: _compared,
    ast.BoolOp: _joined,
    ast.BinOp: lambda text, node: text.operator(node.left, node.right, node.op),
    ast.AugAssign: lambda text, node: text.operator(node.target, node.value, node.op),
    ast.UnaryOp: _signed,
    ast.Constant: _constant,
    ast.If: _tested,
    ast.While: _tested,
    ast.IfExp: _tested,
    ast.comprehension: lambda text, node: (change for test in node.ifs for change in text.negated(test)),
    ast.Raise: _left_out,
    ast.Expr: _left_out,
}
"""{kind of node: its changes}"""

"""One name, one thing: no two modules, and no two definitions in them, share a name with different meanings."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

TWINS = {
    "_LOG": "the service's log",
    "_NORMAL": "the standard normal distribution",
    "OPERATION": "the declaration of an operation, in its module",
    "_ANSWER": "the parts of an operation's answer",
    "_READ_AT": "where the description of a picture reads its curves",
    "SCREEN": "what a command adds to its operation, in its module",
    "_HELP": "what a command says of itself",
    "_TABLES": "the declared columns of an operation's tables, for its screen",
}
"""{name that several modules define: the one meaning that it has in all of them}"""

MODULES = {
    "classes": "the operation: its declaration, its picture, its command",
    "columns": "the operation: its declaration, its command",
    "comparisons": "the operation: its declaration, its picture",
    "curves": "the operation: its declaration, its picture, its command",
    "gates": "the operation: its declaration, its picture",
    "plans": "the operation: its declaration, its mathematics",
    "guide": "the user's guide: its command, its routes",
    "slices": "the operation: its declaration, its picture, its command",
    "sql": "the SQL text: its tree, its command",
    "tradeoffs": "the operation: its declaration, its picture, its command",
}
"""{name that several modules have: the one meaning that it has in all of them}"""


def public_names(source: str) -> Iterator[str]:
    """The names that a module defines for others, at its top level."""
    for node in ast.parse(source).body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.Assign(targets=targets):
                yield from (found.id for target in targets for found in ast.walk(target) if isinstance(found, ast.Name))


def repeated(names: Iterator[str]) -> set[str]:
    """Names that occur twice. Functions within one module may have any name."""
    return {name for name, times in Counter(names).items() if times > 1 and not (name[0] == "_" and name[1:].islower())}


def test_one_name_is_one_thing(root: Path) -> None:
    modules = sorted((root / "service").rglob("*.py"))
    assert len(modules) > 100
    # Functions of the sweep are read as `sweep.areas`, and its twin has the same.
    modules = [path for path in modules if path.parent.name != "sweep"]
    assert repeated(name for path in modules for name in set(public_names(path.read_text("utf-8")))) == set(TWINS)
    assert repeated(path.stem for path in modules) == set(MODULES)


def test_public_names_are_found() -> None:
    source = "A = B = 1\nC: int = 2\n(D, E) = 3, 4\nclass F:\n    G = 5\ndef h(): i = 6\n_J = 7\n"
    assert list(public_names(source)) == ["A", "B", "C", "D", "E", "F", "h", "_J"]

"""One name, one thing: no public name of a module, and no module, is there twice with different meanings."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

TWINS = {
    "summary_lines": "what a command prints of an answer, for each command",
}
MODULES = {
    "classes": "the operation: its picture, its command",
    "curves": "the operation: its picture, its command",
    "guide": "the user's guide: its command, its routes",
    "slices": "the operation: its picture, its command",
    "sql": "the SQL text: its tree, its command",
    "tradeoffs": "the operation: its picture, its command",
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
    return {name for name, times in Counter(names).items() if times > 1 and not name.startswith("_")}


def test_one_name_is_one_thing(root: Path) -> None:
    modules = sorted((root / "service").rglob("*.py"))
    assert len(modules) > 100
    assert repeated(name for path in modules for name in set(public_names(path.read_text("utf-8")))) == set(TWINS)
    assert repeated(path.stem for path in modules) == set(MODULES)


def test_public_names_are_found() -> None:
    source = "A = B = 1\nC: int = 2\n(D, E) = 3, 4\nclass F:\n    G = 5\ndef h(): i = 6\n_J = 7\n"
    assert list(public_names(source)) == ["A", "B", "C", "D", "E", "F", "h", "_J"]

"""The changes of a module, for one that has every kind; and the lines that are new since a commit."""

from pathlib import Path

import pytest

from tests.tools.mutants.changes import mutants
from tests.tools.mutants.new_lines import new_lines

pytestmark = pytest.mark.all

MODULE = '''"""No change."""
from typing import TypeVar
NUMBER = TypeVar("NUMBER")
def function(x: "int" = 1, *, flag: bool = True) -> "str":
    """Nor here."""
    if x < 2 and not flag:
        raise ValueError(f"{x} is {1}")
    x += -x ** 3
    print("é", b"a")
    return [(y is None) for y in "a_" if y in {x}]
'''

CHANGES = [
    "1 -> 2", "True -> False", "x < 2 and not flag -> not (x < 2 and not flag)", "< -> <=", "2 -> 3", "and -> or",
    "not -> ", 'raise ValueError(f"{x} is {1}") -> pass', "+ -> -", "- -> ", "** -> *", "3 -> 4",
    'print("é", b"a") -> pass', "\"é\" -> '_'", "b\"a\" -> b'_'", "is -> is not", "\"a_\" -> 'a-'",
    "y in {x} -> not (y in {x})", "in -> not in",
]  # fmt: skip


def test_every_kind_of_change(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(MODULE, encoding="utf-8")
    found = mutants(file)
    assert sorted(f"{MODULE[each.start : each.end]} -> {each.new}" for each in found) == sorted(CHANGES)
    for each in found:
        compile(each.source, "module.py", "exec")


def test_the_lines_whose_tests_are_asked(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(MODULE, encoding="utf-8")
    by_change = {MODULE[each.start : each.end]: (each.statement, each.function) for each in mutants(file)}
    assert by_change["3"] == ((8, 8), (5, 10))
    assert by_change["and"] == ((6, 6), (5, 10))
    assert by_change["True"] == ((4, 4), (5, 10))


def test_new_lines_of_a_difference() -> None:
    diff = "+++ b/module.py\n@@ -3 +3,2 @@ def f():\n-a\n+b\n+c\n@@ -7,2 +7,0 @@\n-d\n-e\n@@ -20 +18 @@\n-f\n+g\n"
    assert new_lines(diff) == {3, 4, 18}

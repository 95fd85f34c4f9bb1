"""Sentences on a terminal: what the data say stays within its quotes, on one line, and is escaped."""

import pytest

from service.cli.layout import p_value_lines, printable, text_lines


@pytest.mark.parametrize("quote", ["'", '"'])
@pytest.mark.parametrize("before", range(40, 80))
def test_no_line_begins_within_a_quoted_value(quote: str, before: int) -> None:
    """A CI server takes a line that begins with :: for a command, blanks before it or not."""
    label = f"{quote}a b ::error::owned c{quote}"
    lines = list(text_lines(f"{'w ' * (before // 2)}{label} is positive; the rows' labels are the model's."))
    assert sum(label in line for line in lines) == 1
    assert not any(line.lstrip().startswith("::") for line in lines)
    assert " ".join(map(str.strip, lines)).endswith("is positive; the rows' labels are the model's.")


def test_what_a_terminal_interprets_is_escaped() -> None:
    assert list(text_lines("a\x1b[2J\nb\0")) == [r"  a\x1b[2J\nb\x00"]
    document = {"a\n": ["\x07", {"b": "\u202e"}], "c": 1.5, "d": None, "e": True}
    assert printable(document) == {r"a\n": [r"\x07", {"b": r"\u202e"}], "c": 1.5, "d": None, "e": True}


@pytest.mark.parametrize(
    ("lower", "upper", "p", "disagree"),
    [
        (-0.02, 0.001, 0.047, True),
        (-0.02, -0.001, 0.06, True),
        (0.001, 0.02, 0.06, True),
        (-0.02, -0.001, 0.04, False),
        (-0.02, 0.001, 0.06, False),
    ],
)
def test_a_p_value_that_disagrees_with_the_interval_is_explained(
    *, lower: float, upper: float, p: float, disagree: bool
) -> None:
    interval = {"lower": lower, "upper": upper, "level": 0.95, "method": "mover"}
    check = {"rule": {"metric": "roc", "max_drop": 0}, "interval": interval, "p_value": p}
    lines = list(p_value_lines([check]))
    assert [("two methods" in line) for line in lines] == ([True] if disagree else [])
    assert list(p_value_lines([check | {"rule": {"metric": "roc", "min": 0.5}}])) == []
    assert list(p_value_lines([check | {"interval": None}, check | {"p_value": None}])) == []

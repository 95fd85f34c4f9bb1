"""Sentences on a terminal: what the data say stays within its quotes, on one line, and is escaped."""

import pytest

from service.cli.layout import printable, text_lines


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

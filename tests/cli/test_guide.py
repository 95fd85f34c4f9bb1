"""`rocpr guide`: lists the pages, prints one, and names them all if the page does not exist."""

import pytest
from click.testing import CliRunner

from service.cli.commands import rocpr as commands
from service.guide import markdown_of, pages


def test_without_a_page_the_pages_are_listed() -> None:
    run = CliRunner().invoke(commands, ["guide"])
    assert run.exit_code == 0
    assert [line.split()[0] for line in run.stdout.splitlines()] == list(pages())
    assert all(line.endswith(page.about) for line, page in zip(run.stdout.splitlines(), pages().values(), strict=True))


@pytest.mark.parametrize("name", ["index", *pages()])
def test_a_page_is_printed_as_it_is(name: str) -> None:
    run = CliRunner().invoke(commands, ["guide", name])
    assert run.exit_code == 0
    assert run.stdout_bytes == markdown_of(name).encode()


def test_other_encodings_of_a_terminal_do_no_harm() -> None:
    run = CliRunner(charset="latin-1").invoke(commands, ["guide", "tradeoffs"])
    assert run.stdout_bytes == markdown_of("tradeoffs").encode()


@pytest.mark.parametrize("name", ["nothing", "../README"])
def test_for_an_unknown_page_those_that_there_are_are_named(name: str) -> None:
    run = CliRunner().invoke(commands, ["guide", name])
    assert run.exit_code == 2
    assert run.stdout == ""
    assert f"There is no page '{name}' in the guide; the pages are " in run.stderr
    assert all(page in run.stderr for page in pages())


@pytest.mark.parametrize(("name", "near"), [("gate", "gates"), ("compare", "comparisons"), ("curves.md", "curves")])
def test_a_page_with_a_similar_name_is_suggested(name: str, near: str) -> None:
    run = CliRunner().invoke(commands, ["guide", name])
    assert (run.exit_code, run.stdout) == (2, "")
    assert run.stderr.endswith(f"There is no page '{name}' in the guide; did you mean {near}?\n")

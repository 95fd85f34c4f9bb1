"""What a gate writes besides its verdict: a JUnit report, Markdown, a picture; on GitHub, a job's summary, and marks.

A gate that ends with an error is reported, too, so that no report of an earlier run is mistaken for this one's.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from service.charts.picture import Picture
from service.cli.command_error import fail
from service.cli.gate.annotations import ACTIONS, annotation, annotations
from service.cli.gate.html_report import Repeat, html_report
from service.cli.gate.rules_file import Rules
from service.cli.plots import write_plot
from service.cli.written_files import write_file
from service.operations import OPERATIONS
from service.operations.operation import Selection
from service.wire.answers.gate_answers import gate_of
from service.wire.answers.gate_reports import JUnitCase, junit_of, junit_report, markdown_report, xml_text
from service.wire.media_types import SVG
from service.wire.problems import Problem

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
"""GitHub's variable for the file whose Markdown it shows with the job."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """The files to write; None for those not requested."""

    junit: Path | None
    markdown: Path | None
    plot: Path | None = None
    page: Path | None = None

    def write(self, document: dict[str, Any], rules: Rules, names: tuple[str, str | None]) -> None:
        """Report an answer; `names` are those of the files of scores, and of the baseline's."""
        if _is_on_github():
            for line in annotations(document, rules):
                click.echo(line, err=True)  # standard output has the verdict
        self._write(lambda: junit_report(document, *names), lambda: markdown_report(document, *names))
        write_plot(self.plot, lambda media_type: _picture(document, media_type))

    def write_page(
        self,
        document: dict[str, Any],
        names: tuple[str, str | None],
        curves: Callable[[], bytes | None],
        repeat: Repeat,
    ) -> None:
        """Report an answer as a page, with the curves and how to repeat it."""
        if self.page is None:
            return
        pictures = [_picture(document, SVG)] if document["checks"] else []
        drawn = curves()
        pictures += [] if drawn is None else [drawn]
        self._write_files([(self.page, write_file, lambda: html_report(document, names, pictures, repeat).encode())])

    @contextmanager
    def of_errors(self) -> Iterator[None]:
        """Report the error that ends the command, and reraise it."""
        try:
            yield
        except click.ClickException as error:
            message = xml_text(error.format_message())
            if _is_on_github():
                click.echo(annotation("error", "No verdict", message), err=True)
            self._write(
                lambda: junit_of([JUnitCase("gate", "undecided", message)]), lambda: _undecided_markdown(message)
            )
            raise

    def _write(self, junit: Callable[[], bytes], markdown: Callable[[], str]) -> None:
        summary = os.environ.get(STEP_SUMMARY)
        wanted: list[tuple[Path | None, Callable[[Path, bytes], None], Callable[[], bytes]]] = [
            (self.junit, write_file, junit),
            (self.markdown, write_file, lambda: markdown().encode()),
            (Path(summary) if summary else None, _append, lambda: markdown().encode() + b"\n"),
        ]
        self._write_files(wanted)

    @staticmethod
    def _write_files(wanted: Sequence[tuple[Path | None, Callable[[Path, bytes], None], Callable[[], bytes]]]) -> None:
        for path, write, content in wanted:
            if path is None:
                continue
            try:
                write(path, content())
            except OSError as error:
                fail([f"Error: {path}: The report cannot be written: {error.strerror}."])


def _is_on_github() -> bool:
    return os.environ.get(ACTIONS) == "true"


def _append(path: Path, content: bytes) -> None:
    with path.open("ab") as file:
        file.write(content)


def _picture(document: dict[str, Any], media_type: str) -> bytes:
    try:
        encoded = OPERATIONS["gates"].encode(media_type, gate_of(document), Selection(picture=Picture("gate")))
    except Problem as problem:  # more rules than fit into a PNG
        fail([f"Error: {problem.errors[0].detail}"])
    return b"".join(encoded.pieces)


def _undecided_markdown(message: str) -> str:
    """Indent a message, so that Markdown shows it verbatim."""
    lines = "\n".join(f"    {line}" for line in message.splitlines())
    return f"### Gate not decided ❔\n\n{lines}\n"

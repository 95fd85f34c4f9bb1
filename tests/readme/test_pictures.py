"""The pictures of the guide are those that the commands beside them make.

`python -m tests.readme.test_pictures` makes them again.
"""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from service.app import create_app
from service.cli.commands import rocpr
from service.guide import FOLDER
from service.settings import read_settings
from service.web.guide import PICTURES
from tests.readme.documents import ROOT, blocks, links, text_of

PAGE = "service/guide/pictures.md"
COMMANDS = [block[2].strip() for block in blocks(text_of(PAGE)) if block[1] == "sh"]
PLOTS = {
    shlex.split(command)[-1]: command for command in COMMANDS if command.startswith("rocpr ") and "--plot" in command
}
"""{file: the command that makes it}"""


def plotted(command: str, file: Path) -> bytes:
    """Run a command of the guide, which writes into another file."""
    *words, name = shlex.split(command)[1:]
    assert words[-1] == "--plot"
    words = [
        str(ROOT / word) if word.startswith("tests/") else word.replace("=tests/", f"={ROOT}/tests/") for word in words
    ]
    run = CliRunner().invoke(rocpr, [*words, str(file / name)])
    assert run.exit_code in {0, 1}, run.output
    return (file / name).read_bytes()


def test_each_picture_has_its_command() -> None:
    assert set(PLOTS) == {f"{name}.svg" for name in PICTURES}
    assert set(PLOTS) == {link for link in links(PAGE) if link.endswith(".svg")}


@pytest.mark.parametrize("name", PLOTS)
def test_a_picture_is_what_its_command_makes(tmp_path: Path, name: str) -> None:
    assert plotted(PLOTS[name], tmp_path) == (FOLDER / name).read_bytes()


def test_http_answers_the_same_picture() -> None:
    words = shlex.split(next(command for command in COMMANDS if command.startswith("curl")))
    headers = dict(words[at + 1].split(": ") for at, word in enumerate(words) if word == "-H")
    body = (ROOT / words[words.index("--data-binary") + 1].removeprefix("@")).read_bytes()
    path = re.sub(r"http://[^/]+", "", words[-1])
    answer = create_app(read_settings({})).test_client().post(path, data=body, headers=headers)
    assert answer.data == (FOLDER / words[words.index("-o") + 1]).read_bytes()


def test_readme_opens_with_the_curves() -> None:
    assert links("README.md")[0] == "service/guide/curves.svg"


if __name__ == "__main__":
    for file, made_by in PLOTS.items():
        plotted(made_by, FOLDER)
        print(FOLDER / file)

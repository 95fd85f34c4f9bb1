"""The pictures of the guide are those that the commands above them draw.

`python -m tests.readme.test_pictures` makes them again.
"""

import re
import shlex
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from click.testing import CliRunner

from service.app import create_app
from service.cli.commands import rocpr
from service.guide import FOLDER
from service.settings import read_settings
from service.web.guide import GUIDE_PICTURES
from tests.readme.commands import draws
from tests.readme.documents import GUIDE, ROOT, blocks, links, text_of

COMMANDS = [
    block[2].strip() for page in GUIDE for block in blocks(text_of(page)) if block[1] == "sh" and draws(block[2])
]


def file_of(command: str) -> str:
    """The file that a command writes."""
    return re.findall(r"\w+\.svg", command)[0]


def picture_of(command: str) -> bytes:
    """The picture that a command of the guide writes."""
    words = shlex.split(command)
    return _by_curl(words) if words[0] == "curl" else _by_rocpr(words[1:])


def _by_rocpr(words: list[str]) -> bytes:
    words = [re.sub(r"^(\w+=)?tests/", rf"\1{ROOT}/tests/", word) for word in words]
    with TemporaryDirectory() as folder:
        file = Path(folder) / words[-1]
        run = CliRunner().invoke(rocpr, [*words[:-1], str(file)])
        assert run.exit_code in {0, 1}, run.output
        return file.read_bytes()


def _by_curl(words: list[str]) -> bytes:
    headers = dict(words[at + 1].split(": ") for at, word in enumerate(words) if word == "-H")
    option, body = next(pair for pair in pairwise(words) if pair[0] in {"-d", "--data-binary"})
    data = body.encode() if option == "-d" else (ROOT / body.removeprefix("@")).read_bytes()
    path = next(re.sub(r"http://[^/]+", "", word) for word in words if word.startswith("http://"))
    return create_app(read_settings({})).test_client().post(path, data=data, headers=headers).data


def test_each_picture_has_its_command() -> None:
    assert {file_of(command) for command in COMMANDS} == {f"{name}.svg" for name in GUIDE_PICTURES}
    assert {link for page in GUIDE for link in links(page) if link.endswith(".svg")} == {
        f"{name}.svg" for name in GUIDE_PICTURES
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_a_picture_is_what_its_command_makes(command: str) -> None:
    assert picture_of(command) == (FOLDER / file_of(command)).read_bytes()


def test_readme_opens_with_a_verdict() -> None:
    assert links("README.md")[0] == "service/guide/verdict.svg"


if __name__ == "__main__":
    for made_by in COMMANDS:
        (FOLDER / file_of(made_by)).write_bytes(picture_of(made_by))
        print(FOLDER / file_of(made_by))

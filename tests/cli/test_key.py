"""`rocpr key new`: the key for the caller on standard output, its line for the server."""

import re
from pathlib import Path

import pytest

from service.web.access.keys import Keys
from tests.cli.gate.gating import written
from tests.cli.running import Ran, refusal, run

KEY = re.compile(r"rocpr_[A-Za-z0-9_-]{43}\n")


def key_new(*arguments: str) -> Ran:
    return run("key", "new", *arguments)


def test_the_key_and_its_line_are_printed(tmp_path: Path) -> None:
    run = key_new("nightly")
    assert run.exit_code == 0
    assert KEY.fullmatch(run.stdout)
    remark, line = run.stderr.splitlines()
    assert remark.startswith("#")
    assert "ROCPR_API_KEYS_FILE" in remark
    assert run.stdout.strip() not in run.stderr
    (tmp_path / "keys").write_text(run.stderr)  # the comment may go into the file, too
    assert Keys(tmp_path / "keys").name_of(run.stdout.strip()) == line.split()[0] == "nightly"


def test_every_key_is_another() -> None:
    assert len({key_new("same").stdout for _ in range(20)}) == 20


def test_the_line_is_appended_to_a_file(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    first = key_new("first", "--file", str(file))
    assert first.exit_code == 0
    assert KEY.fullmatch(first.stdout)
    assert first.stderr == ""
    assert file.stat().st_mode & 0o777 == 0o600
    file.write_text("# who asked for it\n" + file.read_text().strip())  # some editors do not end the last line
    second = key_new("second", "--file", str(file))
    assert second.exit_code == 0
    keys = Keys(file)
    assert [keys.name_of(run.stdout.strip()) for run in (first, second)] == ["first", "second"]
    assert len(file.read_text().splitlines()) == 3


def test_a_file_without_a_key_is_begun(tmp_path: Path) -> None:
    file = written(tmp_path, "# none yet\n", "keys")
    run = key_new("first", "--file", str(file))
    assert Keys(file).name_of(run.stdout.strip()) == "first"


@pytest.mark.parametrize("name", ["", " ", "two words", "a/b", "ü", "a\n", "x" * 65])
def test_an_invalid_name_is_refused(name: str) -> None:
    assert "1 to 64 of the characters" in refusal(key_new("--", name))


def test_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    key_new("first", "--file", str(file))
    before = file.read_bytes()
    assert "already has a key for first" in refusal(key_new("first", "--file", str(file)))
    assert file.read_bytes() == before


@pytest.mark.parametrize("text", ["secret-looking\n", "first " + "g" * 64])
def test_a_file_that_is_something_else_is_left_alone(tmp_path: Path, text: str) -> None:
    file = written(tmp_path, text, "notes")
    run = key_new("first", "--file", str(file))
    assert run.exit_code == 1
    assert run.stdout == ""
    assert "line 1" in run.stderr
    assert text.rsplit(maxsplit=1)[-1] not in run.stderr
    assert file.read_text() == text


def test_a_file_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    run = key_new("first", "--file", str(tmp_path / "nowhere" / "keys"))
    assert run.exit_code == 1
    assert run.stdout == ""
    assert "No such file" in run.stderr


def test_the_help_says_where_each_part_goes() -> None:
    text = " ".join(run("key", "new", "--help").stdout.split())
    assert "The key goes to standard output" in text
    assert "The line goes to standard error" in text


def test_others_lose_access_to_the_file(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    for mode, expected in ((0o644, 0o640), (0o666, 0o660), (0o600, 0o600)):
        file.touch()
        file.chmod(mode)
        assert key_new("ann", "--file", str(file)).exit_code == 0
        assert file.stat().st_mode & 0o777 == expected
        file.unlink()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "keys"
    link.symlink_to(target)
    for text in (None, "# keys\n"):
        if text is not None:
            target.write_text(text)
        found = key_new("ann", "--file", str(link))
        assert (found.exit_code, found.stdout) == (1, "")
        assert "is a symbolic link" in found.stderr
        assert target.exists() is (text is not None)

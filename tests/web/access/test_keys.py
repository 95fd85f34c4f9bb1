"""The file of API keys: its content, the owners of keys, and rereading it."""

import errno
import hmac
import logging
import os
import re
import threading
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import pytest

from service.settings import SettingsError
from service.web.access import keys as module
from service.web.access.keys import Keys, check_file, names_in, new_key


def line(name: str, token: str) -> str:
    return f"{name} {sha256(token.encode()).hexdigest()}\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "keys"
    path.write_text(line("ann", "a-key") + line("ben", "b-key") + line("cat", "c-key"))
    return path


def replaced(path: Path, text: str) -> None:
    """Replace the file by another one, as careful editors and deployments do."""
    other = path.with_suffix(".new")
    other.write_text(text)
    other.rename(path)


def test_a_key_belongs_to_its_name(file: Path) -> None:
    keys = Keys(file)
    assert [keys.name_of(token) for token in ("a-key", "b-key", "c-key")] == ["ann", "ben", "cat"]


@pytest.mark.parametrize("token", ["", "a-key ", "A-KEY", "d-key", "ann", sha256(b"a-key").hexdigest(), "ü", "\udcff"])
def test_anything_else_has_no_owner(file: Path, token: str) -> None:
    assert Keys(file).name_of(token) is None


def test_a_new_key_has_256_random_bits_and_a_prefix() -> None:
    key, text = new_key("ci")
    assert key.startswith("rocpr_")
    assert len(key) == len("rocpr_") + 43
    assert text + "\n" == line("ci", key)
    assert new_key("ci")[0] != key


@pytest.mark.parametrize("name", ["", "a b", "a\n", "é", "x" * 65, "a/b"])
def test_an_invalid_name_gets_no_key(name: str) -> None:
    with pytest.raises(ValueError, match="1 to 64"):
        new_key(name)


@pytest.mark.parametrize("token", ["a-key", "b-key", "c-key", "nobody's"])
def test_every_hash_is_compared_in_constant_time(file: Path, monkeypatch: pytest.MonkeyPatch, token: str) -> None:
    compared = []

    def compare(stored: bytes, presented: bytes) -> bool:
        compared.append((stored, presented))
        return hmac.compare_digest(stored, presented)

    keys = Keys(file)
    monkeypatch.setattr(module, "hmac", SimpleNamespace(compare_digest=compare))
    keys.name_of(token)
    presented = sha256(token.encode()).digest()
    assert compared == [(sha256(key).digest(), presented) for key in (b"a-key", b"b-key", b"c-key")]


def test_white_space_remarks_and_line_ends_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    digest = sha256(b"a-key").hexdigest().upper()
    path.write_bytes(
        f"\n# Königs Schlüssel\r\n  ann \t {digest}  \r\n\n   # b\n{line('B.b_b-9', 'b-key').strip()}".encode()
    )
    keys = Keys(path)
    assert keys.name_of("a-key") == "ann"
    assert keys.name_of("b-key") == "B.b_b-9"
    assert names_in(path.read_bytes()) == {"ann", "B.b_b-9"}


DIGEST = sha256(b"secret").hexdigest()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "holds no key"),
        ("# nothing\n\n", "holds no key"),
        ("ann", "line 1 "),
        (f"ann {DIGEST}\nben {DIGEST[:-1]}", "line 2 "),
        (f"ann {DIGEST}0", "line 1 "),
        (f"ann {DIGEST} more", "line 1 "),
        (f"ann{DIGEST}", "line 1 "),
        (f"{DIGEST}", "line 1 "),
        (f"\n\n{'x' * 65} {DIGEST}", "line 3 "),
        (f"a/b {DIGEST}", "line 1 "),
        (f"é {DIGEST}", "line 1 "),
        (f"ann {'g' * 64}", "line 1 "),
        (f"ann {DIGEST}\nann {DIGEST[::-1]}", "line 2 "),
        (f"ann {DIGEST}\nben {DIGEST}", "line 2 "),
        (f"ann:{DIGEST}", "line 1 "),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_by_line(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "keys"
    path.write_text(text)
    with pytest.raises(SettingsError, match=says) as caught:
        check_file(path)
    message = str(caught.value)
    assert message.startswith("ROCPR_API_KEYS_FILE: ")
    assert not any(word in message for word in text.split() if len(word) > 3)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="ROCPR_API_KEYS_FILE: the file cannot be read: No such file"):
        check_file(tmp_path / "none")
    with pytest.raises(SettingsError, match="ROCPR_API_KEYS_FILE: this is not a file"):
        check_file(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SettingsError, match="ROCPR_API_KEYS_FILE: this is not a file"):
        check_file(tmp_path / "pipe")


def test_no_key_is_valid_until_the_file_is_usable(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "keys"
    keys = Keys(path)
    assert keys.name_of("a-key") is None
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    path.write_text(line("ann", "a-key"))
    assert keys.name_of("a-key") == "ann"


class TestReload:
    def test_a_file_that_was_replaced_is_read_again(self, file: Path) -> None:
        keys = Keys(file)
        replaced(file, line("dan", "d-key"))
        assert keys.name_of("a-key") is None
        assert keys.name_of("d-key") == "dan"

    def test_a_line_that_was_added_or_removed_counts(self, file: Path) -> None:
        keys = Keys(file)
        with file.open("a") as stream:
            stream.write(line("dan", "d-key"))
        assert keys.name_of("d-key") == "dan"
        file.write_text(line("dan", "d-key"))
        assert keys.name_of("a-key") is None

    def test_a_link_that_points_elsewhere_is_followed(self, file: Path, tmp_path: Path) -> None:
        """A mounted secret is such a link."""
        link, other = tmp_path / "link", tmp_path / "other"
        link.symlink_to(file)
        keys = Keys(link)
        other.write_text(line("dan", "d-key"))
        (tmp_path / "link.new").symlink_to(other)
        (tmp_path / "link.new").rename(link)
        assert keys.name_of("d-key") == "dan"

    def test_a_file_that_did_not_change_is_not_read(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        keys = Keys(file)
        monkeypatch.setattr(module, "_read", lambda _: pytest.fail("it was read"))
        assert keys.name_of("a-key") == "ann"

    @pytest.mark.parametrize("text", ["", "ann broken-secret-text\n", None])
    def test_no_key_is_valid_if_the_file_has_none(
        self, file: Path, caplog: pytest.LogCaptureFixture, text: str | None
    ) -> None:
        keys = Keys(file)
        if text is None:
            file.unlink()
        else:
            replaced(file, text)
        for _ in range(3):
            assert keys.name_of("a-key") is None
        errors = [record for record in caplog.records if record.levelno == logging.ERROR]
        assert len(errors) == (text != "")  # logged once, however many requests come; a file without lines is no error
        assert all("ROCPR_API_KEYS_FILE" in record.getMessage() and not record.exc_info for record in errors)
        assert "broken" not in caplog.text
        replaced(file, line("dan", "d-key"))
        assert keys.name_of("d-key") == "dan"

    def test_a_file_that_could_not_be_read_is_read_as_soon_as_it_can_be(
        self, file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        """The file itself need not change: a process may have run out of descriptors, or rights may have changed."""
        keys = Keys(file)
        read = Path.read_bytes

        def refuse(_: Path) -> bytes:
            raise OSError(errno.EMFILE, "Too many open files")

        replaced(file, line("dan", "d-key"))
        monkeypatch.setattr(Path, "read_bytes", refuse)
        for _ in range(3):
            assert [keys.name_of(key) for key in ("a-key", "d-key")] == [None, None]
        assert [record.levelname for record in caplog.records] == ["ERROR"]  # logged once
        monkeypatch.setattr(Path, "read_bytes", read)
        assert keys.name_of("d-key") == "dan"
        monkeypatch.setattr(Path, "read_bytes", lambda _: pytest.fail("it was read again"))
        assert keys.name_of("d-key") == "dan"

    def test_an_unreadable_file_in_its_place_does_not_hide_the_one_that_comes_back(
        self, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        keys = Keys(file)
        read, kept = Path.read_bytes, file.with_name("kept")

        def refuse(_: Path) -> bytes:
            raise PermissionError(errno.EACCES, "Permission denied")

        file.rename(kept)
        file.write_text(line("dan", "d-key"))
        monkeypatch.setattr(Path, "read_bytes", refuse)
        assert keys.name_of("a-key") is None
        monkeypatch.setattr(Path, "read_bytes", read)
        kept.rename(file)
        assert keys.name_of("a-key") == "ann"

    def test_an_invalid_line_does_not_harm_the_others(self, file: Path, caplog: pytest.LogCaptureFixture) -> None:
        """A removed key stays invalid, too: the server never returns to old content."""
        keys = Keys(file)
        replaced(file, line("ben", "b-key") + "bad\n" + line("dan", "d-key") + line("dan", "e-key"))
        assert [keys.name_of(key) for key in ("a-key", "b-key", "d-key", "e-key")] == [None, "ben", "dan", None]
        messages = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
        assert [re.findall(r"line \d+", message) for message in messages] == [["line 2"], ["line 4"]]
        assert [Keys(file).name_of(key) for key in ("a-key", "b-key")] == [None, "ben"]

    def test_threads_see_old_keys_or_new_ones_and_one_reads(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        keys = Keys(file)
        read, reads = module._read, []
        monkeypatch.setattr(module, "_read", lambda path: (reads.append(path), read(path))[1])
        wrong: list[object] = []
        stop = threading.Event()

        def ask() -> None:
            while not stop.is_set():
                if keys.name_of("a-key") != "ann" or keys.name_of("nobody's") is not None:
                    wrong.append(1)

        threads = [threading.Thread(target=ask) for _ in range(6)]
        for thread in threads:
            thread.start()
        for number in range(40):
            replaced(file, line("ann", "a-key") + line(f"other-{number}", f"key-{number}"))
            while keys.name_of(f"key-{number}") is None:
                os.sched_yield()
        stop.set()
        for thread in threads:
            thread.join()
        assert wrong == []
        assert len(reads) == 40

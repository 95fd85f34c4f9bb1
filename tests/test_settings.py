"""Settings are read from ROCPR_* variables, checked, and named in every error."""

import errno
import re
from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest

from service import settings
from service.settings import (
    Settings,
    SettingsError,
    check_spool_directory,
    mistyped_settings,
    read_settings,
    shipped_file,
)
from service.wire.limits import Limits

NUMBERS = [field.name for field in fields(Settings) if isinstance(field.default, int)]
TEXTS = ["api_keys_file", "datasets_file", "trusted_proxies", "cors_origins", "spool_dir", "runtime_dir", "commit"]


def test_a_variable_that_looks_like_a_setting_is_reported() -> None:
    others = {"ROCPR_SERVER", "ROCPR_API_KEY", "ROCPR_JUNIT", "ROCPR_PORT", "ROCPR_RUNTIME_OWNER", "SLOTS", "PATH"}
    settings = {f"ROCPR_{field.name.upper()}" for field in fields(Settings)}
    typos = {"ROCPR_SLOTZ": "ROCPR_SLOTS", "ROCPR_API_KEY_FILE": "ROCPR_API_KEYS_FILE"}
    told = list(mistyped_settings(dict.fromkeys(others | settings | set(typos), "1")))
    assert told == [f"{name} is not a setting; it is ignored. Did you mean {typos[name]}?" for name in sorted(typos)]


def test_each_kind_of_setting_is_tested() -> None:
    assert {*NUMBERS, *TEXTS, "small_seconds", "log_level", "compiled"} == {field.name for field in fields(Settings)}


@pytest.mark.parametrize("name", NUMBERS)
def test_each_setting_is_one_variable(name: str) -> None:
    value = {"max_interpolated_rows": 2017, "big_memory_bytes": 2**30, "spool_bytes": 2**20}.get(name, 17)
    assert getattr(read_settings({f"ROCPR_{name.upper()}": f" {value} "}), name) == value


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("text", ["-1", "1e6", "64M", "1_000", "\u0663", "x" * 500, "9" * 5000])
def test_a_value_that_cannot_be_used_is_refused_by_name(name: str, text: str) -> None:
    with pytest.raises(SettingsError, match=f"ROCPR_{name.upper()} must be a whole number") as caught:
        read_settings({f"ROCPR_{name.upper()}": text})
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("name", sorted({*NUMBERS} - {"big_body_bytes", "drain_seconds"}))
def test_zero_is_not_a_number_of_what_is_needed(name: str) -> None:
    with pytest.raises(SettingsError, match=f"ROCPR_{name.upper()} must be a whole number"):
        read_settings({f"ROCPR_{name.upper()}": "0"})


def test_a_time_may_have_decimals() -> None:
    assert [read_settings({"ROCPR_SMALL_SECONDS": text}).small_seconds for text in (" 0.02", "0", "3")] == [0.02, 0, 3]


@pytest.mark.parametrize("text", ["-1", "1e6", "nan", "1_0", ".5", "0,5", "\u0663", "86401", "9" * 5000])
def test_a_time_that_cannot_be_used_is_refused_by_name(text: str) -> None:
    message = "ROCPR_SMALL_SECONDS must be a number of seconds from 0 to 86400"
    with pytest.raises(SettingsError, match=message) as caught:
        read_settings({"ROCPR_SMALL_SECONDS": text})
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_taken_without_the_space_around_it(name: str) -> None:
    assert getattr(read_settings({f"ROCPR_{name.upper()}": " a b "}), name) == "a b"


def test_what_is_compiled_is_used_or_not() -> None:
    assert read_settings({"ROCPR_COMPILED": " OFF"}).compiled == "off"
    with pytest.raises(SettingsError, match="ROCPR_COMPILED must be one of auto, off, not 'on'"):
        read_settings({"ROCPR_COMPILED": "on"})


def test_the_log_level_is_one_of_three() -> None:
    assert read_settings({"ROCPR_LOG_LEVEL": " Debug"}).log_level == "debug"
    with pytest.raises(SettingsError, match="ROCPR_LOG_LEVEL must be one of debug, info, warning, not 'loud'"):
        read_settings({"ROCPR_LOG_LEVEL": "loud"})


def test_the_spool_directory_has_to_be_one(tmp_path) -> None:
    check_spool_directory(read_settings({}))
    check_spool_directory(read_settings({"ROCPR_SPOOL_DIR": str(tmp_path)}))
    (tmp_path / "file").touch()
    for name in ("none", "file"):
        with pytest.raises(SettingsError, match="ROCPR_SPOOL_DIR must be a writable directory"):
            check_spool_directory(read_settings({"ROCPR_SPOOL_DIR": str(tmp_path / name)}))


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="Linux only")
def test_a_file_is_made_in_the_spool_directory_as_permissions_do_not_tell() -> None:
    with pytest.raises(SettingsError, match="must be a writable directory, not '/proc'"):
        check_spool_directory(read_settings({"ROCPR_SPOOL_DIR": "/proc"}))


def test_a_full_spool_directory_may_have_room_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(**_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("service.settings.TemporaryFile", no_room)
    check_spool_directory(read_settings({"ROCPR_SPOOL_DIR": str(tmp_path)}))


@pytest.mark.parametrize("text", ["", "  "])
def test_an_empty_variable_counts_as_unset(text: str) -> None:
    assert read_settings({f"ROCPR_{field.name.upper()}": text for field in fields(Settings)}) == read_settings({})


def test_each_setting_is_used(root: Path) -> None:
    """By the application, a worker, a command or gunicorn's configuration; the limits of a request together."""
    code = "".join(
        path.read_text("utf-8") for folder in ("service", "deploy") for path in (root / folder).rglob("*.py")
    )
    names = {field.name for field in fields(Settings)}
    assert names - {*re.findall(r"\b_?settings\.(\w+)", code), *Limits.__slots__} == set()


def test_the_limits_of_requests_are_settings() -> None:
    given = {"ROWS": "3", "INTERPOLATED_ROWS": "2000", "DECOMPRESSED_BYTES": "5", "ANSWER_BYTES": "7"}
    settings = read_settings({f"ROCPR_MAX_{name}": value for name, value in given.items()})
    assert Limits.of(settings) == Limits(3, 2000, 5, 7)


def test_settings_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        read_settings({}).workers = 3


def test_the_environment_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCPR_WORKERS", "7")
    assert read_settings().workers == 7


def test_files_that_ship_are_found_in_the_checkout_and_in_the_package(tmp_path, monkeypatch) -> None:
    assert shipped_file("openapi.yaml").is_file()
    assert shipped_file("deploy/gunicorn.conf.py").is_file()
    with pytest.raises(FileNotFoundError, match=r"nothing\.txt"):
        shipped_file("nothing.txt")
    (tmp_path / "shipped").mkdir()
    (tmp_path / "shipped" / "nothing.txt").touch()
    monkeypatch.setattr(settings, "__file__", str(tmp_path / "settings.py"))
    assert shipped_file("elsewhere/nothing.txt") == tmp_path / "shipped" / "nothing.txt"

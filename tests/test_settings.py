"""Settings are read from ROCPR_* variables, checked, and named in every complaint."""

import attrs
import pytest

from service import settings
from service.settings import Settings, SettingsError, read_settings, shipped_file


def test_defaults() -> None:
    assert attrs.asdict(read_settings({})) == {
        "max_body_bytes": 67_108_864,
        "max_decompressed_bytes": 268_435_456,
        "max_rows": 5_000_000,
        "max_interpolated_rows": 100_000,
        "workers": 2,
        "threads": 8,
    }


@pytest.mark.parametrize("name", [field.name for field in attrs.fields(Settings)])
def test_each_setting_is_one_variable(name: str) -> None:
    value = 2017 if name == "max_interpolated_rows" else 17
    assert getattr(read_settings({f"ROCPR_{name.upper()}": f" {value} "}), name) == value


@pytest.mark.parametrize("name", [field.name for field in attrs.fields(Settings)])
@pytest.mark.parametrize("text", ["", "0", "-1", "1e6", "64M", "1_000", "\u0663", "x" * 500, "9" * 5000])
def test_a_value_that_cannot_be_used_is_refused_by_name(name: str, text: str) -> None:
    with pytest.raises(SettingsError, match=f"ROCPR_{name.upper()} must be a whole number") as caught:
        read_settings({f"ROCPR_{name.upper()}": text})
    assert len(str(caught.value)) < 200


def test_settings_are_frozen() -> None:
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
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

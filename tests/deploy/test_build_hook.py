"""The loops in C are built with the package, into a wheel or a checkout, or left out with a message that says why."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from deploy import build_hook
from tests.support.compiled_library import compiler

pytestmark = pytest.mark.all

BUILT = "service/curves/sweep/sweep.library"


@pytest.fixture
def checkout(root: Path, tmp_path: Path) -> Path:
    """The files that a package is built from."""
    copy = tmp_path / "checkout"
    for directory in ("service", "deploy"):
        shutil.copytree(
            root / directory, copy / directory, ignore=shutil.ignore_patterns("sweep.library", "__pycache__")
        )
    for name in ("pyproject.toml", "README.md", "LICENSE", "openapi.yaml"):
        shutil.copy(root / name, copy)
    return copy


def build(checkout: Path, target: str = "wheel", **variables: str) -> tuple[Path, str]:
    """Build; return the file that was made, and the messages."""
    out = checkout.parent / "out"
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(out)]
    environment = {name: value for name, value in os.environ.items() if name not in {"CC", "ROCPR_COMPILED"}}
    done = subprocess.run(
        command, cwd=checkout, env=environment | variables, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    (made,) = out.glob("*.whl" if target != "sdist" else "*.tar.gz")
    return made, done.stderr + done.stdout


def test_a_wheel_has_them_and_is_for_its_platform(checkout: Path) -> None:
    compiler()
    (checkout / BUILT).write_bytes(b"of an editable install")
    wheel, _ = build(checkout)
    assert "-py3-none-" in wheel.name
    assert not wheel.name.endswith("-any.whl")
    with zipfile.ZipFile(wheel) as files:
        assert files.read(BUILT).startswith(b"\x7fELF" if sys.platform == "linux" else b"")
        metadata = next(name for name in files.namelist() if name.endswith(".dist-info/WHEEL"))
        assert b"Root-Is-Purelib: false" in files.read(metadata)
    assert (checkout / BUILT).read_bytes() == b"of an editable install"


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({"ROCPR_COMPILED": "off"}, "ROCPR_COMPILED is off"),
        ({"CC": "no-such-compiler"}, "there is no C compiler (no-such-compiler)"),
        ({"CC": "false"}, "false: it made nothing"),
    ],
)
def test_a_wheel_without_them_is_for_every_platform_and_says_why(
    checkout: Path, variables: dict[str, str], reason: str
) -> None:
    (checkout / BUILT).write_bytes(b"of other sources")
    wheel, said = build(checkout, **variables)
    assert wheel.name.endswith("-py3-none-any.whl")
    assert f"rocpr is installed without its compiled loops: {reason}" in said
    with zipfile.ZipFile(wheel) as files:
        assert BUILT not in files.namelist()


def test_an_editable_install_has_them_in_the_checkout(checkout: Path) -> None:
    compiler()
    (checkout / BUILT).write_bytes(b"of other sources")
    build(checkout, "wheel:editable")
    assert (checkout / BUILT).read_bytes() != b"of other sources"
    assert (checkout / BUILT).stat().st_mode & 0o755 == 0o755


def test_an_editable_install_without_them_leaves_none(checkout: Path) -> None:
    (checkout / BUILT).write_bytes(b"of other sources")
    build(checkout, "wheel:editable", ROCPR_COMPILED="off")
    assert not (checkout / BUILT).exists()


def test_a_compiler_that_takes_too_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_hook, "SECONDS", 0.1)
    with pytest.raises(build_hook.NotCompiled, match="timed out"):
        build_hook.compile_library(["sh", "-c", "sleep 5"], tmp_path, tmp_path / "sweep.library")


def test_a_compilers_output_is_reported(tmp_path: Path) -> None:
    (tmp_path / "wrong.c").write_text("this is not C\n", encoding="ascii")
    with pytest.raises(build_hook.NotCompiled, match=r"wrong\.c"):
        build_hook.compile_library(compiler(), tmp_path, tmp_path / "sweep.library")

"""deploy/smoke.py, which a release runs on each platform: a wheel in a new environment evaluates and serves."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deploy.locks import with_our_programs
from tests.support.compiled_library import compiler

MOST_MEGABYTES = 330
"""The most that the environment may take: 292 to 312 MB were measured, with pip and what Python compiled."""


@pytest.mark.all
def test_a_new_environment_serves(root: Path, tmp_path: Path) -> None:
    """It downloads what rocpr needs."""
    compiler()
    build = ["hatchling", "build", "--target", "sdist", "--target", "wheel", "--directory", str(tmp_path / "dist")]
    subprocess.run(build, cwd=root, env=with_our_programs(), capture_output=True, check=True)
    smoke = [sys.executable, root / "deploy/smoke.py", "dist"]
    done = subprocess.run(smoke, cwd=tmp_path, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr
    figures = re.fullmatch(r"installed in \d+ s, (\d+) MB; answered [\d.]+ s later\n", done.stdout)
    assert int(figures[1]) < MOST_MEGABYTES


@pytest.mark.all
def test_a_wheel_without_the_loops_is_not_enough(root: Path, tmp_path: Path) -> None:
    """The platform's wheel was not there, or its library could not be loaded."""
    build = ["hatchling", "build", "--target", "sdist", "--target", "wheel", "--directory", str(tmp_path / "dist")]
    variables = with_our_programs(ROCPR_COMPILED="off")
    subprocess.run(build, cwd=root, env=variables, capture_output=True, check=True)
    smoke = [sys.executable, root / "deploy/smoke.py", "dist"]
    done = subprocess.run(smoke, cwd=tmp_path, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 1
    assert 'assert "compiled" in call' in done.stderr

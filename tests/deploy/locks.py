"""What the tests of the locks share: a lock as data, and the bill of materials that deploy/sbom.sh makes from it."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

RUN = "deploy/requirements.txt"
BUILD = "deploy/requirements-build.txt"
ENGINES = "deploy/requirements-engines.txt"
DEV = "deploy/requirements-dev.txt"
SPARK = "deploy/requirements-spark.txt"
RELEASE = "deploy/requirements-release.txt"
LOCKS = (RUN, BUILD, ENGINES, DEV, SPARK, RELEASE)


@dataclass(frozen=True)
class Requirement:
    """A line of a lock; the hashes are SHA-256 in hexadecimal."""

    name: str
    version: str
    hashes: frozenset[str]


def read_lock(path: Path) -> list[Requirement]:
    """All requirements of a lock, including those for other Pythons and systems; any other line is an error."""
    lines = path.read_text().replace("\\\n", " ").splitlines()
    found = []
    for line in lines:
        if not line.lstrip().startswith("#"):
            name, version, hashes = re.fullmatch(r"([a-z0-9-]+)==(\S+)(?: ; [^#]*?)?((?: +--hash=\S+)+)", line).groups()
            found.append(Requirement(name, version, frozenset(re.findall(r"--hash=sha256:([0-9a-f]{64})\b", hashes))))
    return found


def with_our_programs(**variables: str) -> dict[str, str]:
    """The environment, with the programs of this Python's environment before others."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return os.environ | {"PATH": path} | variables


def build_bill(root: Path) -> str:
    """What deploy/sbom.sh prints."""
    command = ["sh", "deploy/sbom.sh"]
    done = subprocess.run(
        command, cwd=root, env=with_our_programs(), capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout

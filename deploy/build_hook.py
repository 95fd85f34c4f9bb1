"""Hatchling's hooks: the loops of service/curves/sweep are compiled with the package; README.md gets absolute links.

`pip install .` puts the library into the wheel, which is then for one platform; an editable install puts it into the
checkout. Without a compiler, or if ROCPR_COMPILED is off, the package is installed without the library, and computes
the same numbers more slowly.

A package index shows README.md without the files beside it. In GitHub's job for a release's tag, its links therefore
lead to that tag, and it says how to get the package; elsewhere nobody knows where the files are, and the links become
plain text.
"""

import os
import re
import shlex
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

COMPILERS = ("cc", "gcc", "clang")
OPTIONS = ("-std=c11", "-O3", "-fno-fast-math", "-ffp-contract=off", "-Wno-psabi", "-shared", "-fPIC")
"""No product and sum may become one operation, which would round once instead of twice.

-Wno-psabi suppresses a warning about functions that take vectors: ours are inlined.
"""

_RELATIVE_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!\w+:)([^)\s]+)\)")

_START = re.compile(r"(?s)(?<=\n## Start it\n).*?(?=\n## )")
_START_OF_PACKAGE = """
```sh
uvx rocpr serve
```

The service runs at <http://127.0.0.1:8000/> until you press Ctrl-C (on Linux or macOS; on Windows, in WSL).
`pip install rocpr` puts the command `rocpr` into an environment.
"""
"""What a reader of the package index does first, in place of what one of a checkout does."""

SOURCES = Path("service", "curves", "sweep")
LIBRARY = SOURCES / "sweep.library"  # not .so, or Python would take it for a module
SECONDS = 120.0
"""How long the compiler may take."""


class NotCompiled(Exception):
    """There is no library; the message says why."""


def compiler_command() -> list[str]:
    """Find a compiler: the one that CC names, or one of the usual names. Raises NotCompiled."""
    names = [os.environ["CC"]] if os.environ.get("CC") else COMPILERS
    for name in names:
        command = shlex.split(name)
        if command and shutil.which(command[0]):
            return command
    raise NotCompiled(f"there is no C compiler ({', '.join(names)})")


def compile_library(command: list[str], sources: Path, library: Path) -> None:
    """Compile the sources to a library. Raises NotCompiled."""
    files = sorted(map(str, sources.glob("*.c")))
    architectures = shlex.split(os.environ.get("ARCHFLAGS", ""))  # of macOS, where they also decide the wheel's tag
    try:
        done = subprocess.run(  # noqa: S603  # the compiler is chosen by whoever installs the package
            [*command, *OPTIONS, *architectures, "-o", str(library), *files, "-lm"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotCompiled(f"{shlex.join(command)}: {error}") from error
    if done.returncode or not library.is_file():
        raise NotCompiled(f"{shlex.join(command)}: {(done.stderr or 'it made nothing').strip()}")


def _compile_unless_off(sources: Path, library: Path) -> None:
    if os.environ.get("ROCPR_COMPILED") == "off":
        raise NotCompiled("ROCPR_COMPILED is off")
    compile_library(compiler_command(), sources, library)


class LoopsInC(BuildHookInterface[Any]):
    """What hatchling calls before and after it builds a wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile into the checkout for an editable install, otherwise into the wheel."""
        root = Path(self.root)
        self._directory = Path(tempfile.mkdtemp(prefix="rocpr-build-"))
        made = self._directory / LIBRARY.name
        try:
            _compile_unless_off(root / SOURCES, made)
        except NotCompiled as reason:
            if version == "editable":
                (root / LIBRARY).unlink(missing_ok=True)  # it may have been compiled from other sources
            self.app.display_warning(f"rocpr is installed without its compiled loops: {reason}")
            return
        if version == "editable":
            made.chmod(0o755)  # for the user that runs the server
            shutil.move(made, root / LIBRARY)
        else:
            build_data["force_include"][str(made)] = str(LIBRARY)
            build_data["pure_python"] = False
            # ctypes loads the library, so it suits every version of Python on this platform.
            build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002  # hatchling's signature
        """Remove the compiled file, which is in the wheel by now."""
        shutil.rmtree(self._directory, ignore_errors=True)


class ReadmeAndLinks(MetadataHookInterface):
    """What hatchling asks for the text and the links that a package index shows."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the readme and, in a release, the project's addresses."""
        tag, repository = f"v{metadata['version']}", os.environ.get("GITHUB_REPOSITORY")
        project = None
        if repository and os.environ.get("GITHUB_REF_NAME") == tag:
            project = f"{os.environ['GITHUB_SERVER_URL']}/{repository}"
            metadata["urls"] = {"Source": project, "Changes": f"{project}/blob/{tag}/CHANGELOG.md"}

        def absolute(link: re.Match[str]) -> str:
            image, text, target = link.groups()
            if project is None:
                return text
            path = f"README.md{target}" if target.startswith("#") else target
            return f"{image}[{text}]({project}/{'raw' if image else 'blob'}/{tag}/{path})"

        readme = Path(self.root, "README.md").read_text("utf-8")
        if project is not None:
            readme = _START.sub(_START_OF_PACKAGE, readme, count=1)
        metadata["readme"] = {"content-type": "text/markdown", "text": _RELATIVE_LINK.sub(absolute, readme)}

"""The extras of the package: which are installed, and how to install one.

Knows what the package's metadata names; nothing of what the extras are for.
"""

import re
import shlex
import sys
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec

PACKAGE = "rocpr"

_OF_EXTRA = re.compile(r"([\w.-]+)([^;]*);.*\bextra\s*==\s*[\"']([\w.-]+)[\"']")


def installed_extras() -> set[str]:
    """The extras that are completely installed."""
    needed: dict[str, bool] = {}
    for name, _, extra in _requirements():
        needed[extra] = needed.get(extra, True) and _is_installed(name)
    return {extra for extra, is_installed in needed.items() if is_installed}


def how_to_install(extra: str) -> str:
    """The command that adds what an extra needs to the environment of this process, from any directory."""
    python = shlex.quote(sys.executable)
    wanted = shlex.join(f"{name}{versions}".strip() for name, versions, of in _requirements() if of == extra)
    first = "" if find_spec("pip") else f"{python} -m ensurepip && "
    return f"{first}{python} -m pip install {wanted}"


def _requirements() -> list[tuple[str, str, str]]:
    """What the extras need: (name, versions, extra)."""
    found = map(_OF_EXTRA.match, distribution(PACKAGE).requires or ())
    return [(match[1], match[2], match[3]) for match in found if match]


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True

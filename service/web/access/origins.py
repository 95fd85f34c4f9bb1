"""Parses ROCPR_CORS_ORIGINS; knows how browsers write an origin.

Imports no web framework: gunicorn's configuration checks the origins, and a master started by SIGUSR2 reads it at a
time when importing Python's http would find gunicorn's.
"""

import re

from service.settings import SettingsError

ORIGINS_VARIABLE = "ROCPR_CORS_ORIGINS"
ANY = "*"

_ORIGIN = re.compile(r"(https?)://([a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:.]+\])(?::([1-9][0-9]{0,4}))?")
_DEFAULT_PORTS = {"http": "80", "https": "443"}
_MAX_PORT = 65_535


def allowed_origins(text: str) -> tuple[str, ...]:
    """Read the origins, separated by commas, in lower case as browsers send them.

    Raises SettingsError for anything that browsers do not send as an origin, and for `*` together with others.
    """
    origins = tuple(part.strip().lower() for part in text.split(",")) if text.strip() else ()
    if ANY in origins and len(origins) > 1:
        raise SettingsError(f"{ORIGINS_VARIABLE}: * stands for every origin; do not combine it with others.")
    for origin in origins:
        if origin != ANY and not _is_origin(origin):
            raise SettingsError(
                f"{ORIGINS_VARIABLE} must be origins separated by commas, such as https://example.org or "
                f"http://localhost:3000 (no path, no default port), or * alone, not {origin[:60]!r}"
            )
    return origins


def _is_origin(text: str) -> bool:
    match = _ORIGIN.fullmatch(text)
    return match is not None and match[3] != _DEFAULT_PORTS[match[1]] and int(match[3] or 0) <= _MAX_PORT

"""What this server is: its version and commit, its limits, its media types, and its installed extras.

Knows settings, media types and the package's metadata; nothing of requests.
"""

import json
import re
from importlib.metadata import distribution, version
from pathlib import Path

import orjson
from flask import Blueprint, Response

from service.answer import REQUEST_MEDIA_TYPES, response_media_types
from service.extras import PACKAGE, installed_extras
from service.operations import OPERATIONS
from service.settings import Settings
from service.wire.formats.codings import CODINGS

_LIMITS = (
    *("max_body_bytes", "max_decompressed_bytes", "max_rows", "max_interpolated_rows"),
    *("max_answer_bytes", "big_body_bytes"),
)
_COMMIT = re.compile(r"[0-9a-f]{40,64}")


def version_blueprint(settings: Settings, *, compiled: bool) -> Blueprint:
    """Make the route /version."""
    document = orjson.dumps(
        {
            "name": PACKAGE,
            "version": version(PACKAGE),
            "commit": settings.commit or _installed_commit() or _commit_of(Path(__file__).resolve().parents[2]),
            "limits": {name: getattr(settings, name) for name in _LIMITS},
            "formats": {
                "requests": REQUEST_MEDIA_TYPES,
                "answers": {name: response_media_types(name) for name in OPERATIONS},
                "codings": tuple(CODINGS),
            },
            "extras": sorted({*installed_extras(), *(["compiled"] if compiled else [])}),
        }
    )
    blueprint = Blueprint("version", __name__)

    @blueprint.get("/version")
    def show() -> Response:
        return Response(document, mimetype="application/json")

    return blueprint


def _installed_commit() -> str | None:
    """The commit that pip installed, if it was given a repository (PEP 610)."""
    origin = json.loads(distribution(PACKAGE).read_text("direct_url.json") or "{}")
    commit: str | None = origin.get("vcs_info", {}).get("commit_id")
    return commit


def _commit_of(checkout: Path) -> str | None:
    """Return the commit of a checkout; None if it is not one, or git stores the commit differently."""
    git = checkout / ".git"
    try:
        kind, _, reference = (git / "HEAD").read_text().strip().rpartition("ref: ")
        found = (git / reference).read_text().strip() if not kind and "/" in reference else reference
    except OSError:
        return None
    return found if _COMMIT.fullmatch(found) else None

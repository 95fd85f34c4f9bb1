"""The page at /: the files of service/page, for people who prefer a browser to an API.

Knows HTML and headers; the page sends the same requests as any other client.
"""

from functools import partial
from pathlib import Path

from flask import Blueprint, Response

from service.wire.media_types import BODY_FORMATS

PAGE_FOLDER = Path(__file__).parent.parent / "page"

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types rocpr-picture"
)
"""The page's Content-Security-Policy."""

PAGE_SCRIPTS = ("page", "verdicts", "copies", "curves", "data", "requests", "elements")
"""Each imports only from those after it."""

PAGE_FILES = {
    "/": ("index.html", "text/html"),
    "/page/page.css": ("page.css", "text/css"),
    **{f"/page/{name}.js": (f"{name}.js", "text/javascript") for name in PAGE_SCRIPTS},
}
"""{path: (file, media type)}. These need no key."""


def page_blueprint(max_body_bytes: int, *, keys: bool) -> Blueprint:
    """Make the routes of the page, whose attributes say whether requests need a key and how long they may be."""
    blueprint = Blueprint("page", __name__)
    binary = dict.fromkeys(
        suffix for each in BODY_FORMATS if not each.is_text for suffix in (each.name, *each.suffixes)
    )
    values = {"{keys}": "true" if keys else "false", "{limit}": str(max_body_bytes), "{binary}": " ".join(binary)}
    for path, (name, media_type) in PAGE_FILES.items():
        text = (PAGE_FOLDER / name).read_text(encoding="utf-8")
        if path == "/":
            for placeholder, value in values.items():
                text = text.replace(placeholder, value)
        view = partial(Response, text, headers={"Content-Security-Policy": PAGE_POLICY}, mimetype=media_type)
        blueprint.add_url_rule(path, endpoint=name.replace(".", "_"), view_func=view)
    return blueprint

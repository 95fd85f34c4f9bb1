"""The routes of the guide: /guide, a page for each task below it, their stylesheet and their pictures.

Knows paths and headers. The pages need no script, and their policy allows none.
"""

from functools import partial

from flask import Blueprint, Response, abort

from service.guide import FOLDER, INDEX, pages
from service.guide.rendering import GUIDE, html_of
from service.wire.answers.encoders import PICTURE_POLICY

POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The pages' Content-Security-Policy."""

GUIDE_PICTURES = ("curves", "tradeoffs", "comparisons", "verdict", "figure_7", "gains")
FILES = {"style.css": "text/css"} | {f"{name}.svg": "image/svg+xml" for name in (*GUIDE_PICTURES, "icon")}
"""The files that pages load, with their media types."""


def guide_blueprint() -> Blueprint:
    """Make the routes of the guide."""
    blueprint = Blueprint("guide", __name__, url_prefix=GUIDE)

    @blueprint.get("")
    def index() -> Response:
        return _page_response(INDEX)

    @blueprint.get("/<page>")
    def page(page: str) -> Response:
        return _page_response(page) if page in pages() else abort(404)

    for name, media_type in FILES.items():
        policy = {"Content-Security-Policy": PICTURE_POLICY} if name.endswith(".svg") else {}
        view = partial(Response, (FOLDER / name).read_bytes(), headers=policy, mimetype=media_type)
        blueprint.add_url_rule(f"/{name}", endpoint=name.replace(".", "_"), view_func=view)
    return blueprint


def _page_response(name: str) -> Response:
    response = Response(html_of(name), mimetype="text/html")
    response.headers["Content-Security-Policy"] = POLICY
    return response

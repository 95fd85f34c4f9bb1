"""The contract as served: openapi.yaml, the one for generated clients, /docs, and the meaning of each problem.

Knows documents, not operations; showing them needs no other server.
"""

import re
from base64 import b64encode
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import cast

import orjson
import yaml
from flask import Blueprint, Flask, Response, abort, request
from flask.blueprints import BlueprintSetupState
from flask.typing import ResponseReturnValue
from flask_swagger_ui import get_swaggerui_blueprint

from service.web.negotiation import first_members
from service.wire.problems import PROBLEM_TYPES

CONTRACTS = ("openapi.yaml", "service/contract/openapi-clients.yaml")
"""The whole one, and the one for generated clients."""

DOCS = "/docs"

_OURS = {"docs.css": "text/css", "docs.js": "text/javascript"}
"""The files beside this one that the library's page loads, too, with their media types."""

_OUR_HEAD = (
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    f'  <link rel="stylesheet" type="text/css" href="{DOCS}/docs.css">\n'
)
_INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def contract_blueprint(*contracts: Path) -> Blueprint:
    """Make the routes of these files in YAML, each as written and as JSON, and of /problems/<code>."""
    blueprint = Blueprint("contract", __name__)
    # The safe loader in C: the one in Python takes a second at every start.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for path in contracts:
        text = path.read_bytes()
        in_json = orjson.dumps(yaml.load(text, Loader=loader))  # noqa: S506  # a safe loader
        for suffix, content in (("yaml", text), ("json", in_json)):
            view = partial(Response, content, mimetype=f"application/{suffix}")
            blueprint.add_url_rule(f"/{path.stem}.{suffix}", endpoint=f"{path.stem}_{suffix}", view_func=view)

    @blueprint.get("/problems/<code>")
    def problem_type(code: str) -> Response:
        problem = PROBLEM_TYPES.get(code) or abort(404)
        document = {
            "type": problem.uri,
            "title": problem.title,
            "status": problem.status,
            "description": problem.description,
        }
        return Response(orjson.dumps(document), mimetype="application/json")

    return blueprint


def docs_blueprint() -> Blueprint:
    """Make the route of the page that shows the contract, and those of its scripts and styles."""
    # validatorUrl would send the contract to another server. oauth2RedirectUrl is fixed because the library would build
    # it from the Host header and write that unescaped into the page's script.
    blueprint: Blueprint = get_swaggerui_blueprint(
        DOCS,
        "/openapi.json",
        config={
            "app_name": "rocpr",
            "validatorUrl": None,
            "oauth2RedirectUrl": f"{DOCS}/oauth2-redirect.html",
            "tryItOutEnabled": True,
            "defaultModelsExpandDepth": -1,
        },
        blueprint_name="docs",
    )

    blueprint.record(_serve_page)

    @blueprint.before_app_request
    def ignore_range() -> None:
        """Ignore ranges and preconditions: the contract has no 206 or 412, and servers may ignore both.

        Only the first of a client's entity tags are compared.
        """
        environ = request.environ
        for name in ("HTTP_RANGE", "HTTP_IF_RANGE", "HTTP_IF_MATCH", "HTTP_IF_UNMODIFIED_SINCE"):
            environ.pop(name, None)
        if "HTTP_IF_NONE_MATCH" in environ:
            environ["HTTP_IF_NONE_MATCH"] = first_members(environ["HTTP_IF_NONE_MATCH"])

    return blueprint


def _serve_page(state: BlueprintSetupState) -> None:
    """Serve the page from memory, with a policy that allows only its own scripts.

    The library renders the same page for each request, at /docs/; the contract says /docs, and a redirect would be an
    HTML page.
    """
    app = cast("Flask", state.app)
    show = app.view_functions["docs.show"]
    with app.test_request_context(DOCS):
        page = _with_ours(str(show()))
    policy = _page_policy(page)
    ours = {name: Path(__file__).with_name(name).read_bytes() for name in _OURS}

    def page_or_file(path: str = "index.html") -> ResponseReturnValue:
        if path in ours:
            return Response(ours[path], mimetype=_OURS[path])
        if path != "index.html":
            return cast("ResponseReturnValue", show(path))
        response = Response(page, mimetype="text/html")
        response.headers["Content-Security-Policy"] = policy
        return response

    app.view_functions["docs.show"] = page_or_file
    app.add_url_rule(DOCS, "docs.page", page_or_file)


def _with_ours(page: str) -> str:
    """Add to the library's page a viewport for phones, our styles, and our script, after its own."""
    page = page.replace("</head>", f"  {_OUR_HEAD}</head>", 1)
    return page.replace("</body>", f'  <script src="{DOCS}/docs.js"></script>\n</body>', 1)


def _page_policy(page: str) -> str:
    """Write the page's Content-Security-Policy: its files, its one inline script, and requests to this server only.

    Swagger UI has images in its styles, a style in its logo, and style attributes in tables.
    """
    hashes = [b64encode(sha256(script.encode()).digest()).decode() for script in _INLINE_SCRIPT.findall(page)]
    scripts = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return (
        f"default-src 'none'; script-src 'self' {scripts}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )

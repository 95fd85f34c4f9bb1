"""The contract as the service tells it: openapi.yaml, openapi.json, /docs and the description of each problem.

Knows documents, not operations; needs no network beyond this server to show them.
"""

import orjson
import yaml
from flask import Blueprint, Response, abort, request
from flask_swagger_ui import get_swaggerui_blueprint

from service.wire.problems import PROBLEM_TYPES

DOCS = "/docs"


def contract_blueprint(contract_yaml: bytes) -> Blueprint:
    """Make the routes of openapi.yaml (as its authors wrote it), openapi.json and /problems/<code>."""
    blueprint = Blueprint("contract", __name__)
    # The safe loader in C: the one in Python takes a second, at every start.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    contract_json = orjson.dumps(yaml.load(contract_yaml, Loader=loader))  # noqa: S506  # it is the safe one

    @blueprint.get("/openapi.yaml")
    def openapi_yaml() -> Response:
        return Response(contract_yaml, mimetype="application/yaml")

    @blueprint.get("/openapi.json")
    def openapi_json() -> Response:
        return Response(contract_json, mimetype="application/json")

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
    """Make the route of the page that shows the contract, and those of its scripts and styles below it."""
    # validatorUrl would send the contract to a server elsewhere. oauth2RedirectUrl is fixed because the library
    # would build it from the Host header and write that into the page's script unescaped.
    blueprint: Blueprint = get_swaggerui_blueprint(
        DOCS,
        "/openapi.json",
        config={
            "app_name": "rocpr",
            "validatorUrl": None,
            "oauth2RedirectUrl": f"{DOCS}/oauth2-redirect.html",
        },
        blueprint_name="docs",
    )

    # The library answers at /docs/; the contract says /docs, and a redirect there would be an HTML page.
    blueprint.record(lambda state: state.app.add_url_rule(DOCS, "docs", state.app.view_functions["docs.show"]))

    @blueprint.before_app_request
    def ignore_range() -> None:
        """Answer whole: parts of a page's scripts (206) are no status of the contract, and a server need not cut."""
        request.environ.pop("HTTP_RANGE", None)

    return blueprint

"""The route that lists the named datasets of the caller's API key."""

from collections.abc import Mapping

import orjson
from flask import Blueprint, Response, request

from service.datasets.file import Dataset, for_key
from service.web.access.access import KEY_NAME


def datasets_blueprint(datasets: Mapping[str, Dataset]) -> Blueprint:
    """Make the route GET /v1/datasets."""
    blueprint = Blueprint("datasets", __name__)

    @blueprint.get("/v1/datasets")
    def show() -> Response:
        listed = for_key(datasets, request.environ.get(KEY_NAME)).values()
        document = orjson.dumps({"datasets": [dataset.listing for dataset in listed]}, option=orjson.OPT_APPEND_NEWLINE)
        return Response(document, mimetype="application/json")

    return blueprint

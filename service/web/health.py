"""Whether this process lives and whether it takes requests; for supervisors and load balancers."""

import orjson
from flask import Blueprint, Response


def health_blueprint() -> Blueprint:
    """Make the routes /health/live and /health/ready.

    The service keeps no state and needs no other service: a process that answers at all is ready.
    """
    blueprint = Blueprint("health", __name__, url_prefix="/health")

    @blueprint.get("/live")
    def live() -> Response:
        return Response(orjson.dumps({"status": "ok"}), mimetype="application/json")

    @blueprint.get("/ready")
    def ready() -> Response:
        return Response(orjson.dumps({"status": "ok"}), mimetype="application/json")

    return blueprint

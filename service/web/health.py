"""Whether this process lives and whether it takes requests; for supervisors and load balancers.

A spool without room is no reason to take a server out: it answers small requests still, and whoever fills one spool
would fill those of the other servers next.
"""

import orjson
from flask import Blueprint, Response

from service.web.lifecycle import DRAINING
from service.web.spool import Spool
from service.wire.problems import Problem

LIVE = ("/health/live", "/health", "/healthz")
"""The paths that tell whether the process lives: one, and what others call it."""

READY = "/health/ready"


def health_blueprint(spool: Spool) -> Blueprint:
    """Make the routes of health.

    The service keeps no state and needs no other service: a process that answers at all is ready, until it has to
    stop.
    """
    blueprint = Blueprint("health", __name__)

    def live() -> Response:
        return Response(orjson.dumps({"status": "ok"}), mimetype="application/json")

    for path in LIVE:
        blueprint.add_url_rule(path, view_func=live)

    @blueprint.get(READY)
    def ready() -> Response:
        if DRAINING.is_set():
            raise Problem("not_ready", "This server is shutting down.")
        state = {"status": "ok", "big": "full" if spool.is_full() else "ok"}
        return Response(orjson.dumps(state), mimetype="application/json")

    return blueprint

"""Liveness and readiness of this process, for supervisors and load balancers.

A full spool does not make a server unready: it still answers small requests, and a client that fills one spool would
fill those of the other servers next.
"""

import orjson
from flask import Blueprint, Response

from service.web.passes import DRAINING
from service.web.spool import Spool
from service.wire.problems import Problem

LIVE = ("/health/live", "/health", "/healthz")
"""The liveness path, and its usual aliases."""

READY = "/health/ready"


def health_blueprint(spool: Spool) -> Blueprint:
    """Make the routes of health.

    The service keeps no state and needs no other service, so a process that answers is ready until it must stop.
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

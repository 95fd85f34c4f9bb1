"""The least that the stack takes: a Flask application that reads a body and answers with a fixed number of bytes.

The server is the service's, with deploy/gunicorn.conf.py; nothing of rocpr's application runs for a request.
"""

from flask import Flask, Response, abort, request

from service.app import create_app
from service.web.passes import Pass, move_to, pass_of


def create() -> Flask:
    """Build it. The server uses what the service keeps in its extensions; all of it exists and stays idle."""
    app = Flask(__name__)
    app.extensions.update(create_app().extensions)
    app.add_url_rule("/health/live", endpoint="live", view_func=lambda: "ok")
    app.add_url_rule("/v1/curves", view_func=curves, methods=["POST"])
    return app


def curves() -> Response:
    """Answer once the body has arrived: for a long request, the server first calls with the head only."""
    if pass_of(request.environ) is Pass.HEAD:
        return move_to(request.environ, Pass.SMALL)
    if len(request.get_data()) != request.content_length:
        abort(400)
    return Response(bytes(request.args.get("bytes", 0, int)), mimetype="application/octet-stream")

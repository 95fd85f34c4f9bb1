"""Guarded applications for the tests of service/web/access/access.py, and the key that opens them."""

from hashlib import sha256
from pathlib import Path

from flask import Flask, Response
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service.app import create_app
from service.settings import Settings, read_settings
from service.web.access.access import OPEN, install_access
from service.web.problem_responses import install_error_handlers

KEY, OTHER_KEY = "rocpr_the-key-of-ann", "rocpr_the-key-of-ben"
HEALTH = ["/health/live", "/health/ready", "/health", "/healthz"]
ANN, BEN = ({"Authorization": f"Bearer {key}"} for key in (KEY, OTHER_KEY))


class WholeClient(FlaskClient):
    """A client that reads each answer to its end, as most do; otherwise its request would stay in progress."""

    def open(self, *arguments: object, **options: object) -> TestResponse:
        return super().open(*arguments, **{"buffered": True, **options})


def guarded_settings(directory: Path, **variables: str) -> Settings:
    """Settings with a file of two keys, Ann's and Ben's."""
    file = directory / "keys"
    lines = [f"{name} {sha256(key.encode()).hexdigest()}\n" for name, key in (("ann", KEY), ("ben", OTHER_KEY))]
    file.write_text("".join(lines))
    return read_settings({"ROCPR_API_KEYS_FILE": str(file), "ROCPR_RUNTIME_DIR": str(directory), **variables})


def guarded_app(directory: Path, **variables: str) -> Flask:
    """The whole application."""
    app = create_app(guarded_settings(directory, **variables))
    app.test_client_class = WholeClient
    return app


def bare_app(directory: Path, **variables: str) -> Flask:
    """The guard alone, around / (a test puts its own view there, `app.view_functions["view"]`) and the health paths."""
    settings = guarded_settings(directory, **variables)
    app = Flask("tests", static_folder=None)
    install_access(app, settings, (), directory)
    install_error_handlers(app, settings.retry_after_seconds)
    app.add_url_rule("/view", "view", lambda: Response("seen"), methods=["GET", "POST"])
    for path in OPEN:
        app.add_url_rule(path, path, lambda: "ok")
    return app

"""The WSGI application: the one place that wires settings, answer.py and the web layer together.

Knows which parts there are; holds no logic of its own.
"""

from flask import Flask

from service.settings import Settings, read_settings, shipped_file
from service.web.contract import contract_blueprint, docs_blueprint
from service.web.errors import install_error_handlers
from service.web.health import health_blueprint
from service.web.operations import operations_blueprint
from service.wire.limits import Limits


def create_app(settings: Settings | None = None) -> Flask:
    """Build the application; without settings they are read from the environment."""
    settings = settings or read_settings()
    limits = Limits(settings.max_rows, settings.max_interpolated_rows, settings.max_decompressed_bytes)

    app = Flask("service", static_folder=None)
    # A path is right or it is 404: no redirect (an HTML page) to a tidier spelling of it.
    app.url_map.merge_slashes = False
    install_error_handlers(app)
    app.register_blueprint(operations_blueprint(limits, settings.max_body_bytes))
    app.register_blueprint(contract_blueprint(shipped_file("openapi.yaml").read_bytes()))
    app.register_blueprint(docs_blueprint())
    app.register_blueprint(health_blueprint())
    return app

"""The WSGI application: the only place that wires settings, answer.py and the web layer together.

Knows the parts, and has no other logic.
"""

import atexit
import logging
import shutil
import tempfile
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy.ma  # noqa: F401  # Arrow imports it with the first array, which would use up a small request's time
from flask import Flask, Request
from werkzeug.routing import Map, MapAdapter, Rule

from service.curves.sweep.sweep import COMPILED
from service.datasets.file import read_datasets
from service.engines.spill import remove_abandoned
from service.environment import leave_pandas_out
from service.extras import PACKAGE, how_to_install, installed_extras
from service.settings import Settings, read_settings, shipped_file
from service.web.access.access import install_access
from service.web.access.origins import allowed_origins
from service.web.contract import CONTRACTS, contract_blueprint, docs_blueprint
from service.web.datasets import datasets_blueprint
from service.web.guide import guide_blueprint
from service.web.health import health_blueprint
from service.web.lanes.evaluator import NICENESS
from service.web.lanes.pool import EvaluatorPool
from service.web.lanes.slots import slots_in
from service.web.observation.metrics import helper_ended, metrics_blueprint
from service.web.observation.observation import install_observation
from service.web.observation.spans import EXTRA, Spans, spans_are_wanted
from service.web.operation_routes import Operations, operations_blueprint
from service.web.page import page_blueprint
from service.web.problem_responses import install_error_handlers
from service.web.spool import Spool
from service.web.stored import install_stored_answers
from service.web.version import version_blueprint
from service.wire.limits import Limits

_REMEMBERED_ROUTES = 64
"""How many paths with a method are remembered with their routes."""

_LOG = logging.getLogger("service")


def create_app(settings: Settings | None = None) -> Flask:
    """Build the application; settings default to those in the environment."""
    settings = settings or read_settings()
    leave_pandas_out()
    if settings.compiled == "auto":
        try:
            COMPILED.use_installed()
        except OSError as error:  # their twin gives the same numbers
            _LOG.warning("The compiled loops cannot be used: %s", error)
    if COMPILED.path is None:
        _LOG.warning("There are no compiled loops: big evaluations take 10 to 50 times as long.")
    datasets = {}
    if settings.datasets_file:
        datasets = read_datasets(Path(settings.datasets_file), keys=bool(settings.api_keys_file))
        remove_abandoned(Path(tempfile.gettempdir()))
    limits, origins = Limits.of(settings), allowed_origins(settings.cors_origins)
    # Under gunicorn.conf.py the server's processes share it.
    runtime_directory = Path(settings.runtime_dir) if settings.runtime_dir else _directory_of_its_own()
    slots = slots_in(runtime_directory, "big", settings.slots, settings.workers)
    spool = Spool(settings.spool_dir or None)
    pool = partial(
        EvaluatorPool,
        limits,
        seconds=settings.big_seconds,
        memory_bytes=settings.big_memory_bytes,
        spool=spool,
        on_end=helper_ended,
    )
    big, columnar = pool(niceness=NICENESS), pool(niceness=0)
    operations = Operations(
        limits,
        columnar,
        big,
        origins=origins,
        max_body_bytes=settings.max_body_bytes,
        big_body_bytes=settings.big_body_bytes,
        small_seconds=settings.small_seconds,
        datasets=datasets,
    )

    app = _Application("service", static_folder=None)
    # Other spellings of a path get 404, not a redirect (an HTML page).
    app.url_map.merge_slashes = False
    install_observation(app, settings.log_level, _spans())
    install_access(app, settings, origins, runtime_directory)
    install_error_handlers(app, settings.retry_after_seconds)
    install_stored_answers(app)
    app.register_blueprint(operations_blueprint(operations))
    app.register_blueprint(datasets_blueprint(datasets))
    app.register_blueprint(contract_blueprint(*map(shipped_file, CONTRACTS)))
    app.register_blueprint(docs_blueprint())
    app.register_blueprint(guide_blueprint())
    app.register_blueprint(page_blueprint(settings.max_body_bytes, keys=bool(settings.api_keys_file)))
    app.register_blueprint(health_blueprint(spool))
    app.register_blueprint(version_blueprint(settings, compiled=COMPILED.path is not None))
    app.register_blueprint(metrics_blueprint(slots, spool, compiled=COMPILED.path is not None))
    # What the worker needs from the application's parts, whose settings it does not know.
    app.extensions |= {"spool": spool, "big_pool": big, "slots": slots, "runtime_directory": runtime_directory}
    return app


def _spans() -> Spans | None:
    """What sends spans to a collector, if the environment names one."""
    if not spans_are_wanted():
        return None
    if EXTRA not in installed_extras():
        _LOG.warning("No traces are sent, although OTEL_EXPORTER_OTLP_ENDPOINT is set: %s", how_to_install(EXTRA))
        return None
    spans = Spans(version(PACKAGE))
    atexit.register(spans.stop)
    return spans


class _Adapter(MapAdapter):
    """Finds a request's route by its path and method, and remembers it."""

    def match(self, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401  # werkzeug's, passed on
        """Find the route that Flask asks for, or another one. Raises NotFound and MethodNotAllowed."""
        if arguments or options != {"return_rule": True}:
            return super().match(*arguments, **options)
        return _route(self.map, self.path_info, self.default_method)


@lru_cache(_REMEMBERED_ROUTES)
def _route(routes: Map, path: str, method: str) -> tuple[Rule, Mapping[str, Any]]:
    return MapAdapter(routes, "", "/", "", "http", path, method).match(return_rule=True)


class _Application(Flask):
    """Flask, without what no route needs: coroutines, and a look at the host, from which nothing here makes a URL."""

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """Return what finds a request's route, by its path and method alone."""
        if request is None:
            return super().create_url_adapter(request)
        return _Adapter(self.url_map, "", "/", "", "http", request.path, request.method)

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function itself."""
        return func


def _directory_of_its_own() -> Path | None:
    """Make a runtime directory, if possible, for an application that shares nothing with other processes."""
    try:
        directory = tempfile.mkdtemp(prefix="rocpr-")
    except OSError:
        return None
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return Path(directory)

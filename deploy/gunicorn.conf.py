"""How gunicorn runs the service, whoever starts it: deploy/run.sh, `rocpr serve`, systemd, a container.

Needs gunicorn 27 or newer: version 23 lost requests when it was reloaded and when it replaced workers.
"""

import os
import resource
import sys
from pathlib import Path
from threading import Thread
from typing import Any

# gunicorn puts the working directory first, where another package may be called `service`. `rocpr serve` runs anywhere.
if sys.flags.safe_path and sys.path[0] in {str(Path.cwd()), os.environ.get("PWD")}:
    del sys.path[0]

from service.datasets.file import read_datasets
from service.environment import (
    freeze_loaded_objects,
    give_memory_back_regularly,
    prepare_process,
    remove_from_import_path,
)
from service.settings import SettingsError, check_spool_directory, mistyped_settings, read_settings
from service.web.access.keys import check_file
from service.web.access.origins import allowed_origins
from service.web.access.owners import trusted_proxies
from service.web.forking import hold_stops_while_forking
from service.web.observation.log import logging_configuration
from service.web.runtime import is_reload, share_directory
from service.web.server.heartbeat import use_memory_heartbeats

# Workers are forks of the process that reads this file, and import NumPy and Arrow later.
prepare_process()

# A master that SIGUSR2 starts runs gunicorn/__main__.py as a file: Python would find gunicorn's `http` before its own.
remove_from_import_path("gunicorn")
_import_path = sys.path.copy()

try:
    _settings = read_settings()
    if not is_reload():  # a mistake in a file must not end a running server
        allowed_origins(_settings.cors_origins)
        trusted_proxies(_settings.trusted_proxies)
        check_spool_directory(_settings)
        if _settings.api_keys_file:
            check_file(Path(_settings.api_keys_file))
        if _settings.datasets_file:
            read_datasets(Path(_settings.datasets_file), keys=bool(_settings.api_keys_file))
except SettingsError as error:
    sys.exit(f"rocpr: {error}")

# Connections, spooled bodies and answers are files: raise the limit, often 1024, to 65,536 if the system allows it.
_FILES, _FEWEST_FILES = 65_536, 64
_soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
if 0 <= _hard < _FEWEST_FILES:
    sys.exit(f"rocpr: at most {_hard} files may be open (ulimit -n), and the server needs {_FEWEST_FILES}")
if 0 <= _soft < _FILES:
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(_hard, _FILES) if _hard >= 0 else _FILES, _hard))

# What the workers share: the locks of the slots, and the counts for /metrics.
_reduced = share_directory(_settings.workers, _settings.spool_dir)

wsgi_app = "service.app:create_app()"

# Loopback unless --bind says otherwise: the service has no TLS of its own.
bind = f"127.0.0.1:{os.environ.get('PORT') or '8000'}"

# An event loop that reads, sends and answers small requests, and threads for the others (service/web/server/).
worker_class = "service.web.server.worker.Worker"
workers = _settings.workers

# How many connections a process keeps, if there are enough descriptors; beyond that, those without a request end.
worker_connections = _settings.connections

# Each worker loads the application itself: threads and Arrow's pools do not survive a fork.
preload_app = False

# The event loop sends the heartbeat, whatever requests do: silence for this long means that the process is stuck.
timeout = 60
# After SIGTERM: the drain, the longest evaluation that may begin at its end, and its answer.
graceful_timeout = _settings.drain_seconds + _settings.big_seconds + 30
# Long enough for clients that reuse a connection soon, short enough that idle connections do not pile up.
keepalive = 5

# A heartbeat must not be a file on a disk, where a write may block, or on any file system that may be full.
use_memory_heartbeats()

# Anything longer gets 414 or 431. Options in the query may be lists, so the line may be as long as gunicorn allows.
limit_request_line = 8190
limit_request_fields = 100
limit_request_field_size = 8190

# The same parser everywhere, even if gunicorn's optional one in C is installed: the tests check its errors.
http_parser = "python"

# No header may change the application's path, its scheme or the client's address. The application needs none of these
# headers, so no address is trusted to send them, not even a proxy on this machine.
forwarded_allow_ips = ""
forwarder_headers = ""
secure_scheme_headers = {}

# No control socket, which would be a file in the home directory.
control_socket_disable = True

# The application logs its requests itself (service/web/observation/); gunicorn's own lines, and those of libraries,
# are lines of JSON like the application's.
accesslog = None
logconfig_dict = logging_configuration(_settings.log_level)


def on_starting(server: Any) -> None:  # noqa: ANN401  # gunicorn has no types
    """Make sure that workers notice a stop; warn of unknown settings, and of files that there is no room for."""
    hold_stops_while_forking()
    for sentence in (*mistyped_settings(), *_reduced):
        server.log.warning(sentence)


def post_fork(server: Any, worker: Any) -> None:  # noqa: ANN401  # gunicorn has no types
    """Pass on the signals that the worker got before it could handle them, and our import path to its evaluators.

    gunicorn has put the working directory there again.
    """
    worker.signals = server.SIG_QUEUE
    sys.path[:] = _import_path


def post_worker_init(worker: Any) -> None:  # noqa: ANN401  # gunicorn has no types
    """Keep the worker's memory small and its pauses short, and start its first evaluator during the first requests."""
    give_memory_back_regularly()
    freeze_loaded_objects()
    pool = worker.wsgi.extensions["big_pool"]
    Thread(target=pool.prepare, name="prepare", daemon=True).start()

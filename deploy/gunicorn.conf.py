"""How gunicorn runs the service, whoever starts it: deploy/run.sh, `rocpr serve`, systemd, a container.

gunicorn 27 or newer: 23 lost requests when it was reloaded and when it replaced workers.
"""

import os
import resource
import sys
from pathlib import Path
from threading import Thread
from typing import Any

from service.datasets.file import read_datasets
from service.environment import (
    freeze_loaded_objects,
    give_memory_back_regularly,
    leave_pandas_out,
    prepare_process,
    remove_from_import_path,
)
from service.settings import SettingsError, check_spool_directory, mistyped_settings, read_settings
from service.web.access.keys import check_file
from service.web.access.origins import allowed_origins
from service.web.forking import hold_stops_while_forking
from service.web.observation.log import logging_configuration
from service.web.runtime import is_reload, share_directory
from service.web.server.heartbeat import use_memory_heartbeats

# Here, because the workers are forks of the process that reads this file, and import NumPy and Arrow after it.
prepare_process()

# A master that SIGUSR2 starts runs gunicorn/__main__.py as a file: Python then takes gunicorn's http for its own.
remove_from_import_path("gunicorn")

try:
    _settings = read_settings()
    if not is_reload():  # a mistake made while it serves must not end the server
        allowed_origins(_settings.cors_origins)
        check_spool_directory(_settings)
        if _settings.api_keys_file:
            check_file(Path(_settings.api_keys_file))
        if _settings.datasets_file:
            read_datasets(Path(_settings.datasets_file), keys=bool(_settings.api_keys_file))
except SettingsError as error:
    sys.exit(f"rocpr: {error}")

# Connections, spooled bodies and answers are files: up to 65,536 where the system allows, not the 1024 of old.
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

# An event loop that reads and sends, and threads that evaluate (service/web/server/).
worker_class = "service.web.server.worker.Worker"
workers = _settings.workers

# How many connections a process keeps, as far as there are descriptors; then those without a request are closed.
worker_connections = _settings.connections

# Each worker loads the application itself: threads and Arrow's pools do not survive a fork.
preload_app = False

# The heartbeat is the loop's, not a request's: silence of this length means that the process is stuck.
timeout = 60
# From SIGTERM: the drain, then the longest evaluation that may have begun at its end, then its answer.
graceful_timeout = _settings.drain_seconds + _settings.big_seconds + 30
# Above the idle time of common client pools' quick reuse, short enough that idle connections do not pile up.
keepalive = 5

# The heartbeat must not sit on a disk, where a write may block, nor where there may be no room for it.
use_memory_heartbeats()

# What is longer is 414 or 431. Options may be lists in the query, so the line may be as long as gunicorn reads.
limit_request_line = 8190
limit_request_fields = 100
limit_request_field_size = 8190

# One parser everywhere, whether or not gunicorn's optional one in C is installed: its errors are tested.
http_parser = "python"

# No header may change where the application believes it is mounted, nor the scheme, nor who the client is; it needs
# none of that, so no address is trusted to say it, not even a proxy on this machine.
forwarded_allow_ips = ""
forwarder_headers = ""
secure_scheme_headers = {}

# No socket that controls the server, and no file for it in the home directory.
control_socket_disable = True

# The application logs its requests itself (service/web/observation/); gunicorn's own lines, and those of libraries,
# are lines of JSON like the application's.
accesslog = None
logger_class = "service.web.server.worker.ServerLog"
logconfig_dict = logging_configuration(_settings.log_level)


def on_starting(server: Any) -> None:  # noqa: ANN401  # gunicorn has no types
    """See to it that workers hear of a stop, and warn of settings that do nothing, and of what there is no room for."""
    hold_stops_while_forking()
    for sentence in (*mistyped_settings(), *_reduced):
        server.log.warning(sentence)


def post_fork(server: Any, worker: Any) -> None:  # noqa: ANN401  # gunicorn has no types
    """Give the worker what it was sent before it listens."""
    worker.signals = server.SIG_QUEUE


def post_worker_init(worker: Any) -> None:  # noqa: ANN401  # gunicorn has no types
    """Keep the worker's memory small and its pauses short, and start its first evaluator during the first requests."""
    give_memory_back_regularly()
    leave_pandas_out()
    freeze_loaded_objects()
    pool = worker.wsgi.extensions["big_pool"]
    Thread(target=pool.prepare, name="prepare", daemon=True).start()

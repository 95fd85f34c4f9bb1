"""How gunicorn runs the service; read by deploy/run.sh, by `rocpr serve` and by nothing else."""

import os
import sys

from service.environment import prepare_process
from service.settings import SettingsError, read_settings

# Here, because the workers are forks of the process that reads this file, and import NumPy after it.
prepare_process()

try:
    _settings = read_settings()
except SettingsError as error:
    sys.exit(f"rocpr: {error}")

wsgi_app = "service.app:create_app()"

# Loopback unless --bind says otherwise: the service has no users and no TLS of its own.
bind = f"127.0.0.1:{os.environ.get('PORT', '8000')}"

# Threads, so that a slow upload does not hold a whole process; NumPy and pyarrow leave the interpreter's lock while
# they compute. Our own class, so that gunicorn's errors are problems (service/web/worker.py).
worker_class = "service.web.worker.Worker"
workers = _settings.workers
threads = _settings.threads

# Each worker loads the application itself: threads and Arrow's pools do not survive a fork.
preload_app = False

# The heartbeat is the main thread's, not a request's: silence of this length means that the process is stuck.
timeout = 60
# Long enough for an evaluation at the limits to finish after SIGTERM.
graceful_timeout = 30
# Above the idle time of common client pools' quick reuse, short enough that idle connections do not pile up.
keepalive = 5

# The heartbeat file must not sit on a disk, where a write may block; /dev/shm is memory where there is one.
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108, PTH112  # memory, not a place for secrets

# What is longer is 414 or 431. Options may be lists in the query, so the line may be as long as gunicorn reads.
limit_request_line = 8190
limit_request_fields = 100
limit_request_field_size = 8190

# One parser everywhere, whether or not gunicorn's optional one in C is installed: its errors are tested.
http_parser = "python"

# No header may change where the application believes it is mounted, nor the scheme; it needs neither.
forwarder_headers = ""
secure_scheme_headers = {}

# No socket that controls the server, and no file for it in the home directory.
control_socket_disable = True

# Refusals are answered, not logged one by one; the log on stderr is for starts, stops and failures.
accesslog = None
errorlog = "-"

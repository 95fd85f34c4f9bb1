"""What deploy/run.sh does once .venv is there: start the server, evaluate the example, and serve until it is stopped.

A client of the service: it knows the command that starts the server, the HTTP API, and what the areas mean.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

import requests

from service.cli.curves import AREA_MEANINGS

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = "tests/data/breast_cancer.csv"
START_SECONDS = 60


def main() -> int:
    """Run the server and the demonstration; the exit status is 0 after a signal to stop, otherwise the server's."""
    text = os.environ.get("PORT") or "8000"
    if not (text.isascii() and text.isdecimal() and 0 < int(text[:6]) < 1 << 16):
        print(f"rocpr: PORT must be a number from 1 to 65535, not {text[:40]!r}", file=sys.stderr)
        return 1
    port = int(text)
    url = f"http://127.0.0.1:{port}"
    if _is_taken(port):
        print(f"rocpr: port {port} of 127.0.0.1 is in use; choose another one with PORT=", file=sys.stderr)
        return 1
    # Lines of the log would bury what is printed below.
    quiet = {"ROCPR_LOG_LEVEL": os.environ.get("ROCPR_LOG_LEVEL") or "warning"}
    server = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", "--config", "deploy/gunicorn.conf.py"], cwd=ROOT, env=os.environ | quiet
    )
    stopping = False

    def stop(_number: int, _frame: FrameType | None) -> None:
        """Stop the server; whatever waits for it then ends, too."""
        nonlocal stopping
        stopping = True
        server.terminate()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    client = requests.Session()
    client.trust_env = False  # a proxy cannot reach this machine's loopback address
    try:
        _wait_until_ready(server, client, url)
        if os.environ.get("ROCPR_API_KEYS_FILE"):
            print(f"\nServing on {url}; requests, and so the example, need a key. Stop with Ctrl-C.", flush=True)
        else:
            _show(client, url)
    except (OSError, RuntimeError) as error:
        server.terminate()
        server.wait()
        if not stopping:
            print(f"rocpr: {error}", file=sys.stderr)
            return 1
    status = server.wait()
    return 0 if stopping else status


def _is_taken(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return True
    return False


def _wait_until_ready(server: subprocess.Popen[bytes], client: requests.Session, url: str) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if server.poll() is not None:
            raise RuntimeError(f"the server ended with status {server.returncode} before it was ready")
        try:
            if client.get(f"{url}/health/ready", timeout=5).ok:
                return
        except requests.RequestException:
            pass  # not there yet
        time.sleep(0.1)
    raise RuntimeError(f"the server was not ready after {START_SECONDS} s")


def _show(client: requests.Session, url: str) -> None:
    answer = client.post(
        f"{url}/v1/curves",
        params={"include": "auc"},
        headers={"Content-Type": "text/csv"},
        data=(ROOT / EXAMPLE).read_bytes(),
        timeout=60,
    )
    if not answer.ok:
        raise RuntimeError(f"the example was answered with {answer.status_code}: {answer.text[:500]}")
    curves = answer.json()
    print(f"\n{EXAMPLE}: {curves['positives']} positives, {curves['negatives']} negatives. Areas:\n")
    for name, meaning in AREA_MEANINGS.items():
        value = curves["auc"][name]
        print(f"  {name:18} {'null' if value is None else format(value, '.6f'):>8}  {meaning}")
    print("\nThis command gets them:\n")
    print(f"  curl -sS -H 'Content-Type: text/csv' --data-binary @{EXAMPLE} '{url}/v1/curves?include=auc'")
    print(f"\nServing on {url}; open it in a browser, or read {url}/docs. Stop with Ctrl-C.", flush=True)


if __name__ == "__main__":
    sys.exit(main())

"""Waits until the instance behind a Unix socket answers /health/ready; for ExecStartPost= of rocpr@.service.

Needs only the standard library. Exits with 0 if the instance is ready, otherwise with 1 and a line on stderr.
"""

import socket
import sys

SECONDS = 60
"""The request waits in the listener while the workers load the service, for some two seconds."""

REQUEST = b"GET /health/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def main(path: str) -> int:
    """Ask the instance once; the exit status is 0 when the answer is 200."""
    answer = b""
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(SECONDS)
            connection.connect(path)
            connection.sendall(REQUEST)
            while data := connection.recv(4096):
                answer += data
    except OSError as error:
        print(f"rocpr: no answer from {path}: {error}", file=sys.stderr)
        return 1
    if answer.startswith(b"HTTP/1.1 200 "):
        return 0
    print(f"rocpr: not ready: {answer[:80]!r}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

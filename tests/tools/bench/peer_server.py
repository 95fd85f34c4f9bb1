"""The peer's server: `python -m tests.tools.bench.peer_server PORT WORKERS` runs what `uvicorn --workers` would run.

Only the socket is made here, so that no answer is delayed. asyncio does not set TCP_NODELAY on connections of the
socket that uvicorn shares among workers, and sends an answer's head and body separately: on a kept connection the body
then waits 40 ms for the client to acknowledge the head. This does not affect a server with one worker, or with uvloop.
"""

import socket
import sys

from uvicorn import Config
from uvicorn.supervisors import Multiprocess


def main(port: int, workers: int) -> None:
    config = Config("tests.tools.bench.peer:app", workers=workers, log_level="warning", access_log=False)
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # its connections inherit this
        listener.bind(("127.0.0.1", port))
        Multiprocess(config, sockets=[listener]).run()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

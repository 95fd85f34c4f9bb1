"""A `rocpr` for shells that is ready at once: a process that has imported it forks for each call.

Its directory, environment, arguments and open files are those of the caller. Elsewhere, tests start the command as
users do.

    python -m tests.support.ready_rocpr SOCKET
"""

import array
import atexit
import gc
import io
import json
import os
import select
import shlex
import socket
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import NoReturn

from service.cli.main import main as rocpr
from service.environment import prepare_process
from tests.support.processes import wait_until
from tests.support.servers import ROOT

START_SECONDS = 120
CALLER = """
import array, json, os, socket, sys
caller = socket.socket(socket.AF_UNIX)
caller.connect(LISTENING)
told = json.dumps([os.getcwd(), dict(os.environ), sys.argv[1:]]).encode()
files = array.array("i", [0, 1, 2])
caller.sendmsg([len(told).to_bytes(8, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
caller.sendall(told)
status = caller.recv(1)
os._exit(status[0] if status else 1)
"""


@contextmanager
def ready_rocpr(folder: Path) -> Iterator[Path]:
    """Put `rocpr` into a folder; yields that file."""
    listening = folder / "socket"
    program = folder / "rocpr"
    code = CALLER.replace("LISTENING", repr(str(listening)))
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -I -S -c {shlex.quote(code)} "$@"\n')
    program.chmod(0o755)
    variables = {name: value for name, value in os.environ.items() if not name.startswith("ROCPR_")}
    command = [sys.executable, "-m", __name__, str(listening)]
    process = subprocess.Popen(command, cwd=ROOT, env=variables, stdin=subprocess.PIPE)
    try:
        wait_until(lambda: listening.exists() or process.poll() is not None, START_SECONDS, "rocpr is ready")
        yield program
    finally:
        process.stdin.close()
        process.wait()


def main() -> None:
    """Answer each caller in a fork."""
    prepare_process()
    from service.cli.commands import rocpr as commands

    with redirect_stdout(io.StringIO()):  # imports what a command imports when it runs
        commands.main(["curves", str(ROOT / "tests/data/breast_cancer.csv")], standalone_mode=False)
    sys.modules["__main__"].__package__ = None  # usage messages name it otherwise
    gc.freeze()  # else each fork would copy what a search for garbage touches
    with socket.socket(socket.AF_UNIX) as listener:
        made = f"{sys.argv[1]}.new"
        listener.bind(made)
        listener.listen()
        Path(made).rename(sys.argv[1])
        while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:  # it ends with its parent
            caller, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                _answer(caller)
            caller.close()
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def _answer(caller: socket.socket) -> NoReturn:
    """Run the command in another fork, and tell the caller its status."""
    size, ((_, _, received),), *_ = caller.recvmsg(8, socket.CMSG_LEN(array.array("i", [0, 1, 2]).itemsize * 3))
    files = array.array("i", received)
    with caller.makefile("rb") as told:
        directory, environment, words = json.loads(told.read(int.from_bytes(size, "big")))
    if process := os.fork():
        _, status = os.waitpid(process, 0)
        caller.sendall(bytes([os.waitstatus_to_exitcode(status) % 256]))
        os._exit(0)
    caller.close()
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["rocpr", *words]
    _run()


def _run() -> NoReturn:
    """End like `rocpr`, but without the time that Python takes to remove every module."""
    status = 1
    try:
        rocpr()
    except SystemExit as ended:
        status = int(ended.code or 0)
    except BaseException:  # noqa: BLE001  # what Python would print
        traceback.print_exc()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main()

"""Clients in a separate process, which ends when its standard input does: both sides of that pipe.

The processor time of these clients must not be mistaken for the server's: they have a low priority, and do not run in
the process that measures.
"""

import asyncio
import json
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from tests.support.servers import ROOT

NICENESS = 10
END_SECONDS = 180.0
"""How long the process may take to report once asked."""

Seen = dict[str, Any]
"""What the clients saw, as read from JSON."""


@contextmanager
def attack(module: str, *words: object) -> Iterator[Seen]:
    """Run `python -m module words`, from when it reports that it is ready; yields what it saw, filled in at the end."""
    seen: Seen = {}
    command = [sys.executable, "-m", module, *map(str, words)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield seen
            told, _ = process.communicate(timeout=END_SECONDS)
            seen |= json.loads(told)
        finally:
            if process.poll() is None:
                process.kill()


@contextmanager
def at_once(clients: int, ask_until: Callable[[threading.Event, int], None]) -> Iterator[None]:
    """Run clients in threads; each gets its number, and an event that tells when it is over."""
    over = threading.Event()
    with ThreadPoolExecutor(clients) as pool:
        running = [pool.submit(ask_until, over, number) for number in range(clients)]
        try:
            yield
        finally:
            over.set()
            for client in running:
                client.result()


def crowds(port: int, sizes: Mapping[str, int]) -> AbstractContextManager[Seen]:
    """Run crowds of these sizes, named as in crowds.py; yields {name: what it saw}."""
    return attack("tests.support.attacks.crowds", port, *(word for pair in sizes.items() for word in pair))


def askers(port: int, name: str, clients: int, key: str = "", niceness: int = NICENESS) -> AbstractContextManager[Seen]:
    """Run clients that keep repeating requests of a name in costly.py (askers.py)."""
    return attack("tests.support.attacks.askers", port, name, clients, niceness, *([key] if key else []))


def run_clients(clients: Callable[[asyncio.Event], Awaitable[Seen]], niceness: int = NICENESS) -> None:
    """Act as such a process: run clients, which end once the event is set, and print what they saw.

    They call `say_ready` when they are ready.
    """
    os.nice(niceness)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    print(json.dumps(asyncio.run(_until_the_input_ends(clients))))


async def _until_the_input_ends(clients: Callable[[asyncio.Event], Awaitable[Seen]]) -> Seen:
    over = asyncio.Event()
    asyncio.get_running_loop().add_reader(
        sys.stdin.fileno(), over.set
    )  # nobody writes, so that it is readable at its end
    return await clients(over)


def say_ready() -> None:
    """Let `attack` go on."""
    print("ready", flush=True)

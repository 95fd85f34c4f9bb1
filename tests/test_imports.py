"""Importing a module has no effect: no file, no variable, no setting of a library, no thread or process."""

import os
import subprocess
import sys
from pathlib import Path

IMPORTING = """
import importlib, multiprocessing.forkserver, os, pkgutil, signal, threading
import prometheus_client.values as values
import service

def state():
    preloaded = multiprocessing.forkserver._forkserver._preload_modules
    handlers = [signal.getsignal(number) for number in signal.valid_signals()]
    return dict(os.environ), values.ValueClass, values.MmapedDict, list(preloaded), handlers, threading.active_count()

before = state()
for found in pkgutil.walk_packages(service.__path__, "service."):
    if not found.name.endswith("__main__"):
        importlib.import_module(found.name)
assert state() == before
"""


def test_importing_has_no_effect(root: Path, tmp_path: Path) -> None:
    variables = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", IMPORTING], cwd=root, env=variables, check=True, timeout=120)
    assert list(tmp_path.iterdir()) == []

"""The environment of the server's processes: by processor, what the operator may keep, and its effects."""

import json
import mmap
import os
import platform
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gunicorn
import pytest

from service import environment
from service.environment import NEVER_REFUSED_BYTES, prepare_process, remove_from_import_path, server_environment
from tests.web.little_memory import data_bytes

SORTING = "NPY_DISABLE_CPU_FEATURES"
MALLOC = ("MALLOC_ARENA_MAX", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_")
AVX512 = "avx512f avx512dq rdseed avx512cd avx512bw avx512vl"

ON_GLIBC = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")


def cpuinfo(vendor: str, family: int, flags: str) -> str:
    """Write a /proc/cpuinfo with two processors."""
    one = (
        f"vendor_id\t: {vendor}\ncpu family\t: {family}\nmodel name\t: x: y\nflags\t\t: fpu avx2 {flags}\nbugs\t\t:\n\n"
    )
    return one + one


def in_the_server(root: Path, code: str, **variables: str) -> Any:
    """Run code as a worker would, after the configuration; return what it prints, which is JSON.

    `early` says whether the configuration imported NumPy.
    """
    setting_up = (
        "import runpy, sys; runpy.run_path('deploy/gunicorn.conf.py'); early = 'numpy' in sys.modules\n"
        "import service.web.server.worker\n"
    )
    not_ours = {name: value for name, value in os.environ.items() if name not in {*server_environment(), SORTING}}
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", setting_up + code],
        cwd=root,
        env={**not_ours, **variables},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert run.stderr == ""
    return json.loads(run.stdout)


def test_a_master_that_another_one_starts_reads_the_configuration(root: Path) -> None:
    """Python then searches gunicorn's own folder for modules first, which has a module `http`."""
    starting = (
        "import gunicorn, os, runpy, sys; sys.path.insert(0, os.path.dirname(gunicorn.__file__))\n"
        "runpy.run_path('deploy/gunicorn.conf.py'); import http.server"
    )
    subprocess.run([sys.executable, "-c", starting], cwd=root, check=True)


def test_avx512_is_left_out_where_it_sorts_slowly() -> None:
    assert server_environment(cpuinfo("AuthenticAMD", 25, AVX512))[SORTING] == "X86_V4"


@pytest.mark.parametrize(
    "text",
    [
        cpuinfo("AuthenticAMD", 25, ""),
        cpuinfo("AuthenticAMD", 25, "avx512f"),
        cpuinfo("AuthenticAMD", 26, AVX512),
        cpuinfo("GenuineIntel", 6, AVX512),
        "processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\n\n",
        "",
    ],
    ids=["Zen 3", "Zen 4, masked", "Zen 5", "Intel", "ARM", "not Linux"],
)
def test_other_processors_keep_theirs(text: str) -> None:
    assert SORTING not in server_environment(text)


OBSERVED = """
import gc, json, os, time
from types import SimpleNamespace
import pyarrow as pa
from numpy._core._multiarray_umath import __cpu_features__
from service.app import create_app
found = {"early": early, "avx512": __cpu_features__["X86_V4"], "variables": dict(os.environ)}
found["pool"] = pa.default_memory_pool().backend_name
began = runpy.run_path("deploy/gunicorn.conf.py")["post_worker_init"]
app = create_app()
app.extensions["big_pool"].prepare = lambda: None
before = len(gc.get_objects())
began(SimpleNamespace(wsgi=app))
print(json.dumps(found | {"collector": [before, len(gc.get_objects()), gc.get_freeze_count()]}))
"""


@pytest.fixture(scope="module")
def observed(root: Path) -> Any:
    """What one server's process found in itself, for all tests that do not change it."""
    return in_the_server(root, OBSERVED)


def test_numpy_is_told_in_time(observed: Any) -> None:
    """NumPy is imported after the configuration, and accepts the name without a warning."""
    assert not observed["early"]
    assert server_environment().items() <= observed["variables"].items()
    if SORTING in server_environment():
        assert not observed["avx512"]


def prepared(monkeypatch: pytest.MonkeyPatch, library: SimpleNamespace, **variables: str) -> dict[str, str]:
    """The variables after a process with these ones, and this C library, was prepared."""
    monkeypatch.setattr(environment, "os", SimpleNamespace(environ=variables))
    monkeypatch.setattr(environment.ctypes, "CDLL", lambda _: library)
    prepare_process()
    return variables


def test_what_the_operator_has_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    library = SimpleNamespace(mallopt=lambda _, value: told.append(value))
    given = {SORTING: "", "OPENBLAS_NUM_THREADS": "3", "MALLOC_TRIM_THRESHOLD_": "1000000"}
    variables = prepared(monkeypatch, library, **given)
    assert given.items() <= variables.items()
    assert told == [int(variables[name]) for name in MALLOC[:2]]
    tuned = {"GLIBC_TUNABLES": "glibc.malloc.arena_max=2"}
    assert not prepared(monkeypatch, library, **tuned).keys() & set(MALLOC)
    assert len(told) == 2


def test_other_c_libraries_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    variables = prepared(monkeypatch, SimpleNamespace())
    assert variables["OPENBLAS_NUM_THREADS"] == "1"
    assert not variables.keys() & set(MALLOC)


FAULTS = """
import json, resource, threading
import numpy as np

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    np.ones(1 << 19)  # 4 MiB
    np.ones(1 << 21)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

found = []
thread = threading.Thread(target=lambda: found.extend(faults() for _ in range(8)))
thread.start()
thread.join()
print(json.dumps(sum(found[2:])))
"""
"""Counts the page faults for arrays like earlier ones; with plain pages, not huge ones."""


@pytest.mark.all
@ON_GLIBC
def test_arrays_come_from_memory_that_was_used_before(root: Path) -> None:
    plain = {"NUMPY_MADVISE_HUGEPAGE": "0"}
    without = {"MALLOC_MMAP_THRESHOLD_": "131072", "MALLOC_TRIM_THRESHOLD_": "131072"}
    assert in_the_server(root, FAULTS, **plain) < 100
    assert in_the_server(root, FAULTS, **plain, **without) > 10_000


HOLES = """
import json, time
from service import environment
from service.environment import give_memory_back, give_memory_back_regularly, own_memory_bytes

def holes():
    large, small = [], []
    for _ in range(200):
        large.append(bytearray(b"x") * (1 << 18))  # 50 MiB in all
        small.append(bytearray(b"x") * (1 << 10))
    return small

before = own_memory_bytes()
kept = holes()
with_holes = own_memory_bytes()
give_memory_back()
trimmed = own_memory_bytes()
more = holes()
environment.GIVE_BACK_SECONDS = 0.01
give_memory_back_regularly()
end = time.monotonic() + 100
while own_memory_bytes() > before + (25 << 20) and time.monotonic() < end:
    time.sleep(0.01)
print(json.dumps([size - before for size in (with_holes, trimmed, own_memory_bytes())]))
"""
"""Keeps small objects between large ones that are freed, and reports how much memory that takes."""


@pytest.mark.all
@ON_GLIBC
def test_holes_in_the_pool_are_given_back(root: Path) -> None:
    with_holes, trimmed, in_the_end = in_the_server(root, HOLES)
    assert with_holes > 45 << 20
    assert trimmed < 10 << 20
    assert in_the_end < 25 << 20


def test_the_collector_leaves_what_is_loaded_alone(observed: Any) -> None:
    before, looked_through, frozen = observed["collector"]
    assert frozen >= before > 10_000
    assert looked_through < 1_000


def test_arrow_has_no_pool_of_its_own(observed: Any) -> None:
    assert observed["pool"] == "system"


def test_a_packages_own_folder_is_not_searched(monkeypatch):
    folder = str(Path(gunicorn.__file__).parent)
    monkeypatch.setattr(sys, "path", [folder, "a", folder, "b"])
    remove_from_import_path("gunicorn")
    assert sys.path == ["a", "b"]
    remove_from_import_path("no_such_package")
    assert sys.path == ["a", "b"]


def test_missing_memory_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []
    monkeypatch.setattr(environment, "give_memory_back", lambda: given.append(1))
    environment.require_memory(1 << 20)
    assert given == []
    with pytest.raises(MemoryError):
        environment.require_memory(1 << 60)
    assert given == [1]


def test_memory_that_the_pool_gives_back_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    lacks = [1]
    monkeypatch.setattr(environment, "give_memory_back", lacks.pop)
    reserve = environment.reserve_memory
    monkeypatch.setattr(environment, "reserve_memory", lambda size: reserve(1 << 60 if lacks else size))
    environment.require_memory(1 << 20)
    assert lacks == []


@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is read and limited as Linux does")
def test_reserved_memory_is_missing_until_it_is_closed() -> None:
    size = 64 << 20
    with memory_beyond(size):
        with environment.reserve_memory(size), pytest.raises(MemoryError):
            environment.reserve_memory(size)
        environment.reserve_memory(size).close()


@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is read and limited as Linux does")
class TestOvercommitment:
    """Where the system overcommits, only a limit of the process's own makes it look for memory."""

    @pytest.fixture
    def mapped(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
        """The sizes of the reserved pieces of memory."""
        sizes: list[int] = []
        reserve = mmap.mmap
        monkeypatch.setattr(mmap, "mmap", lambda fd, size, flags: sizes.append(size) or reserve(fd, size, flags))
        yield sizes
        environment._system_overcommits.cache_clear()

    @pytest.fixture(params=["0\n", "1\n", "2\n", None])
    def overcommits(self, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
        """Whether the system overcommits, by what it says; None if it says nothing."""
        environment._system_overcommits.cache_clear()
        setting = tmp_path / "overcommit_memory"
        if request.param is not None:
            setting.write_text(request.param)
        monkeypatch.setattr(environment, "_OVERCOMMIT", setting)
        return request.param in {"0\n", "1\n"}

    def test_a_system_that_overcommits_refuses_little_only_to_a_process_with_a_limit(
        self, mapped: list[int], *, overcommits: bool
    ) -> None:
        small, large = NEVER_REFUSED_BYTES, NEVER_REFUSED_BYTES + 1
        environment.reserve_memory(small).close()
        assert mapped == ([] if overcommits else [small])
        environment.reserve_memory(large).close()
        assert mapped[-1] == large
        mapped.clear()
        with memory_beyond(small):
            environment.reserve_memory(small).close()
        assert mapped == [small]


@contextmanager
def memory_beyond(size: int) -> Iterator[None]:
    """Let this process allocate one and a half times that much beyond what it has."""
    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (data_bytes() + size * 3 // 2, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)

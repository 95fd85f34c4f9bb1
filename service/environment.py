"""The environment of a serving process: variables that NumPy reads when imported, and malloc's thresholds.

Used by deploy/gunicorn.conf.py, so that it applies to every way of starting the server. Knows the processor and the C
library; imports neither NumPy nor anything of ours. Never overrides what the operator has set.
"""

import ctypes
import gc
import mmap
import os
import sys
import time
from contextlib import ExitStack
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from resource import RLIM_INFINITY, RLIMIT_AS, RLIMIT_DATA, getrlimit
from threading import Thread

_CPUINFO = Path("/proc/cpuinfo")
_OWN_PAGES = Path("/proc/self/statm")
_OVERCOMMIT = Path("/proc/sys/vm/overcommit_memory")
_X86_V4 = frozenset({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})
"""The processor flags for which NumPy chooses its X86_V4 code."""

_MALLOC = {
    # One arena for all threads: separate ones each keep what they freed, up to 64 MiB.
    "MALLOC_ARENA_MAX": (-8, "1"),
    # Arrays reuse memory whose pages are already mapped: page faults took half of the time of 1e5 rows. The threshold
    # is above the arrays, and the JSON, of a million rows.
    "MALLOC_MMAP_THRESHOLD_": (-3, str(256 << 20)),
    # Otherwise the top of the heap is returned after each request, and the other two settings gain nothing. A request
    # of a million rows in JSON needs 400 to 550 MB; with half of this value some of them lose the heap.
    "MALLOC_TRIM_THRESHOLD_": (-1, str(1 << 30)),
}
"""{variable that glibc reads at the start of a process: (the corresponding mallopt parameter, value)}."""

NEVER_REFUSED_BYTES = 32 << 20
"""Less memory than any machine has that runs a server: a system that overcommits never refuses so little."""

GIVE_BACK_SECONDS = 5.0
"""Seconds after which a serving process returns unused memory; in between it is reused."""


def server_environment(cpuinfo: str | None = None) -> dict[str, str]:
    """The variables that a server runs with on this processor, or on one that this /proc/cpuinfo describes."""
    variables = {
        "OPENBLAS_NUM_THREADS": "1",  # else an idle thread per processor in every worker
        # Arrow's own pool keeps 40 MB per process, and reserves a gigabyte of an evaluator's memory limit.
        "ARROW_DEFAULT_MEMORY_POOL": "system",
    }
    if _sorts_slowly_with_avx512(_read_cpuinfo() if cpuinfo is None else cpuinfo):
        # The name in NumPy 2.4; other versions ignore it. np.sort of a million doubles takes 10 ms instead of 53.
        variables["NPY_DISABLE_CPU_FEATURES"] = "X86_V4"
    return variables | {name: value for name, (_, value) in _MALLOC.items()}


def prepare_process() -> None:
    """Set the server's environment for this process and its children; call it before NumPy is imported."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # glibc only
    tuned_otherwise = "glibc.malloc." in os.environ.get("GLIBC_TUNABLES", "")
    for name, value in server_environment().items():
        if name in os.environ:
            continue
        if name in _MALLOC:
            if mallopt is None or tuned_otherwise:
                continue
            mallopt(_MALLOC[name][0], int(value))  # glibc read the variable only at the start
        os.environ[name] = value


def remove_from_import_path(package: str) -> None:
    """Remove a package's folder from the import path, where starting one of its scripts as a file has put it."""
    spec = find_spec(package)
    folders = set(spec.submodule_search_locations or ()) if spec else set()
    sys.path[:] = [path for path in sys.path if path not in folders]


class _WithoutPandas:
    """An entry of the import path on which pandas is missing."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        """Raise ImportError for pandas; leave the others to the other entries."""
        if name == "pandas":
            raise ImportError(name=name)


def leave_pandas_out() -> None:
    """Have pyarrow do without pandas until it is asked for a table of pandas.

    The first array that it makes would import pandas if that is installed, which takes a quarter of a second. It tries
    that only once.
    """
    if "pandas" in sys.modules:
        return
    import pyarrow as pa  # noqa: PLC0415  # after the environment was set

    sys.meta_path.insert(0, _WithoutPandas)
    try:
        pa.array([])
    finally:
        sys.meta_path.remove(_WithoutPandas)


def give_memory_back() -> None:
    """Return unused pages of this process to the system, wherever in the heap they are."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it
    if trim is not None:
        trim(0)


def require_memory(size: int) -> None:
    """Raise MemoryError unless this process can allocate this many more bytes: some libraries crash without memory."""
    try:
        reserve_memory(size).close()
    except MemoryError:
        give_memory_back()  # other processes cannot use what this heap holds
        reserve_memory(size).close()


def reserve_memory(size: int) -> ExitStack:
    """Keep this many bytes from being allocated until they are closed. Raises MemoryError.

    Does nothing where nobody can be refused so much. Otherwise each small request would unmap three pieces of memory,
    which empties the processor's cache of addresses: that took 50 of 600 µs.
    """
    reserved = ExitStack()
    if _can_be_refused(size):
        try:
            reserved.enter_context(mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
        except OSError as error:
            raise MemoryError from error
    return reserved


def _can_be_refused(size: int) -> bool:
    """Whether the system may refuse this process so much memory.

    Where Linux overcommits, it refuses nothing that the machine could have, except to a process with a limit of its
    own; it ends a process when there is no more.
    """
    if size > NEVER_REFUSED_BYTES or not _system_overcommits():
        return True
    return any(getrlimit(limit)[0] != RLIM_INFINITY for limit in (RLIMIT_AS, RLIMIT_DATA))


@cache
def _system_overcommits() -> bool:
    """Whether this is Linux, with its default of promising memory that it may not have (vm.overcommit_memory)."""
    try:
        return _OVERCOMMIT.read_text("ascii").strip() in {"0", "1"}
    except OSError:
        return False


def give_memory_back_regularly() -> None:
    """Start a thread that does so for the life of this process.

    Otherwise the heap of a process with mixed requests only grows: what is kept between requests lies above holes left
    by large ones, which are too small for still larger ones.
    """

    def give_back() -> None:
        while True:
            time.sleep(GIVE_BACK_SECONDS)
            give_memory_back()

    Thread(target=give_back, name="give-back", daemon=True).start()


def freeze_loaded_objects() -> None:
    """Exclude what was loaded for the life of this process from garbage collection.

    All modules together have 70,000 objects. Each collection of them stops the process for 40 to 60 ms, and requests
    trigger collections.
    """
    gc.freeze()


def own_memory_bytes() -> int:
    """The private memory of this process, not counting files; 0 if the system does not say."""
    try:
        _, resident, shared, *_ = map(int, _OWN_PAGES.read_bytes().split())
    except OSError:  # not Linux
        return 0
    return (resident - shared) * mmap.PAGESIZE


def _sorts_slowly_with_avx512(cpuinfo: str) -> bool:
    """Whether this is AMD Zen 4, where compressed vector stores, the inner step of NumPy's sort, are slow microcode.

    Family 25 is Zen 3 (without AVX-512) and Zen 4; Zen 5 is another family.
    """
    first_processor = cpuinfo.partition("\n\n")[0]
    entries = {
        key.strip(): value.strip() for key, _, value in (line.partition(":") for line in first_processor.splitlines())
    }
    is_family_25 = (entries.get("vendor_id"), entries.get("cpu family")) == ("AuthenticAMD", "25")
    return is_family_25 and set(entries.get("flags", "").split()) >= _X86_V4


def _read_cpuinfo() -> str:
    try:
        return _CPUINFO.read_text(encoding="utf-8", errors="replace")
    except OSError:  # not Linux
        return ""

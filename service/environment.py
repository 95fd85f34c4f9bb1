"""What a process that serves needs around it: variables that NumPy reads when it is imported, and malloc's thresholds.

Used by deploy/gunicorn.conf.py, so that every way to start the server is the same. Knows the processor and the C
library; imports neither NumPy nor anything of ours. What the operator has set stays as it is.
"""

import ctypes
import gc
import mmap
import os
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from threading import Thread

_CPUINFO = Path("/proc/cpuinfo")
_OWN_PAGES = Path("/proc/self/statm")
_X86_V4 = frozenset({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})
"""The flags of a processor for which NumPy chooses what it calls X86_V4."""

_MALLOC = {
    # One pool for all threads: with one for each, each keeps what it freed, and none is larger than 64 MiB.
    "MALLOC_ARENA_MAX": (-8, "1"),
    # Arrays come from memory that was used before, whose pages are there already, and not from new mappings: faulting
    # pages in took half of the time of 1e5 rows. Above the arrays, and the JSON, of a million rows.
    "MALLOC_MMAP_THRESHOLD_": (-3, str(256 << 20)),
    # Without this the end of the pool goes back to the system after each request, and the other two gain nothing. A
    # request of a million rows in JSON needs 400 to 550 MB in all; with half of this value some of them lose the pool.
    "MALLOC_TRIM_THRESHOLD_": (-1, str(1 << 30)),
}
"""{variable that glibc reads when a process starts: (the same parameter of its mallopt, value)}."""

GIVE_BACK_SECONDS = 5.0
"""How often a process that serves returns what it does not use; between that its memory is there for every request."""


def server_environment(cpuinfo: str | None = None) -> dict[str, str]:
    """Name the variables that a server runs with on this processor, or the one that /proc/cpuinfo describes so."""
    variables = {
        "OPENBLAS_NUM_THREADS": "1",  # else one idle thread for each processor, in every worker
        # Arrow's own pool keeps some 40 MB for each process, and reserves a gigabyte of what a helper may take.
        "ARROW_DEFAULT_MEMORY_POOL": "system",
    }
    if _sorts_slowly_with_avx512(_read_cpuinfo() if cpuinfo is None else cpuinfo):
        # NumPy 2.4's name; others ignore it. np.sort of a million doubles takes 10 ms instead of 53.
        variables["NPY_DISABLE_CPU_FEATURES"] = "X86_V4"
    return variables | {name: value for name, (_, value) in _MALLOC.items()}


def prepare_process() -> None:
    """Give this process, and those that it starts, the server's environment; to be called before NumPy is imported."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # glibc has it; musl and macOS do not
    tuned_otherwise = "glibc.malloc." in os.environ.get("GLIBC_TUNABLES", "")
    for name, value in server_environment().items():
        if name in os.environ:
            continue
        if name in _MALLOC:
            if mallopt is None or tuned_otherwise:
                continue
            mallopt(_MALLOC[name][0], int(value))  # glibc read the variable when this process started
        os.environ[name] = value


def without_folder_of(package: str) -> None:
    """Let no import look into a package's own folder, where a script of it that was started as a file has put us."""
    spec = find_spec(package)
    folders = set(spec.submodule_search_locations or ()) if spec else set()
    sys.path[:] = [path for path in sys.path if path not in folders]


def give_memory_back() -> None:
    """Return the pages of this process that hold nothing any more to the system, wherever in its pool they lie."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it
    if trim is not None:
        trim(0)


def look_for_memory(size: int) -> None:
    """Raise MemoryError unless this process can have this many bytes more: some libraries crash where they get none."""
    if not _can_have(size):
        give_memory_back()  # what the pool of this process holds is not for everybody
        if not _can_have(size):
            raise MemoryError


def _can_have(size: int) -> bool:
    try:
        mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    except OSError:
        return False
    return True


def give_memory_back_regularly() -> None:
    """Start a thread that does so, as long as this process lives.

    Without it the pool of a process that answers all kinds of requests only grows: what is kept between them lies on
    top of the holes that the larger ones leave, which are too small for those that are larger still.
    """

    def give_back() -> None:
        while True:
            time.sleep(GIVE_BACK_SECONDS)
            give_memory_back()

    Thread(target=give_back, name="give-back", daemon=True).start()


def keep_what_is_loaded() -> None:
    """Let the garbage collector never again look through what was loaded for the life of this process.

    All modules together are 70,000 objects. A look through them takes 40 to 60 ms, in which nothing else of the
    process runs, and comes again and again as requests come.
    """
    gc.freeze()


def own_memory_bytes() -> int:
    """Tell how much memory this process has to itself, without what lies in files; 0 where the system does not tell."""
    try:
        _, resident, shared, *_ = map(int, _OWN_PAGES.read_bytes().split())
    except OSError:  # not Linux
        return 0
    return (resident - shared) * mmap.PAGESIZE


def _sorts_slowly_with_avx512(cpuinfo: str) -> bool:
    """Whether this is AMD Zen 4, which stores compressed vectors, the inner step of NumPy's sort, in microcode.

    Family 25 is Zen 3, which has no AVX-512, and Zen 4; Zen 5 is another family.
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

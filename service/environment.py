"""What a process that serves needs around it: variables that NumPy reads when it is imported, and malloc's thresholds.

Used by deploy/gunicorn.conf.py, so that every way to start the server is the same. Knows the processor and the C
library; imports neither NumPy nor anything of ours. What the operator has set stays as it is.
"""

import ctypes
import os
import sys
from importlib.util import find_spec
from pathlib import Path

_CPUINFO = Path("/proc/cpuinfo")
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

_SPARING = {"MALLOC_MMAP_THRESHOLD_": 4 << 20, "MALLOC_TRIM_THRESHOLD_": 8 << 20}
"""Values of the same for processes whose memory counts more than their time."""


def server_environment(cpuinfo: str | None = None) -> dict[str, str]:
    """Name the variables that a server runs with on this processor, or the one that /proc/cpuinfo describes so."""
    variables = {"OPENBLAS_NUM_THREADS": "1"}  # else one idle thread for each processor, in every worker
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


def use_memory_sparingly() -> None:
    """Let this process return large arrays to the system as soon as they are free, at the price of page faults.

    For processes that serve one big request at a time: 2.3e6 rows in JSON then take 0.7 of the memory, and no longer.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        for name, value in _SPARING.items():
            mallopt(_MALLOC[name][0], value)


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

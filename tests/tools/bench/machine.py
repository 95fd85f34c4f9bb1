"""What the figures depend on: versions, processor, environment variables, and how busy the machine was."""

import importlib.metadata
import os
import platform
import re
from pathlib import Path

from service.environment import server_environment

PACKAGES = (
    "numpy", "scikit-learn", "scipy", "torch", "torchmetrics", "orjson", "pysimdjson", "pyarrow", "flask", "gunicorn",
    "fastapi", "pydantic", "uvicorn", "uvloop", "httptools",
)  # fmt: skip
MATTER = re.compile(r"NPY_|OPENBLAS_|OMP_|MKL_|MALLOC_|ARROW_|GLIBC_TUNABLES|PYTHONMALLOC|ROCPR_")
"""Variables that the report shows if they are set."""


def machine() -> dict[str, object]:
    """All of it, for the report."""
    return {
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "cpu": _cpu(),
        "processors": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}, {' '.join(platform.libc_ver())}",
        "load": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
        "variables": {name: value for name, value in sorted(os.environ.items()) if MATTER.match(name)},
        "server_variables": server_environment(),
    }


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _cpu() -> str:
    """The model, and on Linux the numbers that distinguish models of the same name."""
    information = Path("/proc/cpuinfo")
    if not information.is_file():
        return platform.processor()
    fields = dict(re.findall(r"^(model name|cpu family|model)\s*: (.*)$", information.read_text(), re.MULTILINE))
    name = fields.get("model name", platform.processor())
    numbers = ", ".join(f"{field} {fields[field]}" for field in ("cpu family", "model") if field in fields)
    return f"{name} ({numbers})" if numbers else name

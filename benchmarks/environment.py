"""The machine and the versions that results belong to."""

import datetime
import importlib.metadata
import os
import platform
from pathlib import Path

PACKAGES = ("keras-vaf", "keras", "numpy", "tensorflow", "jax", "jaxlib", "torch")


def environment() -> dict[str, str]:
    """Everything about this run but its numbers, each as a line of text."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "processor": _processor(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": f"{memory / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        **{name: _version(name) for name in PACKAGES},
        "native kernels": _kernels(),
    }


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _kernels() -> str:
    """Instruction set of the native kernels, or why they are missing."""
    from keras_vaf.ops.native.library import find

    found = find()
    return found.instruction_set if found.library else found.reason


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = (line.split(":")[1].strip() for line in lines if "model name" in line)
    return next(names, platform.machine())

"""The machine and the versions that results belong to."""

import datetime
import os
import platform
import re
from importlib import metadata
from pathlib import Path

PACKAGES = ("keras-vaf", "keras", "numpy", "tensorflow", "jax", "jaxlib", "torch")


def environment() -> dict[str, str]:
    """Everything about this run but its numbers, each as a line of text."""
    from keras_vaf.ops.native.library import find

    found, cpu = find(), Path("/proc/cpuinfo").read_text("utf-8")
    named = re.search(r"model name\s*: (.*)", cpu)
    installed = {each.name: each.version for each in metadata.distributions()}
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "processor": named[1] if named else platform.machine(),
        "cores": str(len(os.sched_getaffinity(0))),
        "Python": platform.python_version(),
        **{name: installed.get(name, "not installed") for name in PACKAGES},
        "native kernels": found.instruction_set if found.library else found.reason,
    }

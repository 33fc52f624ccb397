"""`find`, which finds and checks the shared library of the native kernels.

Missing libraries are not an error. A library that does not fit causes one warning and
is ignored. No library is loaded with an untried version of the framework.
"""

import ctypes
import importlib
import os
import platform
import re
import struct
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import keras

TRIED = {
    "jax": ("0.8", "0.12"),
    "tensorflow": ("2.19", "2.21"),
    "torch": ("2.12", "2.15"),
}
"""Lowest and highest version of each framework on which the tests of the kernels ran.

The highest one stands for all its patch releases.
"""
FOLDER = Path(__file__).parent / "lib"
"""Folder of the shared libraries."""
INTERFACE = 4
"""Version of the C interface that this package calls."""

ARRAYS = (
    *("x", "d", "out", "alpha", "alpha_bias", "beta", "beta_bias"),
    *("d_alpha", "d_alpha_bias", "d_beta", "d_beta_bias"),
)
"""Names of the arrays of a call, in the order of `VafCall`."""


class Call(ctypes.Structure):
    """Arguments of a call, as described for `VafCall` in `vaf_kernels.h`."""

    _fields_ = (
        ("function", ctypes.c_int32),
        ("type", ctypes.c_int32),
        ("slope", ctypes.c_float),
        ("k", ctypes.c_int32),
        ("networks", ctypes.c_int64),
        ("outer", ctypes.c_int64),
        ("units", ctypes.c_int64),
        ("inner", ctypes.c_int64),
        ("packed", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ARRAYS),
        ("bytes", ctypes.c_int64 * len(ARRAYS)),
    )


class Found(NamedTuple):
    """The library, or the reason why it is missing."""

    library: ctypes.CDLL | None
    reason: str

    @property
    def instruction_set(self) -> str:
        """The instruction set in use, such as `"x86-64-v3"`."""
        level = self.library.vaf_level() if self.library else 0
        return f"x86-64-v{level}" if level else platform.machine()


_found: Found | None = None  # not `functools.cache`, which `torch.compile` ignores


def find() -> Found:
    """Return the library, which is loaded once per process."""
    global _found
    if _found is None:
        reason = _why_not()
        _found = Found(None, reason) if reason else _load()
    return _found


def _why_not() -> str:
    """Return why the library is not loaded, or `""`."""
    if os.environ.get("KERAS_VAF_KERNELS") == "0":
        return "the environment variable KERAS_VAF_KERNELS is 0"
    if not (FOLDER / "libvaf_kernels.so").exists():
        reason = FOLDER / "missing.txt"  # the build leaves it in place of the libraries
        return reason.read_text() if reason.exists() else "they were not compiled"
    framework = keras.backend.backend()
    version = str(importlib.import_module(framework).__version__)
    lowest, highest = TRIED[framework]
    if _numbers(lowest) <= _numbers(version) <= _numbers(highest):
        return ""
    return (
        f"they were tried with {framework} from {lowest} to {highest}, and "
        f"{version} is installed"
    )


def _numbers(version: str) -> list[int]:
    """Return the first two numbers of a version."""
    return [int(number) for number in re.findall(r"\d+", version)[:2]]


def _load() -> Found:
    try:
        for path in FOLDER.glob("*.so"):
            _check_length(path)
        library = ctypes.CDLL(str(FOLDER / "libvaf_kernels.so"))
        interface = library.vaf_interface()
        if interface != INTERFACE:
            raise RuntimeError(
                f"it has version {interface} of the interface, and keras_vaf needs "
                f"version {INTERFACE}"
            )
        library.vaf_calls.restype = ctypes.c_int64
        library.vaf_message.restype = ctypes.c_char_p
        library.vaf_use_openmp.argtypes = (ctypes.c_void_p,)
        arguments = ctypes.c_void_p, ctypes.c_int  # a pointer to a `Call`, or its bytes
        library.vaf_forward.argtypes = library.vaf_backward.argtypes = arguments
    except Exception as error:
        reason = f"the native kernels are not usable: {error}"
        warn(reason)
        return Found(None, reason)
    return Found(library, "")


def _check_length(path: Path) -> None:
    """Raise an error for an incomplete file, which would end the process if loaded."""
    with path.open("rb") as file:
        header = file.read(64).ljust(64, b"\0")
    # The table at the end of an ELF file: its place, size and number of entries.
    place, size, count = struct.unpack("<40xQ10xHH2x", header)
    if path.stat().st_size < max(64, place + size * count):
        raise OSError(f"{path} is incomplete")


def warn(reason: str) -> None:
    """Warn that the kernels are not used, and say how to solve it."""
    warnings.warn(
        f"{reason}. Plain operators are used instead, with equal results. Install "
        "keras_vaf again to replace them.",
        RuntimeWarning,
        stacklevel=2,
    )


def processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check(failed: int) -> None:
    """Raise an error if a call failed: a `MemoryError` or a `RuntimeError`."""
    if failed:
        error = MemoryError if failed == 2 else RuntimeError
        library: Any = find().library
        raise error(library.vaf_message(failed).decode())

"""Native kernels of keras-vaf: the folder of the libraries, and what they are.

keras-vaf finds and uses this package by itself. See `keras-vaf info`.
"""

import ctypes
from pathlib import Path

__version__ = "0.2.0"
FOLDER = Path(__file__).parent
"""Folder of the shared libraries."""


def load() -> ctypes.CDLL:
    """Load the library that the bindings of all frameworks use."""
    return ctypes.CDLL(str(FOLDER / "libvaf_kernels.so"))

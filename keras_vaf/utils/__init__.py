"""What every part of the package may use: optional imports and safe files."""

from keras_vaf.utils.extras import require
from keras_vaf.utils.files import write_atomically

__all__ = ["require", "write_atomically"]

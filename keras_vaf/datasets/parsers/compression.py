"""Files compressed as a whole."""

import gzip
import lzma
import zlib
from pathlib import PurePosixPath

_DECOMPRESS = {".gz": gzip.decompress, ".xz": lzma.decompress}


def decompress(content: bytes, file: str) -> bytes:
    """Return what a file holds, decompressed if its name ends in `.gz` or `.xz`.

    Args:
        content: The bytes of the file.
        file: Name of the file.

    Returns:
        The bytes that a reader takes.

    Raises:
        ValueError: If the file is not compressed in this way, or torn.

    Example:

    >>> decompress(b"1,2", "plain.csv")
    b'1,2'
    """
    suffix = PurePosixPath(file).suffix
    if suffix not in _DECOMPRESS:
        return content
    try:
        return _DECOMPRESS[suffix](content)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise ValueError(
            f"{file}: expected a whole {suffix} file. Received: {error}"
        ) from error

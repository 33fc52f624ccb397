"""Files that are either whole or not there."""

import os
import tempfile
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], data: str | bytes) -> Path:
    """Write a file so that a reader sees the old one or the new one, never a part.

    The data goes to a temporary file beside the target, is flushed to the disk and
    then renamed. Folders on the way are made. If writing fails (full disk, no
    permission), the temporary file is removed and the old file stays.

    Args:
        path: The file to write.
        data: Text (written as UTF-8) or bytes.

    Returns:
        The path written.

    Raises:
        OSError: If the folder cannot be made or the file cannot be written.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    content = data.encode("utf-8") if isinstance(data, str) else data
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path


def _umask() -> int:
    # The umask can only be read by setting it; mkstemp makes files private.
    current = os.umask(0)
    os.umask(current)
    return current

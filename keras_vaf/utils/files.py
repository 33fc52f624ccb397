"""Files that are either whole or not there."""

import os
import uuid
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
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    content = data.encode("utf-8") if isinstance(data, str) else data
    try:
        with open(temporary, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return path

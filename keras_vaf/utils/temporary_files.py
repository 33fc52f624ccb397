"""`remove_stale`, which removes the temporary files of killed processes."""

import contextlib
import functools
import hashlib
import os
import platform
import re
import shutil
import uuid
from pathlib import Path

# Host, process id and start time of the process that writes the file.
_TEMPORARY = re.compile(r"\.tmp-([0-9a-f]{8})-(\d{1,9})-(\d+)-[0-9a-f]{8}-")


def temporary_path(path: Path, ending: str) -> Path:
    """Return a new path in the folder of `path`, whose name identifies this process."""
    process = os.getpid()
    owner = f"{_host()}-{process}-{_start_time(process) or 0}-{uuid.uuid4().hex[:8]}"
    # Only the end of the name is used, to stay within the length limit of file names.
    return path.with_name(f".tmp-{owner}-{path.name[-60:]}{ending}")


def remove_stale(
    folder: str | os.PathLike[str], recursive: bool = False
) -> tuple[Path, ...]:
    """Remove the temporary files that killed processes left in a folder.

    A file is removed only if its name shows that a process of this machine wrote it and
    that this process has ended. `keras_vaf.utils.atomic_path` calls this function once
    for each folder to which a process writes.

    Args:
        folder: The folder.
        recursive: Whether to include its subfolders.

    Returns:
        The files and folders that were removed.
    """
    find = Path(folder).rglob if recursive else Path(folder).glob
    removed = []
    for path in list(find(".tmp-*")):
        match = _TEMPORARY.match(path.name)
        if match and match[1] == _host() and not _is_running(int(match[2]), match[3]):
            remove(path)
            removed.append(path)
    return tuple(removed)


@functools.lru_cache(maxsize=256)
def remove_stale_once(folder: Path) -> None:
    """Call `remove_stale` for a folder, once in this process."""
    with contextlib.suppress(OSError):
        remove_stale(folder)


def remove(path: Path) -> None:
    """Remove a file or folder if it exists and can be removed."""
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


@functools.cache
def _host() -> str:
    """Return a hash of the host or container to which process ids belong."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return hashlib.sha256(f"{platform.node()} {space}".encode()).hexdigest()[:8]


def _start_time(process: int) -> str | None:
    """Return the start time of a process, "0" if unknown, or None if it has ended."""
    try:
        status = Path(f"/proc/{process}/stat").read_text(errors="replace")
    except OSError:
        return "0"
    state, *fields = status.rpartition(")")[2].split()
    return None if state in ("Z", "X") else fields[18]


def _is_running(process: int, started: str) -> bool:
    if os.name != "posix":  # On other systems, signal 0 would end the process.
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return _start_time(process) in (started, "0")

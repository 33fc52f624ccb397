"""`write_atomically` and `atomic_path`, which never leave an incomplete file."""

import contextlib
import errno
import itertools
import os
import shutil
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path


def write_atomically(
    path: str | os.PathLike[str], data: str | bytes, force: bool = True
) -> Path:
    """Write a file so that a reader sees the old or the new content, never a part.

    Missing folders are created. See `atomic_path` for details.

    Args:
        path: The file to write.
        data: Text (written as UTF-8) or bytes.
        force: Whether an existing file may be replaced.

    Returns:
        The path written.

    Raises:
        FileExistsError: If the file exists and `force` is False.
        OSError: If the folder cannot be created or the file cannot be written. The
            error names `path`, and an existing file is not changed.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path, ending=".tmp", force=force) as temporary:
        temporary.write_bytes(data.encode("utf-8") if isinstance(data, str) else data)
    return path


@contextlib.contextmanager
def atomic_path(
    path: str | os.PathLike[str], ending: str = "", force: bool = True
) -> Iterator[Path]:
    """Yield a temporary path that replaces `path` when the block ends.

    The temporary file or folder is in the same folder, and its name ends in the same
    name. It can therefore be used with functions that write to a path, such as
    `model.save`, `figure.savefig` and `model.export`. When the block ends, the
    temporary file is flushed to disk and renamed. If the block raises, it is removed
    and `path` is not changed. If the process is killed, the temporary file remains.
    Devices and pipes are written directly. The target of a symbolic link is written,
    and the link is kept.

    Args:
        path: The file or folder to write. Its parent folder must exist.
        ending: Suffix of the temporary name. With ".tmp", a pattern such as `*.json`
            does not match the temporary file of a killed process.
        force: Whether an existing `path` may be replaced. If not, a file that another
            process created while the block ran is also kept.

    Raises:
        FileExistsError: If `path` exists when the block ends and `force` is False.
        OSError: If `path` cannot be written. The error names `path`.

    Example:

    >>> from pathlib import Path
    >>> with atomic_path("lines.txt") as temporary:
    ...     _ = temporary.write_text("one line")
    >>> Path("lines.txt").read_text()
    'one line'
    """
    path = Path(path)
    if path.exists() and not (path.is_file() or path.is_dir()):
        yield path
        return
    given, path = path, Path(os.path.realpath(path)) if path.is_symlink() else path
    # Only the end of the name is used, to stay within the length limit of file names.
    name = f".tmp-{uuid.uuid4().hex}-{path.name[-60:]}{ending}"
    temporary = path.with_name(name)
    try:
        yield temporary
        _flush(temporary)
        (_replace if force else _place)(temporary, path)
    except BaseException as error:
        _remove(temporary)
        if _is_about(error, temporary):
            number = getattr(error, "errno", None) or errno.EIO
            reason = getattr(error, "strerror", None) or str(error)
            raise OSError(number, reason, str(given)) from error
        raise


def set_aside(path: Path) -> Path:
    """Rename an unusable file to `NAME.aside-1`, or to the next free number.

    Args:
        path: The file or folder.

    Returns:
        The new path.
    """
    names = (path.with_name(f"{path.name}.aside-{n}") for n in itertools.count(1))
    return path.rename(next(name for name in names if not name.exists()))


def check_output(
    path: str | os.PathLike[str],
    force: bool = False,
    inputs: Iterable[str | os.PathLike[str]] = (),
) -> Path:
    """Check before any computation that a command may write its output file.

    Args:
        path: The file that the command will write.
        force: Whether an existing file may be overwritten.
        inputs: Files that the command reads, which are never overwritten.

    Returns:
        The path.

    Raises:
        FileExistsError: If the file exists and `force` is False.
        FileNotFoundError: If the folder of the file does not exist.
        ValueError: If the file is one of `inputs`.
    """
    path = Path(path)
    # `Path.resolve` raises a RuntimeError for a link to itself.
    if os.path.realpath(path) in map(os.path.realpath, inputs):
        raise ValueError(
            "The output must not be the same file as an input, because inputs are not "
            f"changed. Received: {path}"
        )
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"The folder {path.parent} does not exist. Create it first. "
            f"Received: {path}"
        )
    if (path.is_file() or path.is_dir()) and not force:
        raise _exists(path)
    return path


def _remove(path: Path) -> None:
    """Remove a file or folder if it exists and can be removed."""
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _exists(path: Path) -> FileExistsError:
    return FileExistsError(
        f"{path} exists. Choose another name, or overwrite it with --force."
    )


def _is_about(error: BaseException, temporary: Path) -> bool:
    """Return whether an error of any library concerns writing the temporary file."""
    if isinstance(error, FileExistsError):
        return False  # The name of a temporary file is always new.
    if isinstance(error, OSError):
        return error.filename is None or temporary.name in str(error.filename)
    text = str(error) if isinstance(error, Exception) else ""
    return "errno = " in text or temporary.name in text


def _flush(path: Path) -> None:
    for file in path.rglob("*") if path.is_dir() else (path,):
        if file.is_file():
            with open(file, "rb+") as stream:
                os.fsync(stream.fileno())


def _place(temporary: Path, path: Path) -> None:
    """Rename a file or folder in a single step that fails if `path` exists."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise _exists(path) from None
    except OSError:  # A folder, or a file system without links.
        if path.exists():
            raise _exists(path) from None
        os.replace(temporary, path)
    else:
        os.unlink(temporary)


def _replace(temporary: Path, path: Path) -> None:
    if not (temporary.is_dir() and path.exists()):
        os.replace(temporary, path)
        return
    old = set_aside(path)  # No system call can replace a folder that is not empty.
    try:
        os.replace(temporary, path)
    except BaseException:
        os.replace(old, path)
        raise
    _remove(old)

"""`write_atomically` and `atomic_path`, which never leave an incomplete file."""

import contextlib
import errno
import os
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path


def write_atomically(
    path: str | os.PathLike[str], data: str | bytes, force: bool = True
) -> Path:
    """Write a file as `atomic_path` does, text as UTF-8; create missing folders."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path, ending=".tmp", force=force) as temporary:
        temporary.write_bytes(data.encode("utf-8") if isinstance(data, str) else data)
    return path


@contextlib.contextmanager
def atomic_path(
    path: str | os.PathLike[str], ending: str = "", force: bool = True
) -> Iterator[Path]:
    """Yield a temporary path in the same folder that replaces `path` after the block.

    A reader sees the old or the new content, never a part. The temporary name ends in
    the same name, so that `model.save` can write it. If the block raises, `path` is not
    changed. If the process is killed, the temporary file remains; with the `ending`
    ".tmp", `*.json` does not match it. Devices, pipes and targets of links are written.
    An `OSError` names `path`, also where it exists at the end and `force` is False.
    """
    given = path = Path(path)
    if path.exists() and not path.is_file():
        yield path
        return
    path = Path(os.path.realpath(path)) if path.is_symlink() else path
    # The end of the name alone stays within the length limit of file names.
    name = f".tmp-{uuid.uuid4().hex}-{path.name[-60:]}{ending}"
    temporary = path.with_name(name)
    try:
        yield temporary
        with temporary.open("rb+") as stream:
            os.fsync(stream.fileno())
        if not force and path.exists():
            raise _exists(path)
        os.replace(temporary, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if not _is_about(error, temporary):
            raise
        number = getattr(error, "errno", None) or errno.EIO
        reason = getattr(error, "strerror", None) or str(error)
        raise OSError(number, reason, str(given)) from error


def check_output(
    path: str | os.PathLike[str],
    force: bool = False,
    inputs: Iterable[str | os.PathLike[str]] = (),
) -> Path:
    """Check before any computation that a command may write its output file.

    It must not be one of the `inputs`, its folder must exist, and it must not exist
    itself, unless `force` is True.
    """
    path = Path(path)
    # `Path.resolve` raises a RuntimeError for a link to itself.
    if os.path.realpath(path) in map(os.path.realpath, inputs):
        raise ValueError(
            f"The output must not be the same file as an input. Received: {path}"
        )
    if not path.parent.is_dir():
        raise FileNotFoundError(f"The folder {path.parent} does not exist: create it.")
    if (path.is_file() or path.is_dir()) and not force:
        raise _exists(path)
    return path


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

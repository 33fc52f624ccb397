"""The publishers' files: where they are kept, and how they get there."""

import http.client
import os
import sys
import urllib.request
from pathlib import Path

from keras_vaf.datasets.catalogue import File
from keras_vaf.datasets.checksums import difference, is_right
from keras_vaf.utils import write_atomically

_CHUNK = 1 << 18
_SECONDS_OF_SILENCE = 30


def data_folder(data_dir: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the folder that a user keeps the publishers' files in.

    Args:
        data_dir: The folder, if the user names it.

    Returns:
        `data_dir`, else what `KERAS_VAF_DATA_DIR` names, else `None`.
    """
    folder = data_dir or os.environ.get("KERAS_VAF_DATA_DIR")
    return Path(folder) if folder else None


def cache_folder() -> Path:
    """Return the folder that fetched files are kept in, beside those of Keras."""
    home = os.environ.get("KERAS_HOME") or Path.home() / ".keras"
    return Path(home) / "datasets" / "keras_vaf"


def fetch_unless_there(file: File, folder: Path) -> bytes:
    """Return a file from a folder of fetched files; fetch it if it is not whole there.

    Args:
        file: The file.
        folder: The folder.

    Returns:
        Its bytes, checked.

    Raises:
        OSError: If it can be had from nowhere, or cannot be kept.
    """
    path = folder / file.path
    if path.is_file():
        content = path.read_bytes()
        if is_right(content, file):
            return content
    content = _fetch(file, path)
    try:
        write_atomically(path, content)
    except OSError as error:
        raise OSError(
            f"{path} could not be written: {error.strerror}. Make room, or have the "
            "files kept elsewhere by the environment variable KERAS_HOME."
        ) from error
    return content


def _fetch(file: File, path: Path) -> bytes:
    failures = []
    for url in file.urls:
        try:
            content = _download(url, file)
        except (OSError, http.client.HTTPException) as error:
            failures.append(f"{url}: {error}")
            continue
        if is_right(content, file):
            return content
        failures.append(f"{url} gives another file: {difference(content, file)}")
    raise OSError(
        f"{file.path} could not be fetched ({'; '.join(failures)}). Go online, or get "
        f"it in another way and put it at {path}."
    )


def _download(url: str, file: File) -> bytes:
    content = bytearray()
    with urllib.request.urlopen(url, timeout=_SECONDS_OF_SILENCE) as response:
        _show(f"Fetching {file.path} from {url}\n")
        while chunk := response.read(_CHUNK):
            content += chunk
            if sys.stderr.isatty():
                total = f" of {file.size / 1e6:.1f}" if file.size else ""
                _show(f"\r{len(content) / 1e6:.1f}{total} MB ")
    return bytes(content)


def _show(text: str) -> None:
    print(text, end="", file=sys.stderr, flush=True)

"""`read_files`, which finds or downloads the publishers' files of a dataset."""

import http.client
import importlib.util
import os
import sys
import urllib.request
from pathlib import Path

from keras_vaf.datasets.catalogue import Entry, File, Source
from keras_vaf.datasets.checksums import difference, is_right, read_checked
from keras_vaf.utils import write_atomically

_CHUNK = 1 << 18
_SECONDS_OF_SILENCE = 30

# Largest accepted number of bytes for a file of unknown size.
_MOST_BYTES = 1 << 26


def data_folder(data_dir: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the folder in which the user stores the publishers' files.

    Args:
        data_dir: The folder, if the user names one.

    Returns:
        `data_dir`, or else the folder in the environment variable `KERAS_VAF_DATA_DIR`,
        or else `None`.
    """
    folder = data_dir or os.environ.get("KERAS_VAF_DATA_DIR")
    return Path(folder) if folder else None


def cache_folder() -> Path:
    """Return the folder for downloaded files, next to the data of Keras."""
    home = os.environ.get("KERAS_HOME") or Path.home() / ".keras"
    return Path(home) / "datasets" / "keras_vaf"


def read_files(
    entry: Entry, data_dir: str | os.PathLike[str] | None = None
) -> tuple[Source, list[bytes]]:
    """Return the checked files of a dataset; download them if no folder is given.

    Args:
        entry: The catalogue entry of the dataset.
        data_dir: Folder with the publishers' files, as for `load`.

    Returns:
        The form in which the dataset is available, and the bytes of each of its files.

    Raises:
        ValueError: If a file is not the publisher's.
        OSError: If a file is missing, or cannot be fetched or stored.
    """
    folder = data_folder(data_dir)
    if folder is None:
        folder = cache_folder()
        source = _source_in(entry, folder) or _source_online(entry)
        return source, [fetch_unless_there(file, folder) for file in source.files]
    found = _source_in(entry, folder)
    if found is None:
        raise _missing(entry, folder)
    return found, [read_checked(file, folder) for file in found.files]


def _source_in(entry: Entry, folder: Path) -> Source | None:
    """Return the first form that is available without fetching."""
    for source in entry.sources:
        if source.package:
            if importlib.util.find_spec(source.package) is not None:
                return source
        elif all((folder / file.path).is_file() for file in source.files):
            return source
    return None


def _source_online(entry: Entry) -> Source:
    return next(
        source
        for source in entry.sources
        if source.files and all(file.urls for file in source.files)
    )


def _missing(entry: Entry, folder: Path) -> FileNotFoundError:
    wanted = _source_online(entry).files
    absent = [file for file in wanted if not (folder / file.path).is_file()]
    subfolder = (folder / wanted[0].path).parent
    found = sorted(path.name for path in subfolder.glob("*"))
    return FileNotFoundError(
        f"{folder} does not contain {', '.join(file.path for file in absent)}. Get it "
        f"from {', '.join(file.urls[0] for file in absent)}, or do not set a folder "
        "(`data_dir`, KERAS_VAF_DATA_DIR), so that it is downloaded. "
        f"Received: {', '.join(found) or 'no file'} in {subfolder}"
    )


def fetch_unless_there(file: File, folder: Path) -> bytes:
    """Return a file from the folder of downloads; fetch it if it is missing or wrong.

    Args:
        file: The file.
        folder: The folder.

    Returns:
        The bytes of the file, compared with their checksum.

    Raises:
        OSError: If the file cannot be fetched from any address, or cannot be stored.
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
            f"{path} could not be written: {error.strerror}. Free some space, or set "
            "the environment variable KERAS_HOME to another folder."
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
        f"the file in another way and save it as {path}."
    )


def _download(url: str, file: File) -> bytes:
    content, most = bytearray(), _most_bytes(file)
    with urllib.request.urlopen(url, timeout=_SECONDS_OF_SILENCE) as response:
        _show(f"Fetching {file.path} from {url}\n")
        while chunk := response.read(_CHUNK):
            content += chunk
            if len(content) > most:
                raise OSError(f"it sends more than {most} bytes")
            if sys.stderr.isatty():
                total = f" of {file.size / 1e6:.1f}" if file.size else ""
                _show(f"\r{len(content) / 1e6:.1f}{total} MB ")
    return bytes(content)


def _most_bytes(file: File) -> int:
    """Return the largest possible size of a file, at which a download stops."""
    if file.size is None:
        return _MOST_BYTES
    # Line endings and spacing may differ between the publisher's file and the known
    # copy.
    return file.size if file.words is None else 2 * file.size


def _show(text: str) -> None:
    print(text, end="", file=sys.stderr, flush=True)

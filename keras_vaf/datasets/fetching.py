"""`read_files`, which finds or downloads the publishers' files.

Each file is compared with its checksum. This module never decompresses or parses a
file, so a file with a wrong checksum is never interpreted. `keras.utils.get_file` does
not take its place: it waits without end for a server that falls silent, downloads under
the final name, keeps a file with a wrong checksum there, and knows no checksum of a
text that does not depend on line ends.
"""

import hashlib
import http.client
import importlib.util
import os
import sys
import urllib.request
from pathlib import Path

from keras_vaf.datasets.catalogue import Entry, File, Source
from keras_vaf.utils import write_atomically

_SECONDS_OF_SILENCE = 30

# Largest accepted number of bytes for a file of unknown size.
_MOST_BYTES = 1 << 26


def data_folder(data_dir: str | os.PathLike[str] | None = None) -> Path | None:
    """Return `data_dir`, or the folder in `KERAS_VAF_DATA_DIR`, or `None`."""
    folder = data_dir or os.environ.get("KERAS_VAF_DATA_DIR")
    return Path(folder) if folder else None


def cache_folder() -> Path:
    """Return the folder for downloaded files, next to the data of Keras."""
    home = os.environ.get("KERAS_HOME") or Path.home() / ".keras"
    return Path(home) / "datasets" / "keras_vaf"


def read_files(
    entry: Entry, data_dir: str | os.PathLike[str] | None = None
) -> tuple[Source, list[bytes]]:
    """Return the form of a dataset and the bytes of its checked files.

    If `data_dir` or the environment names a folder, the files must be in it. Otherwise
    they are downloaded into the cache, unless they are there.
    """
    given = data_folder(data_dir)
    folder = given or cache_folder()
    for source in entry.sources:  # the first form that is available
        if source.package and importlib.util.find_spec(source.package) is not None:
            return source, []
        if (
            all((folder / file.path).is_file() for file in source.files)
            and source.files
        ):
            break
    else:
        source = next(
            s for s in entry.sources if s.files and all(f.urls for f in s.files)
        )
    absent = [file for file in source.files if not (folder / file.path).is_file()]
    if given and absent:
        subfolder = (folder / absent[0].path).parent
        found = sorted(path.name for path in subfolder.glob("*"))
        raise FileNotFoundError(
            f"{folder} does not contain {', '.join(file.path for file in absent)}. Get "
            f"it from {', '.join(file.urls[0] for file in absent)}, or do not set a "
            "folder (`data_dir`, KERAS_VAF_DATA_DIR), so that it is downloaded. "
            f"Received: {', '.join(found) or 'no file'} in {subfolder}"
        )
    read = _read_checked if given else _fetch_unless_there
    return source, [read(file, folder) for file in source.files]


def _read_checked(file: File, folder: Path) -> bytes:
    content = (folder / file.path).read_bytes()
    if not is_right(content, file):
        where = f" from {file.urls[0]}" if file.urls else ""
        raise ValueError(
            f"{folder / file.path} is not the publisher's file: "
            f"{_difference(content, file)}. Replace it by a fresh copy{where}."
        )
    return content


def is_right(content: bytes, file: File) -> bool:
    """Return whether bytes have the checksum of a file, or the words of a text."""
    if hashlib.sha256(content).hexdigest() == file.sha256:
        return True
    if file.words is not None:
        words = b" ".join(content.split())
        return hashlib.sha256(words).hexdigest() == file.words
    blob = b"blob %d\0%b" % (len(content), content)
    return hashlib.sha1(blob).hexdigest() == file.git_blob


def _difference(content: bytes, file: File) -> str:
    """Say, as a part of a sentence, what bytes with a wrong checksum are."""
    if file.size is not None and len(content) < file.size:
        return f"it has {len(content)} bytes instead of {file.size}"
    return f"its SHA-256 is {hashlib.sha256(content).hexdigest()}"


def _fetch_unless_there(file: File, folder: Path) -> bytes:
    """Return a file of the cache; fetch it if it is missing or wrong."""
    path, failures = folder / file.path, []
    if path.is_file() and is_right(content := path.read_bytes(), file):
        return content
    for url in file.urls:
        try:
            content = _download(url, file)
        except (OSError, http.client.HTTPException) as error:
            failures.append(f"{url}: {error}")
            continue
        if is_right(content, file):
            break
        failures.append(f"{url} gives another file: {_difference(content, file)}")
    else:
        raise OSError(
            f"{file.path} could not be fetched ({'; '.join(failures)}). Go online, or "
            f"get the file in another way and save it as {path}."
        )
    try:
        write_atomically(path, content)
    except OSError as error:
        raise OSError(
            f"{path} could not be written: {error.strerror}. Free some space, or set "
            "the environment variable KERAS_HOME to another folder."
        ) from error
    return content


def _download(url: str, file: File) -> bytes:
    # Line ends and blanks of a text may differ from those of the known copy.
    most = (file.size or _MOST_BYTES) * (2 if file.words else 1)
    with urllib.request.urlopen(url, timeout=_SECONDS_OF_SILENCE) as response:
        size = f" ({file.size / 1e6:.1f} MB)" if file.size else ""
        print(f"Fetching {file.path}{size} from {url}", file=sys.stderr, flush=True)
        content: bytes = response.read(most + 1)
    if len(content) > most:
        raise OSError(f"it sends more than {most} bytes")
    return content

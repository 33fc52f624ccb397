"""`read_files`, which finds or downloads the publishers' files.

Nothing here decompresses or parses a file, so that no file with a wrong checksum is
interpreted. `keras.utils.get_file` waits without end for a server that falls silent,
keeps a file with a wrong checksum, and knows no checksum that ignores line ends.
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

_BUNDLED = Path(__file__).parent / "bundled"
_SECONDS_OF_SILENCE = 30
_MOST_BYTES = 1 << 26  # of a file of unknown size


def cache_folder() -> Path:
    """Return the folder for downloaded files, next to the data of Keras."""
    home = os.environ.get("KERAS_HOME") or Path.home() / ".keras"
    return Path(home) / "datasets" / "keras_vaf"


def read_files(
    entry: Entry, data_dir: str | os.PathLike[str] | None = None
) -> tuple[Source, list[bytes]]:
    """Return the first form of a dataset that is there, and its checked files.

    If `data_dir` or the environment names a folder, the files must be in it. Otherwise
    they are downloaded into the cache, unless they are there or in this package.
    """
    given = data_dir or os.environ.get("KERAS_VAF_DATA_DIR")
    folder = Path(given) if given else cache_folder()
    if data_dir and not folder.is_dir():
        raise FileNotFoundError(f"`data_dir` must be a folder. Received: {folder}")
    there = [source for source in entry.sources if _is_there(source, folder)]
    fetched = [s for s in entry.sources if s.files and all(f.urls for f in s.files)]
    source, contents = (there + fetched)[0], []
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
    for file in source.files:
        path = folder / file.path
        places = [path] if given else [path, _BUNDLED / file.path]
        held = [place.read_bytes() for place in places if place.is_file()]
        right = [content for content in held if is_right(content, file)]
        if given and not right:
            raise ValueError(
                f"{path} is not the publisher's file: {_difference(held[0], file)}. "
                f"Replace it by a fresh copy from {(*file.urls, entry.publisher)[0]}."
            )
        contents.append(right[0] if right else fetch(file, path))
    return source, contents


def _is_there(source: Source, folder: Path) -> bool:
    if not source.files:
        return importlib.util.find_spec("sklearn") is not None
    return all((folder / file.path).is_file() for file in source.files)


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


def fetch(file: File, path: Path) -> bytes:
    """Download a file from the first address that has it, write it and return it."""
    failures = []
    for url in file.urls:
        try:
            content = _download(url, file)
            if is_right(content, file):
                break
            failures.append(f"{url} gives another file: {_difference(content, file)}")
        except (OSError, http.client.HTTPException) as error:
            failures.append(f"{url}: {error}")
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

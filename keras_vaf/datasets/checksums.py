"""`verify_files` and `read_checked`, which compare files with the catalogue.

This module never decompresses or parses a file, so a file with a wrong checksum is
never interpreted.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from keras_vaf.datasets.catalogue import CATALOGUE, Entry, File

_GZIP = b"\x1f\x8b"


def is_right(content: bytes, file: File) -> bool:
    """Return whether the bytes are those of a file of the catalogue.

    Args:
        content: The bytes.
        file: The file that they should be.

    Returns:
        Whether one of the known checksums matches. Line endings and spacing of a text
        file may differ.
    """
    if hashlib.sha256(content).hexdigest() == file.sha256:
        return True
    if file.words is not None:
        words = b" ".join(content.split())
        return hashlib.sha256(words).hexdigest() == file.words
    blob = b"blob %d\0%b" % (len(content), content)
    return hashlib.sha1(blob).hexdigest() == file.git_blob


def read_checked(file: File, folder: Path) -> bytes:
    """Read a file of the catalogue from a folder.

    Args:
        file: The file.
        folder: A data folder with a file at this path.

    Returns:
        The bytes of the file.

    Raises:
        ValueError: If the file in the folder differs or is incomplete.
    """
    content = (folder / file.path).read_bytes()
    if not is_right(content, file):
        where = f" from {file.urls[0]}" if file.urls else ""
        raise ValueError(
            f"{folder / file.path} is not the publisher's file: "
            f"{difference(content, file)}. Replace it by a fresh copy{where}."
        )
    return content


def check_there(entry: Entry, folder: Path) -> dict[str, str]:
    """Check the files of a dataset in a folder.

    Args:
        entry: The catalogue entry of the dataset.
        folder: The folder.

    Returns:
        A dictionary from the path of each file in the folder to a sentence that states
        what is wrong with the file, or `""`.
    """
    results = {}
    for file in (file for source in entry.sources for file in source.files):
        if (folder / file.path).is_file():
            try:
                read_checked(file, folder)
                results[file.path] = ""
            except ValueError as error:
                results[file.path] = str(error)
    return results


class VerifiedFile(NamedTuple):
    """The result for one file.

    Attributes:
        dataset: Name of the dataset.
        path: Path of the file in the data folder. `None` if the folder has no file of
            the dataset.
        problem: Difference from the publisher's file, or `""`.
    """

    dataset: str
    path: str | None
    problem: str = ""


def verify_files(folder: Path) -> Iterator[VerifiedFile]:
    """Check the publishers' files in a data folder, each file once.

    Args:
        folder: The data folder.

    Yields:
        The result for each file, and one result without a path for each dataset that
        has no file in the folder.

    Raises:
        FileNotFoundError: If the folder does not exist.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"The data folder {folder} does not exist")
    seen: set[str] = set()
    for entry in CATALOGUE:
        there = check_there(entry, folder)
        if not there:
            yield VerifiedFile(entry.name, None)
        for path, problem in there.items():
            if path not in seen:
                yield VerifiedFile(entry.name, path, problem)
        seen |= there.keys()


def difference(content: bytes, file: File) -> str:
    """Describe bytes with a wrong checksum, as a part of a sentence.

    Args:
        content: The bytes.
        file: The file that they should be.

    Returns:
        The path of another file of the catalogue with these bytes, or the difference
        between the bytes and the expected file.
    """
    digest = hashlib.sha256(content).hexdigest()
    sources = (source for entry in CATALOGUE for source in entry.sources)
    for other in (other for source in sources for other in source.files):
        if other.sha256 == digest:
            return f"it is {other.path}"
    if content.startswith(_GZIP) and not file.path.endswith(".gz"):
        return "it is compressed by gzip"
    if file.size is not None and len(content) < file.size:
        return f"it has {len(content)} bytes instead of {file.size}"
    return f"its SHA-256 is {digest}"

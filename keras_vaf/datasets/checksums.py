"""Checksums: `verify_files` compares a folder's files with the publishers'."""

import gzip
import hashlib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from keras_vaf.datasets.catalogue import CATALOGUE, Entry, File


def is_right(content: bytes, file: File) -> bool:
    """Tell whether these bytes are a file of the catalogue.

    Args:
        content: The bytes.
        file: The file that they should be.

    Returns:
        Whether one of the known checksums fits. A text file may have other line ends
        and blanks.
    """
    if hashlib.sha256(content).hexdigest() == file.sha256:
        return True
    if file.words is not None:
        words = b" ".join(content.split())
        return hashlib.sha256(words).hexdigest() == file.words
    blob = b"blob %d\0%b" % (len(content), content)
    return hashlib.sha1(blob).hexdigest() == file.git_blob


def read_checked(file: File, folder: Path) -> bytes:
    """Read a file from a folder, or say what stands in its place.

    Args:
        file: The file.
        folder: A data folder that holds a file at this path.

    Returns:
        The bytes of the file.

    Raises:
        ValueError: If the file there is another one, or not whole.
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
    """Check all files of a dataset that a folder holds.

    Args:
        entry: What the catalogue says of the dataset.
        folder: The folder.

    Returns:
        For each file that is there, by its path, what is wrong with it, or `""`.
    """
    results = {}
    for source in entry.sources:
        for file in source.files:
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
    """Return, in words, what bytes are that are not a file of the catalogue.

    Args:
        content: The bytes.
        file: The file that they should be.

    Returns:
        Part of a sentence: another file's name, or how they differ.
    """
    digest = hashlib.sha256(content).hexdigest()
    for entry in CATALOGUE:
        for source in entry.sources:
            for other in source.files:
                if other.sha256 == digest:
                    return f"it is {other.path}"
    if _is_right_inside(content, file):
        return "it was compressed by gzip once more"
    if file.size is not None and len(content) < file.size:
        return f"it has {len(content)} bytes instead of {file.size}"
    return f"its SHA-256 is {digest}"


def _is_right_inside(content: bytes, file: File) -> bool:
    try:
        return is_right(gzip.decompress(content), file)
    except (OSError, EOFError, zlib.error):
        return False

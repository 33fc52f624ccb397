"""Check of a data folder: `verify_files` compares its files with the publishers'."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from keras_vaf.datasets import catalogue
from keras_vaf.datasets.checksums import check_there


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
        FileNotFoundError: If there is no such folder.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no data folder at {folder}")
    seen: set[str] = set()
    for entry in catalogue.CATALOGUE:
        there = check_there(entry, folder)
        if not there:
            yield VerifiedFile(entry.name, None)
        for path, problem in there.items():
            if path not in seen:
                yield VerifiedFile(entry.name, path, problem)
        seen |= there.keys()

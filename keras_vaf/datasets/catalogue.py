"""`CATALOGUE` and `find`: the datasets of the paper, as `catalogue.json` has them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from keras_vaf.datasets.dataset import Task
from keras_vaf.utils import check_choice


@dataclass(frozen=True)
class File:
    """A file of a publisher, with the checksums that identify its content."""

    path: str  # in the data folder, with forward slashes
    size: int | None = None  # in bytes
    sha256: str | None = None  # of the bytes
    words: str | None = None  # SHA-256 of the words of a text, joined by single spaces
    git_blob: str | None = None  # id, if the SHA-256 is unknown
    urls: tuple[str, ...] = ()  # the publisher's first; one on GitHub names a commit
    note: str = ""  # origin of the copy, if it may differ from the publisher's


@dataclass(frozen=True)
class Source:
    """One form in which a dataset is available."""

    format: str  # ending of the name of the reader in `keras_vaf.datasets.parsers`
    files: tuple[File, ...] = ()  # all of which are needed; none for scikit-learn
    options: Mapping[str, Any] = field(default_factory=dict)  # arguments of the reader
    note: str = ""  # for users


@dataclass(frozen=True)
class Size:
    """Number of rows, inputs and classes; `classes` is `None` for regression."""

    rows: int
    inputs: int
    classes: int | None = None


@dataclass(frozen=True)
class Entry:
    """A dataset of the paper.

    Args:
        name: Short name, as for `load`.
        paper_name: Name in the paper's table.
        size: Size of the loaded dataset.
        publisher: Page of the publisher.
        licence: Licence of the data.
        citation: Authors and publication.
        sources: Forms in which the dataset is available, preferred form first.
        paper_size: Size in the paper's table, if it differs.
        difference: Reason why the two sizes differ, and other remarks.
        target: Name of the target column of a table; `""` for images.
        labels: Class labels as written in the target column, in the order of the class
            indices; empty for regression.
        class_names: Names of the classes; if empty, the labels.
        left_out: Columns that are neither inputs nor target, with the reason.
        categories: Columns of categories, with the names of the categories.
        missing: Text that stands for a missing entry.
    """

    name: str
    paper_name: str
    size: Size
    publisher: str
    licence: str
    citation: str
    sources: tuple[Source, ...]
    paper_size: Size | None = None
    difference: str = ""
    target: str = ""
    labels: tuple[str, ...] = ()
    class_names: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    missing: tuple[str, ...] = ()

    @property
    def task(self) -> Task:
        """`"classification"` or `"regression"`."""
        return "regression" if self.size.classes is None else "classification"


def _record(pairs: list[tuple[str, Any]]) -> Any:
    """Return the record that an object of the JSON file is, or a dictionary."""
    values = {n: tuple(v) if isinstance(v, list) else v for n, v in pairs}
    # A key that only objects of this kind have.
    kinds = {"paper_name": Entry, "format": Source, "path": File, "rows": Size}
    found = [kind for key, kind in kinds.items() if key in values]
    return found[0](**values) if found else values


_FILE = Path(__file__).with_suffix(".json")
CATALOGUE: tuple[Entry, ...] = tuple(
    json.loads(_FILE.read_text("utf-8"), object_pairs_hook=_record)
)
"""The datasets of the paper, in the order of its table."""


def find(name: str) -> Entry:
    """Return the catalogue entry of a dataset.

    Raises:
        ValueError: If the catalogue does not contain a dataset of this name.

    Example:

    >>> find("wine").size
    Size(rows=178, inputs=13, classes=3)
    """
    entries = {entry.name: entry for entry in CATALOGUE}
    return entries[check_choice("name", name, entries)]

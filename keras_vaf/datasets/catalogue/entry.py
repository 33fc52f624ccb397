"""What the catalogue says about a dataset and its files."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from keras_vaf.datasets.dataset import Task
from keras_vaf.datasets.scaling import Scaling


@dataclass(frozen=True)
class File:
    """A file of a publisher, and how to know it by its content.

    Args:
        path: Its place in a data folder, with forward slashes.
        size: Its size in bytes; `None` if not known.
        sha256: SHA-256 of its bytes.
        words: SHA-256 of its words joined by single blanks, for a text file: the same
            whatever the line ends and blanks.
        git_blob: Its git blob id, where no SHA-256 is known.
        urls: Where to fetch it, the publisher first.
        note: How the copy of this size and SHA-256 came about, where it may differ
            from the publisher's.
    """

    path: str
    size: int | None = None
    sha256: str | None = None
    words: str | None = None
    git_blob: str | None = None
    urls: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Source:
    """One form in which a dataset comes.

    Args:
        read: Function that takes the bytes of all files, decompressed, and returns a
            `Table`, or images and labels.
        files: The files, all of them needed.
        package: An installed package that brings the data instead of files.
        rows: Number of rows, if it is not the dataset's.
        note: What a user must know about this form.
    """

    read: Callable[..., Any]
    files: tuple[File, ...] = ()
    package: str | None = None
    rows: int | None = None
    note: str = ""


@dataclass(frozen=True)
class Size:
    """Rows, inputs and classes of a dataset; `classes` is `None` for regression."""

    rows: int
    inputs: int
    classes: int | None = None


@dataclass(frozen=True)
class Entry:
    """A dataset of the paper.

    Args:
        name: Short name, which `load` takes.
        paper_name: Name in the paper's table.
        size: Size as loaded.
        paper_size: Size in the paper's table, if another.
        difference: Why the two sizes differ, and what else a reader must know.
        publisher: Page of the publisher.
        licence: Licence of the data.
        citation: Who made the data, and where it was published.
        sources: Forms in which it comes, the preferred one first.
        target: Name of the target column of a table.
        labels: Class labels as they stand in the target column, in the order of the
            class indices; empty for regression.
        class_names: What the classes are called; the labels if empty.
        left_out: Columns that are neither inputs nor target, and why.
        categories: Columns that hold categories, and their names.
        missing: What stands for a missing entry.
        target_scaling: Scaling of the targets that the paper's errors imply.
        image_shape: Height, width and channels of images; `None` for a table.
        test_rows: How many rows at the end are the publisher's test part.
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
    target_scaling: Scaling = "none"
    image_shape: tuple[int, int, int] | None = None
    test_rows: int = 0

    @property
    def task(self) -> Task:
        """`"classification"` or `"regression"`."""
        return "regression" if self.size.classes is None else "classification"

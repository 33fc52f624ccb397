"""`Dataset`, the inputs and targets of a table or of images, as arrays."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from keras_vaf.datasets.tables.columns import Column
from keras_vaf.utils import check_choice, check_kind, checksum

Task = Literal["classification", "regression"]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Inputs and targets as arrays, with the names needed to read them.

    The values are the unscaled values of the source. `Preprocessing` turns them into
    the inputs of a network.

    Args:
        name: Short name, such as `"wine"`.
        task: `"classification"` or `"regression"`.
        x: Inputs, float32, rows first: `(rows, inputs)` for a table and
            `(rows, height, width, channels)` for images. A missing entry is NaN, and
            a category is its index in `categories`.
        y: Targets, one per row: int64 class indices from 0, or float32; float64 where
            float32 would round too much.
        feature_names: Names of the columns of a table; empty for images.
        class_names: Names of the classes in the order of their indices; `None` for
            regression.
        categories: For each column of `x` that contains categories, the names of the
            categories in the order of their indices.
        source: Origin of the values.
        columns: How cells of a table become the columns of `x`. The default makes them
            numbers and categories.
        target: Name of the target in a table.
        groups: One number per row. Rows with equal numbers stay in the same fold.
        times: One number per row. The test rows of a fold are later than its training
            rows.
        notes: Decisions made when the table was read, as sentences.

    Raises:
        ValueError: If the arrays do not have these types and sizes.

    Example:

    >>> x = np.array([[0.0], [1.0]], dtype="float32")
    >>> Dataset("steps", "classification", x, np.array([0, 1]), ("t",), ("no", "yes"))
    Dataset('steps', classification, 2 rows, 1 input, 2 classes)
    """

    name: str
    task: Task
    x: np.ndarray
    y: np.ndarray
    feature_names: tuple[str, ...] = ()
    class_names: tuple[str, ...] | None = None
    categories: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    source: str = ""
    columns: tuple[Column, ...] = ()
    target: str = ""
    groups: np.ndarray | None = None
    times: np.ndarray | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the types and the sizes of the arrays."""
        check_kind("name", self.name, str)
        check_choice("task", self.task, get_args(Task))
        check_kind("x", self.x, np.ndarray)
        check_kind("y", self.y, np.ndarray)
        if self.x.dtype != np.float32 or self.x.ndim < 2:
            raise ValueError(
                "`x` must be a float32 array with the rows first and at least two "
                f"axes. Received: {self.x.dtype} of shape {self.x.shape}"
            )
        if self.x.ndim == 2 and len(self.feature_names) != self.x.shape[1]:
            raise ValueError(
                "`feature_names` must name every column of `x`. Received: "
                f"{len(self.feature_names)} names for {self.x.shape[1]} columns"
            )
        self._check_targets()
        if self.x.ndim == 2 and not self.columns:
            named = self.categories
            columns = (
                Column(name, "category" if n in named else "number", named.get(n, ()))
                for n, name in enumerate(self.feature_names)
            )
            object.__setattr__(self, "columns", tuple(columns))

    def _check_targets(self) -> None:
        expected = "int64" if self.task == "classification" else "float32"
        good = self.y.dtype in (expected, expected.replace("32", "64"))
        if not good or self.y.shape != self.x.shape[:1]:
            raise ValueError(
                f"`y` must have one {expected} for each of the {len(self.x)} "
                f"rows of `x`. Received: {self.y.dtype} of shape {self.y.shape}"
            )
        if (self.task == "classification") != (self.class_names is not None):
            raise ValueError(
                "`class_names` must be given for classification and be None for "
                f"regression. Received: class_names={self.class_names!r}"
            )
        classes = self.class_names
        if classes is not None and not np.isin(self.y, np.arange(len(classes))).all():
            raise ValueError(
                f"`y` must contain class indices from 0 to {len(classes) - 1}. "
                f"Received: values from {self.y.min()} to {self.y.max()}"
            )

    @cached_property
    def checksum(self) -> str:
        """SHA-256 of the types, shapes and values of `x`, `y`, `groups` and `times`.

        It is equal for equal arrays and does not depend on the file format.
        """
        division = (array for array in (self.groups, self.times) if array is not None)
        return checksum((self.x, self.y, *division))

    def __repr__(self) -> str:
        """Return one line that describes the dataset without its values."""
        inputs = " x ".join(map(str, self.x.shape[1:]))
        parts = [f"{self.name!r}", self.task, f"{len(self.x)} rows"]
        parts.append(f"{inputs} input" + ("" if inputs == "1" else "s"))
        if self.class_names is not None:
            parts.append(f"{len(self.class_names)} classes")
        return f"Dataset({', '.join(parts)})"

"""`Roles`, which states how the columns of a table are used."""

from dataclasses import dataclass
from typing import Literal, get_args

from keras_vaf.datasets.dataset import Task
from keras_vaf.utils import check_choice, check_flag

DateOrder = Literal["day-first", "month-first"]


@dataclass(frozen=True)
class Roles:
    """The user's choices of how the columns of a table are used.

    Attributes:
        target: Name of the column to predict.
        task: `"classification"` or `"regression"`; `None` decides by the values.
        categories: Names of the input columns that contain categories.
        ignore: Names of columns that are not inputs.
        groups: Name of the column whose equal entries stay in the same fold.
        time: Name of the column that orders the rows in time.
        dates: Order of day and month in dates such as 1/2/2024.
        allow_missing: Whether entries may be missing.
        na: Additional words that stand for a missing entry.
        decimal: Decimal mark of numbers in text, if the user names it.
        likely_decimal: The comma, if most numbers of a file have it.
    """

    target: str
    task: Task | None = None
    categories: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    groups: str | None = None
    time: str | None = None
    dates: DateOrder | None = None
    allow_missing: bool = True
    na: tuple[str, ...] = ()
    decimal: str | None = None
    likely_decimal: str | None = None

    def __post_init__(self) -> None:
        """Check the options."""
        check_flag("allow_missing", self.allow_missing)
        if self.task is not None:
            check_choice("task", self.task, get_args(Task))
        if self.dates is not None:
            check_choice("dates", self.dates, get_args(DateOrder))
        if self.groups is not None and self.time is not None:
            raise ValueError(
                "Rows are split by `groups` or by `time`, not by both. Received: "
                f"groups={self.groups!r}, time={self.time!r}"
            )
        for name in ("groups", "time"):
            if getattr(self, name) == self.target:
                raise ValueError(
                    f"`{name}` must be another column than the target. "
                    f"Received: {name}={self.target!r}, target={self.target!r}"
                )

    @property
    def named(self) -> dict[str, str]:
        """The role of each column that the user names."""
        return {
            **dict.fromkeys(self.ignore, "a column to ignore"),
            **dict.fromkeys(self.categories, "a category"),
            **({self.groups: "the groups"} if self.groups else {}),
            **({self.time: "the time"} if self.time else {}),
            self.target: "the target",
        }

    def inputs(self, names: list[str]) -> list[str]:
        """Return the names of the columns that are inputs."""
        others = {self.target, self.groups, self.time, *self.ignore}
        return [name for name in names if name not in others]

"""`Experiment`, an experiment as data, and `Reproduction`, its reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from keras_vaf.datasets import Dataset
from keras_vaf.experiments.protocol import Protocol
from keras_vaf.experiments.reports.report import Report
from keras_vaf.experiments.reports.store import file_name
from keras_vaf.experiments.results.result import Published
from keras_vaf.experiments.results.selection import Selection
from keras_vaf.experiments.results.table import Table
from keras_vaf.utils import check_choice, check_distinct

Manner = Literal["paper", "ours"]


@dataclass(frozen=True)
class Form:
    """The form in which an experiment is run.

    Attributes:
        manner: `"paper"`, as published, or `"ours"`, with longer training.
        quick: Whether to run the quick version, which takes minutes.
        architectures: Widths of the hidden layers to train; `()` trains all.
        activations: Names of the activations to train; `()` trains all.
        settings: Other values of the protocols' fields, as in `with_settings`.

    Raises:
        ValueError: If the manner is unknown, or if an architecture or an activation
            occurs twice.
    """

    manner: Manner = "paper"
    quick: bool = False
    architectures: tuple[tuple[int, ...], ...] = ()
    activations: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise a `ValueError` for an unknown manner or equal values."""
        check_choice("manner", self.manner, get_args(Manner))
        check_distinct("architectures", self.architectures)
        check_distinct("activations", self.activations)

    @property
    def title(self) -> str:
        """Description in titles of tables."""
        quick = ["quick form"] if self.quick else []
        return ", ".join([f"protocol {self.manner}", *quick, *self.settings])

    @property
    def name(self) -> str:
        """Description in names of files."""
        quick = ["quick"] if self.quick else []
        return "-".join([self.manner, *quick, *map(file_name, self.settings)])


@dataclass(frozen=True)
class Experiment:
    """An experiment: its datasets, protocols and table.

    Attributes:
        name: Name on the command line.
        title: Name in tables.
        datasets: Names of the datasets, in the paper's order.
        protocols: Function that returns the protocols of a dataset.
        table: Function that makes the table and its pictures from the reports.
        published: The numbers that the paper reports; `()` if there are none.
        metric: The score that is compared with the published numbers.
        architectures: Widths of hidden layers that a form can name.
        quick_rows: Most rows of a dataset in the quick form; `None` has no limit.
        functions: Whether the files next to a table contain the learned functions.
        ours: Names of further datasets of the manner `"ours"`.
        more: Returns further protocols of the manner `"ours"` from the reports of a
            dataset; it is called until it returns none. `None` adds no protocols.
    """

    name: str
    title: str
    datasets: tuple[str, ...]
    protocols: Callable[[Dataset, Form], list[Protocol]]
    table: Callable[[Reproduction, Selection], Table]
    published: tuple[Published, ...]
    metric: str = "accuracy"
    architectures: tuple[tuple[int, ...], ...] = ()
    quick_rows: int | None = None
    functions: bool = False
    ours: tuple[str, ...] = ()
    more: Callable[[Sequence[Report]], list[Protocol]] | None = None

    def datasets_of(self, manner: Manner) -> tuple[str, ...]:
        """Return the names of the datasets of a manner."""
        return (*self.datasets, *(self.ours if manner == "ours" else ()))


@dataclass(frozen=True)
class Reproduction:
    """The reports of an experiment.

    Attributes:
        experiment: The experiment.
        form: The form that was run.
        reports: One report per trained cell, those of earlier runs included.
        left_out: Names of datasets that the quick form leaves out.
        set_aside: New names of files that were not valid reports of their cells.
        others: Number of other protocols on the same data in the folder.
    """

    experiment: Experiment
    form: Form
    reports: tuple[Report, ...]
    left_out: tuple[str, ...] = ()
    set_aside: tuple[Path, ...] = ()
    others: int = 0

    @property
    def title(self) -> str:
        """Heading of the table."""
        return f"{self.experiment.title}: {self.form.title}"

    @property
    def notes(self) -> list[str]:
        """Note on the datasets that the quick form leaves out."""
        if not self.left_out:
            return []
        return [f"Left out, as too large: {', '.join(self.left_out)}."]

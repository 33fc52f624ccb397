"""What an experiment of the paper is, as data, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from keras_vaf.datasets import Dataset
from keras_vaf.experiments.protocol import Protocol
from keras_vaf.experiments.reports.report import Report
from keras_vaf.experiments.reports.store import file_name
from keras_vaf.experiments.results.result import REFERENCES, Published
from keras_vaf.experiments.results.selection import Selection
from keras_vaf.experiments.results.table import Table
from keras_vaf.utils import check_choice

Manner = Literal["paper", "ours"]


@dataclass(frozen=True)
class Form:
    """Which form of an experiment is run.

    Attributes:
        manner: `"paper"`, as published, or `"ours"`, as a careful person would.
        quick: Whether it is the small form, which takes minutes.
        architectures: Widths of the hidden layers to train; none are all.
        activations: Names of the activations to train; none are all.
        settings: Fields of the protocols that get another value, as in
            `with_settings`.

    Raises:
        ValueError: If there is no such manner.
    """

    manner: Manner = "paper"
    quick: bool = False
    architectures: tuple[tuple[int, ...], ...] = ()
    activations: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a manner that does not exist."""
        check_choice("manner", self.manner, get_args(Manner))

    @property
    def title(self) -> str:
        """What a table says of it."""
        quick = ["quick form"] if self.quick else []
        return ", ".join([f"protocol {self.manner}", *quick, *self.settings])

    @property
    def name(self) -> str:
        """What a file's name says of it."""
        quick = ["quick"] if self.quick else []
        return "-".join([self.manner, *quick, *map(file_name, self.settings)])


@dataclass(frozen=True)
class Experiment:
    """One of the paper's experiments: what it trains, and what is made of the reports.

    Attributes:
        name: Its name on the command line.
        title: Its name in tables.
        datasets: Names of its data, in the paper's order.
        protocols: Returns what is trained on a dataset.
        table: Makes the table and its pictures from the reports.
        published: The numbers that the paper reports; `()` if there are none.
        metric: The score that is compared with them.
        architectures: Widths of hidden layers that can be chosen from.
        quick_rows: Datasets of more rows are left out of the quick form; `None` leaves
            out none.
        functions: Whether the learned functions are kept with the table.
        references: Names of the activations to compare with, as in `selected_results`.
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
    references: Mapping[str, str] = field(default_factory=lambda: REFERENCES)


@dataclass(frozen=True)
class Reproduction:
    """What became of an experiment.

    Attributes:
        experiment: The experiment.
        form: The form that was run.
        reports: One report per cell that is trained, those of earlier runs included.
        missing: Number of cells that other shards have to train.
        left_out: Names of datasets that the quick form leaves out.
        set_aside: Files that were no reports of their cells, under their new names.
        others: Number of other protocols on the same data in the folder.
    """

    experiment: Experiment
    form: Form
    reports: tuple[Report, ...]
    missing: int = 0
    left_out: tuple[str, ...] = ()
    set_aside: tuple[Path, ...] = ()
    others: int = 0

    @property
    def title(self) -> str:
        """Heading of its table."""
        return f"{self.experiment.title}: {self.form.title}"

    @property
    def notes(self) -> list[str]:
        """Which data the quick form leaves out."""
        if not self.left_out:
            return []
        return [f"Left out, as too large: {', '.join(self.left_out)}."]

"""`Protocol`, all settings of a cross-validated training except the seed."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from keras_vaf.datasets import Dataset, Preprocessing
from keras_vaf.experiments.optimizer import RPROP, Optimizer
from keras_vaf.experiments.variants import Variant
from keras_vaf.training.network_trainer import check_width, widest
from keras_vaf.utils import (
    build,
    check_choice,
    check_distinct,
    check_integer,
    check_kinds,
    check_positive,
    check_seeds,
    check_sizes,
)

_NETWORKS = ("mlp", "cnet", "nin")
_REFERENCES = ("linear", "trees")


@dataclass(frozen=True)
class Architecture:
    """A kind of network as data: the function that builds it, and its arguments.

    Attributes:
        name: A function in `keras_vaf.models`: `"mlp"`, `"cnet"` or `"nin"`; or
            `"linear"` or `"trees"` for a reference without a network.
        arguments: Arguments of the function for which the protocol does not have
            fields, as JSON values.

    Example:

    >>> Architecture("cnet").name
    'cnet'
    """

    name: str = "mlp"
    arguments: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise a `ValueError` for an unknown name."""
        check_choice("architecture", self.name, (*_NETWORKS, *_REFERENCES))


@dataclass(frozen=True)
class Protocol:
    """All settings of a cross-validated training, except for the seed.

    A protocol trains one variant in one architecture on one dataset. The protocols of a
    comparison differ in one field; use `dataclasses.replace` to make them.

    Attributes:
        dataset: Name of the data.
        checksum: Hash of the rows, so that changed data define a new protocol.
        task: `"classification"` or `"regression"`.
        variant: The activation after each hidden layer.
        hidden: Widths of the hidden layers: units, or filters of convolutions.
        preprocessing: Scaling and encoding, fitted on the training rows.
        optimizer: The optimizer.
        epochs: Largest number of epochs.
        patience: Number of epochs without a better validation loss after which training
            stops. `None` trains for all `epochs`.
        batch_size: Rows per mini-batch; `None` for the full batch.
        folds: Number of folds, which are stratified by class.
        validation_fraction: Share of the rows outside of the test fold that select the
            best epoch.
        rates: Learning rates in place of that of the optimizer. A cell has one training
            for each, and selects among them (Algorithm 2 of the paper).
        replicas: Number of networks that are trained together. It affects rounding, so
            a different number defines a new protocol.
        architecture: The kind of network.
        rows: Number of rows to use, drawn at random and stratified by class; `None`
            uses all rows.
        test_rows: Number of rows in the publisher's test part, at the end of the data.
            It requires `folds=1`. 0 uses folds.
        test_fraction: Share of test rows. Each fold then draws its test rows
            independently, and `folds` is the number of repetitions. `None` means
            cross-validation.
        starts: Number of starts at each learning rate, with one training each.

    Raises:
        ValueError: If a count is not a positive integer, or if a learning rate is not
            positive or occurs twice.
    """

    dataset: str
    checksum: str
    task: str
    variant: Variant
    hidden: tuple[int, ...] = (100, 50)
    preprocessing: Preprocessing = field(default_factory=Preprocessing)
    optimizer: Optimizer = RPROP
    epochs: int = 300
    patience: int | None = None
    batch_size: int | None = None
    folds: int = 10
    validation_fraction: float = 0.2
    rates: tuple[float, ...] = ()
    replicas: int = 1
    architecture: Architecture = Architecture()
    rows: int | None = None
    test_rows: int = 0
    test_fraction: float | None = None
    starts: int = 1

    def __post_init__(self) -> None:
        """Raise a `ValueError` for numbers that are out of range."""
        for name in ("epochs", "folds", "replicas", "starts"):
            check_integer(name, getattr(self, name))
        for name in ("patience", "batch_size", "rows"):
            if getattr(self, name) is not None:
                check_integer(name, getattr(self, name))
        check_sizes("hidden", self.hidden)
        for place, rate in enumerate(self.rates):
            check_positive(f"rates[{place}]", rate)
        check_distinct("rates", self.rates)

    @classmethod
    def of(cls, dataset: Dataset, variant: Variant, **fields: Any) -> Protocol:
        """Return a protocol for a dataset. Regression targets are standardised.

        Args:
            dataset: The data.
            variant: The activation after each hidden layer.
            **fields: Other fields.
        """
        targets: Any = "standard" if dataset.task == "regression" else "none"
        defaults = {"preprocessing": Preprocessing(targets=targets)}
        known = dataset.name, dataset.checksum, dataset.task, variant
        return cls(*known, **(defaults | fields))

    @functools.cached_property
    def digest(self) -> str:
        """First eight hexadecimal digits of the hash of all fields."""
        text = json.dumps(dataclasses.asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    @property
    def is_reference(self) -> bool:
        """True for a model without activations, which is trained for reference."""
        return self.architecture.name in _REFERENCES

    @property
    def metric(self) -> str:
        """Name of the test score: accuracy or root mean square error."""
        return "accuracy" if self.task == "classification" else "rmse"

    @property
    def trials(self) -> int:
        """Number of trainings in a cell."""
        return len(self.tries)

    @property
    def tries(self) -> list[tuple[int, float | None]]:
        """The trainings of a cell: every start at every learning rate."""
        rates = self.rates or (None,)
        return [(start, rate) for start in range(self.starts) for rate in rates]

    @property
    def cells_at_once(self) -> int:
        """Number of cells whose networks are trained together.

        With early stopping, this number is large enough to fill a batch with networks
        of one learning rate, because they stop after similar numbers of epochs.
        """
        alike = self.trials // self.rates_at_once
        return min(self.folds, max(1, self.replicas // alike))

    @property
    def rates_at_once(self) -> int:
        """Number of learning rates that can be trained in separate batches."""
        return len(self.rates or (0,)) if self.patience is not None else 1

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Protocol:
        """Return the protocol from its form in JSON, made by `dataclasses.asdict`.

        Raises:
            ValueError: If a field is missing, unknown or of a wrong type.
        """
        return build(cls, data, "protocol")


def with_replicas(protocol: Protocol, replicas: int | Literal["auto"]) -> Protocol:
    """Return the protocol with a given number of networks that are trained together.

    Args:
        protocol: A protocol.
        replicas: The number. `"auto"` means the number of trainings of one seed, up to
            a limit that suits the device. It means 1 on TensorFlow and PyTorch, and for
            convolutional networks, each of which keeps a device busy.

    Raises:
        ValueError: If the backend cannot train networks together.

    Example:

    >>> protocol = Protocol("wine", "c0ffee", "classification", VARIANTS[0])
    >>> with_replicas(protocol, 1).replicas
    1
    """
    if replicas == "auto" and protocol.architecture.name != "mlp":
        width = 1
    elif replicas == "auto":
        alike = protocol.trials // protocol.rates_at_once
        cells = min(protocol.folds, max(1, widest() // alike))
        width = min(cells * alike, widest())
        width *= max(1, min(protocol.rates_at_once, widest() // width))
    else:
        width = replicas
    check_width(width)
    return dataclasses.replace(protocol, replicas=width)


@dataclass(frozen=True)
class Cell:
    """The subject of one report: a protocol, a seed and the test fold.

    Example:

    >>> protocol = Protocol("wine", "c0ffee", "classification", VARIANTS[0], folds=2)
    >>> [(cell.seed, cell.fold) for cell in cells([protocol], seeds=[0])]
    [(0, 0), (0, 1)]
    """

    protocol: Protocol
    seed: int
    fold: int


def cells(protocols: Sequence[Protocol], seeds: Sequence[int]) -> list[Cell]:
    """Return all cells of the protocols, fold by fold.

    The protocols take turns, so that an interrupted run has some folds of all
    protocols.

    Raises:
        ValueError: If a seed or a protocol occurs twice: its cells would count twice.
    """
    check_kinds("protocols", protocols, Protocol)
    check_seeds("seeds", seeds)
    check_distinct("protocols", [protocol.digest for protocol in protocols])
    return [
        Cell(protocol, seed, fold)
        for seed in seeds
        for fold in range(max(protocol.folds for protocol in protocols))
        for protocol in protocols
        if fold < protocol.folds
    ]

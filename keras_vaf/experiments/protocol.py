"""What decides the outcome of a training, as frozen data."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import keras

from keras_vaf import optimizers
from keras_vaf.datasets import Dataset, Preprocessing
from keras_vaf.experiments.variants import Variant
from keras_vaf.training.network_trainer import check_width, widest


@dataclass(frozen=True)
class Optimizer:
    """An optimizer as data: its class and its constructor's arguments.

    Attributes:
        name: A class in `keras_vaf.optimizers` or else in `keras.optimizers`.
        arguments: Its arguments, as JSON can hold them.
        apart: Learning rate of the activation parameters in units of that of all other
            weights; they do not decay then. `None` treats all weights alike.
    """

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    apart: float | None = None

    def build(self, model: keras.Model | None = None) -> keras.optimizers.Optimizer:
        """Return a fresh optimizer.

        Args:
            model: The network to train, which is needed to treat activations apart.
        """
        scope = optimizers if hasattr(optimizers, self.name) else keras.optimizers
        optimizer = getattr(scope, self.name)(**self.arguments)
        if self.apart is None or model is None:
            return optimizer
        return optimizers.activations_apart(model, optimizer, self.apart)


RPROP = Optimizer("Rprop", {"learning_rate": 0.01, "eta_plus": 1.2, "eta_minus": 0.5})
"""Rprop as it is commonly used."""

PAPER_RPROP = Optimizer(
    "Rprop", {"learning_rate": 0.01, "eta_plus": 1.01, "eta_minus": 0.5}
)
"""Rprop as in the paper, which does not say what the first step was."""


@dataclass(frozen=True)
class Architecture:
    """A kind of network as data: what makes it, and its arguments.

    Attributes:
        name: A function in `keras_vaf.models`: `"mlp"`, `"cnet"` or `"nin"`.
        arguments: Its arguments, as JSON can hold them, beside those that the protocol
            has fields for.
    """

    name: str = "mlp"
    arguments: dict[str, Any] = field(default_factory=dict)


# What came later leaves the hash of a protocol that does without it as it was.
_LATER = (
    "architecture",
    "rows",
    "test_rows",
    "test_fraction",
    "starts",
    "categories",
    "apart",
)


@dataclass(frozen=True)
class Protocol:
    """All that decides a cross-validated training but the seed.

    A protocol trains one variant in one architecture on one dataset. Arms of a
    comparison are protocols that differ in one field; `dataclasses.replace` makes them.

    Attributes:
        dataset: Name of the data.
        checksum: Hash of the rows, so that changed data are another protocol.
        task: `"classification"` or `"regression"`.
        variant: The activation after each hidden layer.
        hidden: Widths of the hidden layers: units, or filters of convolutions.
        preprocessing: What happens to inputs and targets, fitted on training rows.
        optimizer: The optimizer.
        epochs: Largest number of epochs.
        patience: Epochs without a better validation loss after which training stops;
            `None` trains for all `epochs`.
        batch_size: Rows of a mini-batch; `None` is the full batch.
        folds: Number of folds; classes are stratified.
        validation_fraction: Share of the rows outside the test fold on which the best
            epoch is chosen.
        rates: Learning rates to try (Algorithm 2 of the paper), which take the place of
            the optimizer's; each is a training of its own, and a cell is all of them.
        replicas: Number of networks that are trained together. Another number rounds
            differently, so it is another protocol.
        architecture: The kind of network.
        rows: Number of rows that are used, drawn by the seed with their share of each
            class; `None` uses all.
        test_rows: Number of rows at the end of the data that are the test rows, in
            place of folds: the publisher's division, for `folds=1`.
        test_fraction: Share of the rows that a fold tests, drawn for it alone, so that
            `folds` is the number of repeats; `None` is a cross-validation.
        starts: Number of starts to try at each learning rate; each is a training.

    Raises:
        ValueError: If `epochs`, `replicas`, `rows` or `starts` is no positive integer,
            or a learning rate is not positive.
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
        """Refuse numbers that are out of range."""
        for name in ("epochs", "replicas", "rows", "starts"):
            value = getattr(self, name)
            if value is None and name == "rows":
                continue
            if not isinstance(value, int) or value < 1:
                raise ValueError(
                    f"`{name}` must be an integer of at least 1. "
                    f"Received: {name}={value!r}"
                )
        if not all(rate > 0 for rate in self.rates):
            raise ValueError(
                f"Learning rates must be above 0. Received: rates={self.rates!r}"
            )

    @classmethod
    def of(cls, dataset: Dataset, variant: Variant, **fields: Any) -> Protocol:
        """Return a protocol for a dataset; regression targets are standardised.

        Args:
            dataset: The data.
            variant: The activation after each hidden layer.
            **fields: Other fields.
        """
        regression = dataset.task == "regression"
        defaults = {
            "preprocessing": Preprocessing(targets="standard" if regression else "none")
        }
        return cls(
            dataset=dataset.name,
            checksum=dataset.checksum,
            task=dataset.task,
            variant=variant,
            **(defaults | fields),
        )

    @property
    def digest(self) -> str:
        """First eight hexadecimal digits of the hash of all fields."""
        text = json.dumps(_stated(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    @property
    def metric(self) -> str:
        """What the test rows are scored by: accuracy, or the root mean square error."""
        return "accuracy" if self.task == "classification" else "rmse"

    @property
    def trials(self) -> int:
        """Number of trainings in a cell."""
        return len(self.tries)

    @property
    def tries(self) -> list[tuple[int, float | None]]:
        """What a cell tries: every start at every learning rate."""
        rates = self.rates or (None,)
        return [(start, rate) for start in range(self.starts) for rate in rates]

    @property
    def cells_at_once(self) -> int:
        """Number of cells whose trainings make one batch."""
        return max(1, self.replicas // self.trials)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Protocol:
        """Return the protocol that `dataclasses.asdict` and JSON made into `data`."""
        parts = {
            "variant": Variant(**data["variant"]),
            "preprocessing": Preprocessing(**data["preprocessing"]),
            "optimizer": Optimizer(**data["optimizer"]),
            "hidden": tuple(data["hidden"]),
            "rates": tuple(data["rates"]),
        }
        if "architecture" in data:
            parts["architecture"] = Architecture(**data["architecture"])
        return cls(**{**data, **parts})


def _stated(data: Any) -> dict[str, Any]:
    """Return all fields, but for those that came later and say nothing."""
    fields = {}
    for each in dataclasses.fields(data):
        value = getattr(data, each.name)
        if each.name not in _LATER or value != each.default:
            part = dataclasses.is_dataclass(value)
            fields[each.name] = _stated(value) if part else value
    return fields


def with_replicas(protocol: Protocol, replicas: int | Literal["auto"]) -> Protocol:
    """Return the protocol with a number of networks that are trained together.

    Args:
        protocol: A protocol.
        replicas: The number. `"auto"` is the number of trainings that one seed asks
            for, but no more than suit the device: 1 on TensorFlow and PyTorch, and for
            convolutions, one network of which keeps a device busy.

    Returns:
        The same protocol but for `replicas`.

    Raises:
        ValueError: If the backend trains no networks together.

    Example:

    >>> protocol = Protocol("wine", "c0ffee", "classification", VARIANTS[0])
    >>> with_replicas(protocol, 1).replicas
    1
    """
    if replicas == "auto" and protocol.architecture.name != "mlp":
        width = 1
    elif replicas == "auto":
        cells = min(protocol.folds, max(1, widest() // protocol.trials))
        width = min(cells * protocol.trials, widest())
    else:
        width = replicas
    check_width(width)
    return dataclasses.replace(protocol, replicas=width)


@dataclass(frozen=True)
class Cell:
    """What one report is about: a protocol, a seed and the fold that is tested."""

    protocol: Protocol
    seed: int
    fold: int


def cells(protocols: Sequence[Protocol], seeds: Sequence[int]) -> list[Cell]:
    """Return every cell that the protocols ask for, fold by fold.

    Arms take turns, so that an interrupted run has compared all of them on some folds.
    """
    return [
        Cell(protocol, seed, fold)
        for seed in seeds
        for fold in range(max(protocol.folds for protocol in protocols))
        for protocol in protocols
        if fold < protocol.folds
    ]

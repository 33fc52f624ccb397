"""`TorchStudy`, trainings with PyTorch that are resumed, and `Checkpoint`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from benchmarks.evidence.records import Records
from keras_vaf.utils import atomic_path


class TorchStudy:
    """A study that trains networks one after the other.

    A subclass has the methods `keys` and `train`.
    """

    def keys(self, records: Records | None = None) -> Iterator[tuple[Any, ...]]:
        """Yield the key of each training in the order in which they run.

        Args:
            records: The finished trainings, which select the learning rates of later
                ones. `None` if only the number of keys matters.
        """
        raise NotImplementedError

    def train(self, key: tuple[Any, ...], folder: Path) -> dict[str, Any]:
        """Return the record of a training.

        Args:
            key: One of `keys`.
            folder: Folder for checkpoints and for networks that trainings share.
        """
        raise NotImplementedError

    def checkpoint(self, key: tuple[Any, ...], folder: Path) -> Path:
        """Return the file of the state of an unfinished training.

        Args:
            key: One of `keys`.
            folder: As for `train`.
        """
        return folder / f"{'_'.join(map(str, key))}.pt"

    def trainings(self) -> int:
        """Return the number of records."""
        return sum(1 for _ in self.keys())

    def run(self, records: Records) -> None:
        """Train everything that has no record.

        Args:
            records: The finished trainings.
        """
        torch.set_num_threads(1)
        for key in self.keys(records):
            if records.read(*key) is None:
                records.write(self.train(key, records.folder.parent), *key)
                print(*key, flush=True)


class Checkpoint:
    """The state of an unfinished training in a file.

    Args:
        path: The file.
        key: Key of the training. The state of another training is ignored.
        network: The network.
        optimizer: Its optimizer.
        decay: The schedule of its learning rate.
    """

    def __init__(
        self, path: Path, key: tuple[Any, ...], network: Any, optimizer: Any, decay: Any
    ) -> None:
        self.path, self.key, self.network = path, list(key), network
        self.parts = {"optimizer": optimizer, "decay": decay}

    def load(self, start: dict[str, Any]) -> dict[str, Any]:
        """Restore the training if the file has its state.

        Args:
            start: The numbers that describe a training that has not begun.

        Returns:
            The numbers that were saved, or `start`.
        """
        if not self.path.exists():
            return start
        stored = torch.load(self.path, weights_only=True)
        if stored["key"] != self.key:
            return start
        restore(self.network, stored["network"])
        for name, part in self.parts.items():
            part.load_state_dict(stored[name])
        numbers: dict[str, Any] = stored["numbers"]
        return numbers

    def save(self, numbers: dict[str, Any]) -> None:
        """Write the state.

        Args:
            numbers: What `load` returns later.
        """
        state = {name: part.state_dict() for name, part in self.parts.items()}
        state |= {"key": self.key, "network": copied(self.network), "numbers": numbers}
        with atomic_path(self.path) as temporary:
            torch.save(state, temporary)


def copied(network: torch.nn.Module) -> list[Any]:
    """Return copies of the parameters of a network, in their order.

    Args:
        network: The network.
    """
    return [each.detach().clone() for each in network.parameters()]


def restore(network: torch.nn.Module, values: Sequence[Any]) -> None:
    """Set the parameters of a network, whose layers may have other names.

    Args:
        network: A network of the same architecture.
        values: Result of `copied`.
    """
    with torch.no_grad():
        for parameter, value in zip(network.parameters(), values, strict=True):
            parameter.copy_(value)

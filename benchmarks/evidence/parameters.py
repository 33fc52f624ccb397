"""`copied` and `restore`, for networks whose layers have other names when rebuilt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch


def copied(network: torch.nn.Module) -> list[Any]:
    """Return copies of the parameters of a network, in their order.

    Args:
        network: The network.
    """
    return [each.detach().clone() for each in network.parameters()]


def restore(network: torch.nn.Module, values: Sequence[Any]) -> None:
    """Set the parameters of a network.

    Args:
        network: A network of the same architecture.
        values: Result of `copied`.
    """
    with torch.no_grad():
        for parameter, value in zip(network.parameters(), values, strict=True):
            parameter.copy_(value)

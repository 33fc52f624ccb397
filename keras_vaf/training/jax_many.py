"""Many trainings on JAX: which of them make one program, and how wide it is."""

import warnings
from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import Any, Literal

import jax
import keras

from keras_vaf.training.data import prepare
from keras_vaf.training.history import History, Rule
from keras_vaf.training.in_turn import train_in_turn
from keras_vaf.training.loops.jax_batch import BatchLoop, program_text, train_batch
from keras_vaf.training.loops.jax_loop import assign_best, state_of
from keras_vaf.training.member import Member, Progress, TooLittleMemory, count_on
from keras_vaf.training.replicas import widest


def train_in_batches(
    members: Sequence[Member],
    data: Any,
    epochs: int,
    batch_size: int | None,
    rule: Rule,
    replicas: int | Literal["auto"],
    progress: Progress,
) -> list[History]:
    """Train together those models whose training is the same program.

    Args:
        members: The models and their rows.
        data: Inputs and targets.
        epochs: Number of epochs at most.
        batch_size: Rows per update; `None` takes all rows at once.
        rule: Which epoch is best, and when to stop.
        replicas: Width of a batch, or `"auto"`.
        progress: Called with the number of epochs done.

    Returns:
        One history per member.

    Raises:
        ValueError: If a model cannot be trained in a batch.
    """
    groups = group(members, data, batch_size, rule)
    width = auto_width(groups) if replicas == "auto" else replicas
    if width == 1:
        return train_in_turn(members, data, epochs, batch_size, rule, progress)
    histories: dict[int, History] = {}
    for indices in groups.values():
        loop = None
        while indices:
            batch = [members[i] for i in indices[:width]]
            loop = loop or BatchLoop(batch[0].model, rule, batch_size, width)
            states = [state_of(member.model, rule) for member in batch]
            counting = count_on(progress, len(histories) * epochs, len(batch))
            try:
                trained, states = train_batch(
                    loop, states, batch, data, epochs, counting
                )
            except TooLittleMemory as reason:
                width, loop = narrower(width, reason), None
                continue
            for member, state in zip(batch, states, strict=True):
                assign_best(member.model, state)
            histories.update(zip(indices, trained, strict=False))
            indices = indices[width:]
            progress(len(histories) * epochs)
    return [histories[i] for i in range(len(members))]


def group(
    members: Sequence[Member], data: Any, batch_size: int | None, rule: Rule
) -> dict[tuple[str, int, int], list[int]]:
    """Find the members whose training is the same program.

    Args:
        members: The models and their rows.
        data: Inputs and targets.
        batch_size: Rows per update; `None` takes all rows at once.
        rule: Which epoch is best, and when to stop.

    Returns:
        The indices of the members that belong together, by the text of their program
        and their numbers of training and validation rows.

    Raises:
        ValueError: If a model cannot be trained in a batch.
    """
    texts: dict[Hashable, str] = {}
    groups: dict[tuple[str, int, int], list[int]] = defaultdict(list)
    for i, member in enumerate(members):
        check_stateless(member.model)
        prepare(member.model, data, batch_size)
        rows = member.training, member.validation
        if member.key not in texts:
            rule.check_monitor(member.model)
            texts[member.key] = program_text(member.model, rule, batch_size, rows, data)
        training, validation = map(len, rows)
        groups[texts[member.key], training, validation].append(i)
    return groups


def auto_width(groups: dict[tuple[str, int, int], list[int]]) -> int:
    """Return how many networks to train together."""
    largest = max(map(len, groups.values()))
    on_cpu = jax.default_backend() == "cpu"
    if on_cpu and any("stablehlo.convolution" in text for text, *_ in groups):
        return 1
    return min(widest(), largest)


def narrower(width: int, reason: TooLittleMemory) -> int:
    """Halve the width, and say so."""
    if width == 1:
        raise MemoryError(f"A single network {reason}: use a smaller batch or network.")
    warnings.warn(
        f"A batch of {width} networks {reason}: training {width // 2} at a time.",
        stacklevel=3,
    )
    return width // 2


def check_stateless(model: keras.Model) -> None:
    """Raise a `ValueError` if a layer keeps something from one batch for the next."""
    for layer in model.layers:
        if getattr(layer, "stateful", False):
            raise ValueError(
                f"The model {model.name!r} cannot be trained in a batch, because its "
                f"layer {layer.name!r} is stateful: use `replicas=1`. "
                "Received: stateful=True"
            )

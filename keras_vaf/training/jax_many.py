"""Many trainings on JAX: which of them make one program, and how wide it is."""

import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal

import jax
import keras
import numpy as np

from keras_vaf.training.data import order_of_rows, prepare
from keras_vaf.training.history import History, Rule
from keras_vaf.training.in_turn import train_in_turn
from keras_vaf.training.jax_batch import BatchLoop, TooLittleMemory, program_text
from keras_vaf.training.jax_loop import assign, state_of
from keras_vaf.training.member import Member, Progress, count_on
from keras_vaf.training.trainer import run_epochs

# A core is busy with a single network already; an accelerator is not.
_WIDTH_ON_CPU = 16
_WIDTH = 256


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
            loop = loop or BatchLoop(batch[0].model, rule, batch_size, width, data)
            done = len(histories) * epochs
            try:
                counting = count_on(progress, done, len(batch))
                trained = train_batch(loop, batch, epochs, batch_size, counting)
            except TooLittleMemory as reason:
                width, loop = narrower(width, reason), None
                continue
            histories.update(zip(indices, trained, strict=False))
            indices = indices[width:]
            progress(len(histories) * epochs)
    return [histories[i] for i in range(len(members))]


def train_batch(
    loop: BatchLoop,
    members: Sequence[Member],
    epochs: int,
    batch_size: int | None,
    on_progress: Callable[[int, dict[str, Any]], None],
) -> list[History]:
    """Train one batch, and leave each model with its best weights.

    Args:
        loop: The loop of these members' program.
        members: At most as many as the loop is wide, with equally many rows each.
        epochs: Number of epochs at most.
        batch_size: Rows per update; `None` takes all rows at once.
        on_progress: Called with the number of epochs done, and their metrics.

    Returns:
        One history per member.
    """
    started = time.perf_counter()
    states = [state_of(member.model, loop.rule) for member in members]
    loop.begin(states, np.stack([member.validation for member in members]))
    rows = len(members[0].training)

    def order(epoch: int) -> np.ndarray:
        orders = np.zeros((loop.width, rows), "int32")
        for i, member in enumerate(members):
            order = order_of_rows(rows, batch_size, member.seed, epoch)
            orders[i] = np.asarray(member.training)[order]
        return orders

    metrics, _ = run_epochs(loop.run, epochs, order, on_progress)
    seconds = (time.perf_counter() - started) / len(members)
    histories = []
    for i, (member, state) in enumerate(zip(members, loop.finish(), strict=False)):
        trainable, non_trainable = state.best
        assign(member.model.trainable_variables, trainable)
        assign(member.model.non_trainable_variables, non_trainable)
        own = {name: values[: loop.epochs[i], i] for name, values in metrics.items()}
        goes_on = bool(state.verdict[-1])
        histories.append(loop.rule.history(own, goes_on, seconds, loop.width))
    return histories


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
    if jax.default_backend() != "cpu":
        return min(_WIDTH, largest)
    if any("stablehlo.convolution" in text for text, *_ in groups):
        return 1
    return min(_WIDTH_ON_CPU, largest)


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

"""Many trainings, one after the other: on every backend."""

from collections.abc import Hashable, Sequence
from typing import Any

from keras_vaf.training.data import take
from keras_vaf.training.history import History, Rule
from keras_vaf.training.member import Member, Progress, count_on
from keras_vaf.training.trainer import Trainer


def train_in_turn(
    members: Sequence[Member],
    data: Any,
    epochs: int,
    batch_size: int | None,
    rule: Rule,
    progress: Progress,
) -> list[History]:
    """Train models one after the other, and compile each build only once.

    Args:
        members: The models and their rows.
        data: Inputs and targets.
        epochs: Number of epochs at most.
        batch_size: Rows per update; `None` takes all rows at once.
        rule: Which epoch is best, and when to stop.
        progress: Called with the number of epochs done.

    Returns:
        One history per member.
    """
    trainers: dict[Hashable, Trainer] = {}
    histories, weights = [], []
    for done, member in enumerate(members):
        key = member.key
        if key in trainers:
            trainers[key].restart(member.model.get_weights())
        else:
            trainers[key] = Trainer(
                member.model, batch_size, rule.patience, rule.monitor, rule.mode
            )
        x, y = take(data, member.training)
        validation_data = take(data, member.validation)
        counting = count_on(progress, done * epochs)
        history = trainers[key].train(
            x, y, validation_data, epochs, member.seed, counting
        )
        histories.append(history)
        weights.append(trainers[key].model.get_weights())
        progress((done + 1) * epochs)
    for member, best in zip(members, weights, strict=True):
        member.model.set_weights(best)
    return histories

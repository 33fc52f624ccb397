"""`train_many`, which trains many small networks, together on JAX."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal

import keras

from keras_vaf.training.data import (
    check_compiled,
    number_of_rows,
    prepare,
    read_variables,
    to_arrays,
)
from keras_vaf.training.history import History, StoppingRule
from keras_vaf.training.network_trainer import NetworkTrainer, check_width, widest
from keras_vaf.training.runs import (
    NetworkRun,
    TrainedNetwork,
    TrainingRun,
    check_rows,
)
from keras_vaf.utils import check_integer

Progress = Callable[[int, int], None]


def train_many(
    runs: Sequence[TrainingRun],
    x: Any,
    y: Any,
    epochs: int,
    batch_size: int | None = None,
    patience: int | None = None,
    monitor: str = "val_loss",
    mode: str = "min",
    replicas: int | Literal["auto"] = "auto",
    on_progress: Progress | None = None,
) -> list[History]:
    """Train many models as `train` would, each on its own rows of the same data.

    On JAX, models whose training is the same program are trained together, in batches
    of equal width. Such models have the same architecture, loss and optimizer; weights
    and learning rates can differ. On TensorFlow and PyTorch, models are trained in
    sequence.

    Networks in a batch do not affect each other. A network that stops early, or whose
    loss is not finite, is frozen while the others continue. At equal width, the result
    of a training is bit-identical for any other networks in the batch. A different
    width changes results by rounding errors.

    Args:
        runs: The models and their rows.
        x: Inputs: an array, or a list or dictionary of arrays of equal length.
        y: Targets, in the same forms.
        epochs: Largest number of epochs.
        batch_size: As in `train`.
        patience: As in `train`.
        monitor: As in `train`.
        mode: As in `train`.
        replicas: Width of a batch. With 1, models are trained in sequence. `"auto"`
            means 16 on the CPU and 256 on accelerators, and at most the number of
            models with the same program. If the memory is too small, the width is
            reduced with a warning. For convolutions on the CPU, which are slower in
            batches, `"auto"` means 1.
        on_progress: Function called with the number of finished epochs and the total
            number of epochs, counted over all models.

    Returns:
        One history per run.

    Raises:
        ValueError: If an argument is out of its range, or if a model is not compiled or
            cannot be trained in a batch.

    Example:

    >>> def build():
    ...     model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    ...     model.compile("sgd", "mse")
    ...     return model
    >>> x, y = np.random.normal(size=(20, 3)), np.random.normal(size=(20, 1))
    >>> training, validation = np.arange(15), np.arange(15, 20)
    >>> runs = [TrainingRun(build(), training, validation) for _ in range(2)]
    >>> [history.epochs for history in train_many(runs, x, y, epochs=3)]
    [3, 3]
    """
    check_integer("epochs", epochs)
    rule = StoppingRule(monitor, mode, patience)
    if batch_size is not None:
        check_integer("batch_size", batch_size)
    if replicas != "auto":
        check_width(replicas)
    data = to_arrays("`(x, y)`", (x, y))
    for run in runs:
        check_compiled(run.model)
        check_rows(run, number_of_rows(data))
    together = replicas != 1 and keras.backend.backend() == "jax"
    groups = _groups(runs, data, batch_size, rule, together)
    width = _width(groups, replicas) if together else 1
    trained: dict[int, TrainedNetwork] = {}

    def progress(done: int) -> None:
        if on_progress is not None:
            on_progress(len(trained) * epochs + done, len(runs) * epochs)

    for group in groups.values():
        trainer = NetworkTrainer(
            runs[group[0]].model, batch_size, patience, monitor, mode, width, halve=True
        )
        networks = [_network_run(runs[index]) for index in group]
        results = trainer.train(data, networks, epochs, progress)
        trained |= zip(group, results, strict=True)
        width = trainer.width
    for index, result in trained.items():
        runs[index].model.set_weights(result.weights)
    return [trained[index].history for index in range(len(runs))]


def _groups(
    runs: Sequence[TrainingRun],
    data: Any,
    batch_size: int | None,
    rule: StoppingRule,
    together: bool,
) -> dict[Hashable, list[int]]:
    """Return the indices of the runs that share a compiled program, by program.

    Runs that are trained together also have equal numbers of rows.
    """
    programs: dict[Hashable, Hashable] = {}
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for index, run in enumerate(runs):
        prepare(run.model, data, batch_size)
        label = run.label
        if label not in programs:
            rule.check_monitor(run.model)
            program = _program(run, data, batch_size, rule) if together else label
            programs[label] = program
        sizes = (len(run.training), len(run.validation)) if together else ()
        groups[programs[label], *sizes].append(index)
    return groups


def _program(
    run: TrainingRun, data: Any, batch_size: int | None, rule: StoppingRule
) -> str:
    """Return the text of the program that JAX compiles for a run."""
    from keras_vaf.training.loops.jax_programs import program_text

    for layer in run.model.layers:
        if getattr(layer, "stateful", False):
            raise ValueError(
                f"The model {run.model.name!r} cannot be trained in a batch, because "
                f"its layer {layer.name!r} is stateful: use `replicas=1`. "
                "Received: stateful=True"
            )
    rows = run.training, run.validation
    return program_text(run.model, rule, batch_size, rows, data)


def _width(groups: dict[Any, list[int]], replicas: int | Literal["auto"]) -> int:
    """Return the number of networks to train together on JAX."""
    if replicas != "auto":
        return replicas
    import jax

    on_cpu = jax.default_backend() == "cpu"
    if on_cpu and any("stablehlo.convolution" in text for text, *_ in groups):
        return 1
    return min(widest(), max(map(len, groups.values())))


def _network_run(run: TrainingRun) -> NetworkRun:
    start = read_variables(run.model)
    return NetworkRun(start, run.training, run.validation, run.seed)

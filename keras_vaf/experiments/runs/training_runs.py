"""`ProtocolTrainer`, which trains the cells of one protocol and reports on them."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import keras
import numpy as np

from keras_vaf.datasets import Dataset, FittedPreprocessing
from keras_vaf.datasets.scores import Rows, baseline_scores, network_scores
from keras_vaf.experiments.protocol import Cell, Protocol
from keras_vaf.experiments.reports.report import (
    Report,
    Trial,
    best_on_validation,
    environment,
)
from keras_vaf.experiments.runs.flops import count_flops
from keras_vaf.experiments.runs.learned import learned_activations, thinned
from keras_vaf.experiments.runs.networks import (
    build_network,
    check_inputs,
    compile_network,
)
from keras_vaf.experiments.runs.rows import network_seeds, rows_of, seeds_of
from keras_vaf.training.data import to_arrays
from keras_vaf.training.network_trainer import NetworkTrainer, check_width
from keras_vaf.training.runs import NetworkRun, TrainedNetwork

_IMAGES = 100  # number of images used to sample pre-activations


class PreparedCell(NamedTuple):
    """A cell with its rows, their preprocessing and the untrained network."""

    cell: Cell
    rows: Rows
    fitted: FittedPreprocessing
    model: keras.Sequential


class ProtocolTrainer:
    """Trains the cells of one protocol, and compiles its network only once.

    Args:
        protocol: The protocol.
        dataset: The data of the protocol.
    """

    def __init__(self, protocol: Protocol, dataset: Dataset) -> None:
        self._protocol = protocol
        self._dataset = dataset
        self._trainer: NetworkTrainer | None = None

    def of(self, protocol: Protocol) -> ProtocolTrainer:
        """Return the trainer of a protocol with other learning rates.

        Args:
            protocol: A protocol whose other fields are those of this trainer's.

        Returns:
            A trainer that shares the compiled program.
        """
        if protocol == self._protocol:
            return self
        other = copy.copy(self)
        other._protocol = protocol
        return other

    def check(self) -> None:
        """Raise the errors that the first training would raise.

        Raises:
            ValueError: If the data do not fit the network or cannot be split into the
                folds, if the network cannot be built, or if the backend cannot train
                networks together.
        """
        input_shape = self._dataset.x.shape[1:]
        check_inputs(self._protocol, input_shape)
        check_width(self._protocol.replicas)
        first = Cell(self._protocol, seed=0, fold=0)
        rows_of(first, self._dataset)
        self._network(input_shape, first, softmax=False)

    def run(
        self,
        cells: Sequence[Cell],
        on_progress: Callable[[float], None] | None = None,
    ) -> list[tuple[Report, keras.Model]]:
        """Train cells, with as many networks at once as the width of the protocol.

        Args:
            cells: Cells of this protocol.
            on_progress: As in `Trainers`.

        Returns:
            The report of each cell, and its network with the weights of the best epoch.
            If there are several trials, the network of the selected trial.

        Raises:
            TooLittleMemory: If the width of the protocol is too large for the memory.
        """
        done = []
        for start in range(0, len(cells), self._protocol.cells_at_once):
            batch = cells[start : start + self._protocol.cells_at_once]
            prepared = [self._prepare(cell) for cell in batch]
            trained = iter(self._train(prepared, on_progress or (lambda cells: None)))
            for each in prepared:
                own = list(itertools.islice(trained, self._protocol.trials))
                done.append(self._report(each, own))
        return done

    def _prepare(self, cell: Cell) -> PreparedCell:
        rows = rows_of(cell, self._dataset)
        fitted = self._protocol.preprocessing.fit(self._dataset, rows.train)
        x, _ = fitted.transform(self._dataset, rows.train[:1])
        model = self._network(x.shape[1:], cell, softmax=True)
        return PreparedCell(cell, rows, fitted, model)

    def _network(
        self, input_shape: Sequence[int], cell: Cell, softmax: bool, start: int = 0
    ) -> keras.Sequential:
        """Return a cell's network for a start. Training uses it without the softmax."""
        classes = self._dataset.class_names
        return build_network(
            self._protocol,
            input_shape,
            outputs=len(classes) if classes else 1,
            seeds=network_seeds(cell, start),
            output_activation="softmax" if classes and softmax else None,
        )

    def _train(
        self, prepared: list[PreparedCell], on_progress: Callable[[float], None]
    ) -> list[TrainedNetwork]:
        """Train every cell from each start at every learning rate."""
        # An incomplete batch has data of the same shape, so that it runs the same
        # program.
        idle = self._protocol.cells_at_once - len(prepared)
        parts = [
            each.fitted.transform(self._dataset, rows)
            for each in prepared + prepared[:1] * idle
            for rows in (each.rows.train, each.rows.validation)
        ]
        x, y = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        data = to_arrays("The preprocessed data", (x, y))
        self._trainer = trainer = self._trainer or self._network_trainer(prepared[0])
        trainer.prepare(data)
        runs = [
            run
            for place, each in enumerate(prepared)
            for run in self._runs(trainer, place, each)
        ]
        # Networks with equal learning rates stop after similar numbers of epochs.
        rates = [rate or 0.0 for _ in prepared for _, rate in self._protocol.tries]
        order = sorted(range(len(runs)), key=rates.__getitem__)
        ordered, epochs = [runs[place] for place in order], self._protocol.epochs
        most = self._protocol.trials * epochs
        trained = trainer.train(
            data, ordered, epochs, lambda done: on_progress(done / most)
        )
        return [each for _, each in sorted(zip(order, trained, strict=True))]

    def _network_trainer(self, first: PreparedCell) -> NetworkTrainer:
        shape = first.model.input_shape[1:]
        model = self._network(shape, first.cell, softmax=False)
        compile_network(model, self._protocol)
        return NetworkTrainer(
            model,
            self._protocol.batch_size,
            self._protocol.patience,
            width=self._protocol.replicas,
        )

    def _runs(
        self, trainer: NetworkTrainer, place: int, part: PreparedCell
    ) -> list[NetworkRun]:
        """Return the trainings of a cell, whose rows are at `place` in the data."""
        train, validation = len(part.rows.train), len(part.rows.validation)
        first = place * (train + validation)
        shape, others = part.model.input_shape[1:], range(1, self._protocol.starts)
        models = (self._network(shape, part.cell, False, start) for start in others)
        starts = [model.get_weights() for model in (part.model, *models)]
        [seed] = seeds_of(part.cell, "shuffling")
        return [
            NetworkRun(
                trainer.start(starts[start], seed, rate),
                first + np.arange(train),
                first + train + np.arange(validation),
                seed,
            )
            for start, rate in self._protocol.tries
        ]

    def _report(
        self, part: PreparedCell, trained: list[TrainedNetwork]
    ) -> tuple[Report, keras.Model]:
        """Score all trials, and return the report and the selected network."""
        tries = zip(self._protocol.tries, trained, strict=True)
        trials = tuple(self._trial(part, *each, result) for each, result in tries)
        selected = best_on_validation(trials, self._protocol.metric)
        history, weights = trained[trials.index(selected)]
        shape, start = part.model.input_shape[1:], selected.start
        model = part.model
        if start:
            model = self._network(shape, part.cell, softmax=True, start=start)
        model.set_weights(weights)
        most = None if self._dataset.x.ndim == 2 else _IMAGES
        x, _ = part.fitted.transform(self._dataset, part.rows.train[:most])
        report = Report(
            protocol=self._protocol,
            seed=part.cell.seed,
            fold=part.cell.fold,
            rows={name: len(rows) for name, rows in part.rows._asdict().items()},
            trials=trials,
            baseline=baseline_scores(self._dataset, part.fitted, part.rows),
            parameters=model.count_params(),
            seconds=round(sum(each.history.seconds for each in trained), 3),
            curves=thinned(history),
            activations=learned_activations(model, x),
            environment=environment(),
            flops=count_flops(model),
        )
        return report, model

    def _trial(
        self,
        part: PreparedCell,
        start: int,
        rate: float | None,
        trained: TrainedNetwork,
    ) -> Trial:
        history, weights = trained
        part.model.set_weights(weights)
        loss = history.best.get("val_loss")
        score = partial(network_scores, part.model, self._dataset, part.fitted)
        return Trial(
            rate=rate,
            scores=score(part.rows.test),
            validation={"loss": loss, **score(part.rows.validation)},
            epochs=history.epochs,
            best_epoch=history.best_epoch,
            stopped=history.stopped,
            start=start,
        )

"""`EventFile`, which writes TensorBoard files on any backend."""

import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from keras_vaf.utils import require


class EventFile:
    """A TensorBoard event file, written without TensorFlow.

    Args:
        folder: TensorBoard's log directory.

    Raises:
        ImportError: If TensorBoard is not installed.
    """

    def __init__(self, folder: str | Path) -> None:
        writer = require("tensorboard.summary.writer.record_writer", extra="tune")
        self._events = require("tensorboard.compat.proto.event_pb2", extra="tune")
        self._summaries = require("tensorboard.compat.proto.summary_pb2", extra="tune")
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        now = time.time()
        name = f"events.out.tfevents.{now:.6f}.{socket.gethostname()}.activations"
        self._writer = writer.RecordWriter((folder / name).open("wb"))
        self._write(file_version="brain.Event:2")

    def add(
        self,
        step: int,
        scalars: Mapping[str, float],
        histograms: Mapping[str, tuple[np.ndarray, np.ndarray]],
    ) -> None:
        """Write the values of a step and flush the file so that TensorBoard sees them.

        Args:
            step: Number of the step, such as the epoch.
            scalars: Numbers by tag.
            histograms: Counts and edges of the bins, by tag.
        """
        value = self._summaries.Summary.Value
        values = [value(tag=tag, simple_value=v) for tag, v in scalars.items()]
        values += [
            value(tag=tag, histo=self._histogram(*bins))
            for tag, bins in histograms.items()
        ]
        self._write(step=step, summary=self._summaries.Summary(value=values))

    def close(self) -> None:
        """Close the file."""
        self._writer.close()

    def _histogram(self, counts: np.ndarray, edges: np.ndarray) -> Any:
        centres = (edges[:-1] + edges[1:]) / 2
        return self._summaries.HistogramProto(
            min=edges[0],
            max=edges[-1],
            num=counts.sum(),
            sum=counts @ centres,
            sum_squares=counts @ centres**2,
            bucket_limit=edges[1:],
            bucket=counts,
        )

    def _write(self, **fields: Any) -> None:
        event = self._events.Event(wall_time=time.time(), **fields)
        self._writer.write(event.SerializeToString())
        self._writer.flush()

"""Cost of monitoring activations: seconds of a record relative to those of an epoch.

    python -m benchmarks.monitoring --output docs/reports/monitoring

Networks of the size of Fashion-MNIST's, on random images: how long it takes does not
depend on what is in them.
"""

import argparse
import json
import time
from pathlib import Path

import keras
import numpy as np

from benchmarks.environment import environment
from keras_vaf.callbacks import ActivationMonitor
from keras_vaf.layers import VAFActivation
from keras_vaf.utils import markdown_table, write_atomically

AIM = 0.02
ROWS = 60_000
BATCH = 128
EPOCHS = 3


def dense():
    """A fully connected network."""
    return keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            keras.layers.Flatten(),
            keras.layers.Dense(512),
            VAFActivation(initialization="random"),
            keras.layers.Dense(512),
            VAFActivation(sharing="channel", initialization="random"),
            keras.layers.Dense(10),
        ]
    )


def convolutional():
    """A convolutional network."""
    return keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            keras.layers.Conv2D(16, 3, strides=2),
            VAFActivation(initialization="random"),
            keras.layers.Conv2D(32, 3, strides=2),
            VAFActivation(sharing="channel", initialization="random"),
            keras.layers.Flatten(),
            keras.layers.Dense(10),
        ]
    )


class Timed(ActivationMonitor):
    """A monitor that keeps how long each epoch and each of its records took."""

    def on_train_begin(self, logs=None):
        super().on_train_begin(logs)
        self.times = []

    def on_epoch_begin(self, epoch, logs=None):
        self.start = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        end = time.perf_counter()
        super().on_epoch_end(epoch, logs)
        self.times.append((end - self.start, time.perf_counter() - end))


def measure(build):
    """Return the median seconds of an epoch and of a record, the first left out."""
    generator = np.random.default_rng(0)
    x = generator.normal(size=(ROWS, 28, 28, 1)).astype("float32")
    y = generator.integers(10, size=ROWS)
    model = build()
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss)
    timed = Timed(x)
    model.fit(x, y, batch_size=BATCH, epochs=EPOCHS, verbose=0, callbacks=[timed])
    epoch, record = np.median(timed.times[1:], axis=0).tolist()
    return {"epoch": epoch, "record": record, "share": record / epoch}


def table(folder):
    """Return the reports of a folder, one for each backend, as a Markdown table."""
    lines = []
    for path in sorted(folder.glob("*.json")):
        for name, row in json.loads(path.read_text())["networks"].items():
            seconds = f"{row['epoch']:.2f} s", f"{row['record']:.3f} s"
            lines.append([path.stem, name, *seconds, f"{row['share']:.1%}"])
    columns = ["backend", "network", "epoch", "record", "share"]
    return markdown_table(columns, lines, text_columns=2) + "\n"


def main():
    """Measure, print and write the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("docs/reports/monitoring"))
    folder = parser.parse_args().output
    rows = {build.__name__: measure(build) for build in (dense, convolutional)}
    report = {"aim": AIM, "networks": rows, "environment": environment()}
    backend = keras.backend.backend()
    text = json.dumps(report, indent=2) + "\n"
    write_atomically(folder / f"{backend}.json", text)
    write_atomically(folder / "table.md", table(folder))
    print(table(folder), f"Aim: at most {AIM:.0%} of an epoch.")


if __name__ == "__main__":
    main()

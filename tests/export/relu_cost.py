"""Measure the time and the operators of networks with ReLU alone.

`KERAS_BACKEND=tensorflow python -m tests.export.relu_cost` writes a row to
`docs/reports/relu/cost.csv.xz` for each network with SiLU and its forms with ReLU alone
(k = 5), in onnxruntime and in LiteRT, on one thread. LiteRT tells its operators.
"""

import functools
import tempfile
from collections import Counter
from pathlib import Path

import keras
import numpy as np
import onnxruntime
from ai_edge_litert.interpreter import Interpreter
from keras import layers

from benchmarks.speed.rows import in_turn, save, summary
from keras_vaf.models import to_relu
from tests.export.test_export import of_one_shape

CALLS = 20  # in one measurement
conv = functools.partial(layers.Conv2D, kernel_size=3, padding="same")
convs = [conv(filters, activation="silu") for filters in (16, 16, 32, 32)]
NETWORKS = {  # the shape of a batch, and the hidden layers
    "dense": ((32, 64), [layers.Dense(128, "silu") for _ in range(3)]),
    "convolutions": ((1, 16, 16, 3), [*convs, layers.GlobalAveragePooling2D()]),
}


def on_onnxruntime(model, x, path):
    """Return what calls an exported model."""
    model.export(path, "onnx", verbose=False, input_signature=of_one_shape(x))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options)
    given = {session.get_inputs()[0].name: x}
    return functools.partial(session.run, None, given), []


def on_litert(model, x, path):
    """Return what calls an exported model, and the names of its operators."""
    model.export(path, "litert", verbose=False, input_signature=of_one_shape(x))
    program = Interpreter(path, num_threads=1)
    program.allocate_tensors()
    program.set_tensor(program.get_input_details()[0]["index"], x)
    names = [each["op_name"] for each in program._get_ops_details()]
    return program.invoke, [name for name in names if name != "DELEGATE"]


def measured(name):
    """Yield the rows of a network: all its forms are called in each round."""
    shape, parts = NETWORKS[name]
    model = keras.Sequential([keras.Input(shape[1:]), *parts, layers.Dense(10)])
    data = np.random.default_rng(0).normal(size=(256, *shape[1:])).astype("float32")
    frozen, widened = (to_relu(model, data=data, widen=each) for each in (False, True))
    forms = {"SiLU": model, "frozen": frozen, "widened": widened}
    for start, end in ((on_onnxruntime, ".onnx"), (on_litert, ".tflite")):
        with tempfile.NamedTemporaryFile(suffix=end) as file:
            x = data[: shape[0]]
            found = [start(each, x, file.name) for each in forms.values()]
        works = [lambda run=run: [run() for _ in range(CALLS)] for run, _ in found]
        times = np.divide(in_turn(works, seconds=20), CALLS)
        for form, (_, kinds), own in zip(forms, found, times, strict=True):
            counts = [f"{n} {kind}" for kind, n in Counter(kinds).most_common()]
            row = {"network": name, "form": form, "runtime": start.__name__[3:]}
            yield row | {"operators": ", ".join(counts)} | summary(own, times[0])


if __name__ == "__main__":
    keras.utils.set_random_seed(0)
    command = "KERAS_BACKEND=tensorflow python -m tests.export.relu_cost"
    every = [row for name in NETWORKS for row in measured(name)]
    save(Path("docs/reports/relu/cost.csv.xz"), command, "", every)

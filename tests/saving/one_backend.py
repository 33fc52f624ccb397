"""One of three processes that save a model, load all three, predict and train on.

python -m tests.saving.one_backend FOLDER, with KERAS_BACKEND set. The folder is shared;
each process writes its files and waits for those of the others.
"""

import json
import sys
import time
from pathlib import Path

import keras
import numpy as np

import keras_vaf
from keras_vaf.initializers import PortableGlorotUniform, RandomStart
from keras_vaf.models.files import load_model
from tests.layers.family import make_model as make_family
from tests.layers.family import sample

BACKENDS = ("tensorflow", "jax", "torch")
PATIENCE = 90


def make_model():
    """A network with a function of each sharing, the same on every backend."""

    def dense(units, seed):
        kernel = PortableGlorotUniform(seed=seed)
        return keras.layers.Dense(units, kernel_initializer=kernel)

    def vaf(seed, **arguments):
        start = RandomStart(seed=seed)
        return keras_vaf.layers.VAFActivation(initialization=start, **arguments)

    inputs = keras.Input((6,))
    x = vaf(1, k=5)(dense(8, 1)(inputs))
    x = vaf(2, g="tanh", sharing="channel")(dense(8, 2)(x))
    x = keras.layers.Reshape((4, 2))(x)
    x = vaf(3, g="gelu", sharing="neuron")(x)
    outputs = dense(2, 3)(keras.layers.Flatten()(x))
    model = keras.Model(inputs, outputs)
    model.compile(keras.optimizers.SGD(0.005), "mse")
    return model


def wait_for(path):
    """Wait until another process has written a file whole."""
    deadline = time.monotonic() + PATIENCE
    while not path.exists():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{path.name} did not appear.")
        time.sleep(0.1)


def main(folder):
    """Save, then load what each backend saved, and write what came of it."""
    own = keras.backend.backend()
    x = np.random.default_rng(0).normal(size=(16, 6)).astype("float32")
    y = np.random.default_rng(1).normal(size=(16, 2)).astype("float32")
    model = make_model()
    model.train_on_batch(x, y)
    model.save(folder / f"{own}.keras")
    model.save_weights(folder / f"{own}.weights.h5")
    config = json.loads(model.to_json()) | {"compile_config": None}
    (folder / f"{own}.json").write_text(json.dumps(config))
    family, data = make_family(), sample((5, 6, 4))
    family.save(folder / f"{own}_family.keras")
    (folder / f"{own}.done").touch()
    results = {"own": model.predict(x, verbose=0).tolist()}
    results["family"] = [y.tolist() for y in family.predict(data, verbose=0)]
    for backend in BACKENDS:
        wait_for(folder / f"{backend}.done")
        whole = load_model(folder / f"{backend}.keras")
        every = keras.saving.load_model(folder / f"{backend}_family.keras")
        compiled = whole.compiled
        whole.compile(keras.optimizers.SGD(0.005), "mse")
        json_and_weights = keras.models.model_from_json(
            (folder / f"{backend}.json").read_text()
        )
        json_and_weights.load_weights(folder / f"{backend}.weights.h5")
        results[backend] = {
            "whole": whole.predict(x, verbose=0).tolist(),
            "json_and_weights": json_and_weights.predict(x, verbose=0).tolist(),
            "family": [y.tolist() for y in every.predict(data, verbose=0)],
            "compiled": compiled,
            "losses": [float(whole.train_on_batch(x, y)) for _ in range(3)],
        }
    results["frameworks"] = [name for name in BACKENDS if name in sys.modules]
    (folder / f"results_{own}.json").write_text(json.dumps(results))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

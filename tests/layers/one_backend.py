"""One of three processes that save a model of all layers and load those of the others.

python -m tests.layers.one_backend FOLDER, with KERAS_BACKEND set.
"""

import sys
from pathlib import Path

import keras
import numpy as np

from tests.layers.family import make_model, sample
from tests.saving.one_backend import BACKENDS, wait_for


def main(folder):
    """Save a model; predict with it and with those that the other processes saved."""
    own = keras.backend.backend()
    x = sample((5, 6, 4))
    model = make_model()
    model.save(folder / f"{own}.keras")
    (folder / f"{own}.done").touch()
    np.savez(folder / f"{own}.npz", *model.predict(x, verbose=0))
    for backend in BACKENDS:
        wait_for(folder / f"{backend}.done")
        loaded = keras.saving.load_model(folder / f"{backend}.keras")
        outputs = loaded.predict(x, verbose=0)
        np.savez(folder / f"{backend}_on_{own}.npz", *outputs)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

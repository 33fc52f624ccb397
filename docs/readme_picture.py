"""The picture of the README: `KERAS_BACKEND=jax python docs/readme_picture.py`.

A network of four units learns a sine. To the left are the hidden units of its VAF and
their sum; to the right the learned function, over what enters it.
"""

from pathlib import Path

import keras
import numpy as np
from matplotlib import pyplot

from keras_vaf.layers import VAFActivation
from keras_vaf.visualization import plot_activation, plot_units, style

PICTURE = Path(__file__).parent / "images" / "vaf.png"


@style.styled
def main() -> None:
    """Train, draw and write."""
    keras.utils.set_random_seed(0)
    x = np.random.default_rng(0).normal(size=(512, 1))
    hidden = keras.layers.Dense(4)
    activation = VAFActivation(k=5, initialization="relu", name="a VAF")
    layers = [keras.Input((1,)), hidden, activation, keras.layers.Dense(1)]
    model = keras.Sequential(layers)
    model.compile(keras.optimizers.Adam(0.01), "mse")
    model.fit(x, np.sin(3 * x), epochs=150, verbose=0)
    _, axes = pyplot.subplots(1, 2, figsize=(10, 4))
    data = keras.ops.convert_to_numpy(hidden(x))
    plot_units(activation, data=data, ax=axes[0])
    plot_activation(activation, data=data, ax=axes[1])
    PICTURE.parent.mkdir(exist_ok=True)
    pyplot.savefig(PICTURE, dpi=100)


if __name__ == "__main__":
    main()

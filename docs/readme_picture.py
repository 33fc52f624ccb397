"""The picture of the README: `KERAS_BACKEND=jax python docs/readme_picture.py`.

It shows the function that a VAF learned in a network of four units, over its inputs.
"""

from pathlib import Path

import keras
import numpy as np
from matplotlib import pyplot
from small_pictures import save_small

from keras_vaf.layers import VAFActivation
from keras_vaf.visualization import plot_activation, style

PICTURE = Path(__file__).parent / "images" / "vaf.png"


@style.styled
def main() -> None:
    """Train the network on a sine, draw what its VAF learned, and write the picture."""
    keras.utils.set_random_seed(0)
    x = np.random.default_rng(0).normal(size=(512, 1))
    hidden = keras.layers.Dense(4)
    activation = VAFActivation(k=5, g="relu", name="vaf")
    layers = [keras.Input((1,)), hidden, activation, keras.layers.Dense(1)]
    model = keras.Sequential(layers)
    model.compile(keras.optimizers.Adam(0.01), "mse")
    model.fit(x, np.sin(3 * x), epochs=150, verbose=0)
    _, ax = pyplot.subplots(figsize=(4.8, 3.4))
    plot_activation(activation, data=keras.ops.convert_to_numpy(hidden(x)), ax=ax)
    [derivative] = (line for line in ax.lines if "derivative" in str(line.get_label()))
    derivative.remove()
    ax.legend()
    ax.set_title("")
    save_small(PICTURE, dpi=130)


if __name__ == "__main__":
    main()

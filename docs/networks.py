"""Small networks that `docs/pictures.py` trains, and how it draws what they learn."""

import keras
import numpy as np
from matplotlib.axes import Axes

from keras_vaf.layers import VAFActivation
from keras_vaf.visualization import plot_activation


def trained(model: keras.Sequential, x: np.ndarray, y: np.ndarray) -> keras.Sequential:
    """Return a model after 150 epochs."""
    model.compile(keras.optimizers.Adam(0.01), "mse")
    model.fit(x, y, epochs=150, verbose=0)
    return model


def learned(layer: VAFActivation, data: np.ndarray, ax: Axes) -> None:
    """Draw a learned function without its derivative, which has its own axis."""
    plot_activation(layer, data=data, ax=ax)
    ax.figure.axes[-1].remove()
    [line] = (each for each in ax.lines if "derivative" in str(each.get_label()))
    line.remove()
    ax.legend()

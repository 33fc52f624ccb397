"""`plot_units`, which draws the hidden units of a VAF."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import keras
import numpy as np

from keras_vaf.layers import VAFActivation
from keras_vaf.visualization import style
from keras_vaf.visualization.activation import check_drawable, drawn_range

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@style.styled
def plot_units(
    layer: VAFActivation,
    index: tuple[int, ...] = (),
    data: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot the k weighted hidden units of a VAF and their sum.

    The thin lines are `beta_j * g(alpha_j * a + alpha_bias_j)` and the constant
    `beta_bias`. Their sum is the thick line, the function f.

    Args:
        layer: A VAF with weights.
        index: Index of the function, if the layer has several: `(3,)` for the function
            of channel 3.
        data: Inputs of the layer. Their range sets the range of the plot.
        ax: Axes to draw on. By default, new axes.

    Returns:
        The axes.

    Raises:
        ValueError: If the layer is not a VAF or has no weights yet, or if `index` is
            not the index of a function.
        ImportError: If Matplotlib is not installed.

    Example:

    >>> ax = plot_units(keras_vaf.layers.VAFActivation(k=2, initialization="relu"))
    >>> [line.get_label() for line in ax.get_lines()]
    ['f', 'unit 1', 'unit 2', 'constant']
    """
    check_drawable(layer)
    alpha, alpha_bias, beta, beta_bias = _weights(layer, index)
    x = drawn_range(None if data is None else keras.ops.convert_to_numpy(data).ravel())
    hidden = layer.g(keras.ops.convert_to_tensor(np.outer(x, alpha) + alpha_bias))
    units = beta * keras.ops.convert_to_numpy(hidden)
    drawn, legend = style.axes_or_new(ax)
    total = units.sum(axis=1) + beta_bias
    drawn.plot(x, total, color=style.BLUE, lw=2.5, zorder=3, label="f")
    looks = itertools.product(("-", "--", "-.", ":"), style.CYCLE[1:])
    for j, (unit, (dash, color)) in enumerate(zip(units.T, itertools.cycle(looks))):
        drawn.plot(x, unit, dash, color=color, lw=1.5, label=f"unit {j + 1}")
    constant = np.full_like(x, beta_bias)
    drawn.plot(x, constant, ":", color=style.DARK, lw=1.2, label="constant")
    drawn.set_xlim(x[0], x[-1])
    drawn.set_xlabel("pre-activation a")
    drawn.set_ylabel("f(a) and its parts")
    drawn.legend(**legend)
    return drawn


def _weights(layer: VAFActivation, index: tuple[int, ...]) -> list[np.ndarray]:
    """Return the four weights of one function, in float64."""
    if not isinstance(layer, VAFActivation):
        raise ValueError(f"Expected a VAFActivation. Received: {layer!r}")
    weights = layer.get_effective_weights()
    unshared = weights[-1].shape
    fits = isinstance(index, tuple) and len(index) == len(unshared)
    fits = fits and all(0 <= p < size for p, size in zip(index, unshared, strict=True))
    if not fits:
        raise ValueError(
            f"`index` should name one of the layer's functions, of shape {unshared}. "
            f"Received: index={index!r}"
        )
    return [weight[index] for weight in weights]

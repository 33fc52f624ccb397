"""Draw naive starts and ours, and list the errors of starts at known functions.

`KERAS_BACKEND=jax python docs/starts.py` makes `images/starts.png` and
`reports/starts/fits.md`.
"""

from collections.abc import Sequence
from pathlib import Path

import keras
import numpy as np
from matplotlib import pyplot
from matplotlib.axes import Axes
from small_pictures import save_small
from start_errors import report

from keras_vaf.initializers import RandomStart
from keras_vaf.layers import VAFActivation
from keras_vaf.visualization import style

FOLDER = Path(__file__).parent
PICTURE = FOLDER / "images" / "starts.png"
COMMAND = "KERAS_BACKEND=jax python docs/starts.py"
REPORT = FOLDER / "reports" / "starts" / "fits.md"

_UNITS = 5
_DEPTH, _WIDTH, _SEEDS = 10, 64, 50

Weights = Sequence[np.ndarray]


def main() -> None:
    """Write the picture and the table."""
    _draw()
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_text(report(COMMAND), encoding="utf-8")


@style.styled
def _draw() -> None:
    _, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4))
    _draw_scales(left)
    _draw_fits(right)
    save_small(PICTURE, dpi=100)


def _draw_scales(ax: Axes) -> None:
    """Draw what becomes of the scale of a signal in a network of random VAFs."""
    for name, scaled, color in (
        ("RandomStart()", False, style.ORANGE),
        ("RandomStart(rescale=True)", True, style.BLUE),
    ):
        scales = np.stack([_scales(seed, scaled) for seed in range(_SEEDS)], axis=1)
        low, middle, high = np.quantile(scales, (0.05, 0.5, 0.95), axis=1)
        layers = np.arange(_DEPTH + 1)
        ax.plot(layers, middle, color=color, marker="o", ms=4, label=name)
        ax.fill_between(layers, low, high, color=color, alpha=0.15, lw=0)
    ax.set_yscale("log")
    ax.set_title(f"Random starts, k = {_UNITS}: scale of the signal")
    ax.set_xlabel("layers passed")
    ax.set_ylabel("root mean square")
    ax.legend(loc="lower left")


def _scales(seed: int, scaled: bool) -> np.ndarray:
    """Return the root mean square of a signal before and after each layer."""
    generator = np.random.default_rng(seed)
    signal = generator.normal(size=(256, _WIDTH))
    found = [1.0]
    for layer in range(_DEPTH):
        start = RandomStart(seed=1000 * seed + layer, rescale=scaled)
        weights = start((), _UNITS, keras.activations.relu)
        alpha, alpha_bias, beta, beta_bias = map(np.asarray, weights)
        signal = signal @ generator.normal(size=(_WIDTH, _WIDTH)) / np.sqrt(_WIDTH)
        hidden = np.maximum(signal[..., None] * alpha + alpha_bias, 0)
        signal = hidden @ beta + beta_bias
        found.append(np.sqrt(np.mean(signal**2)))
    return np.array(found)


def _draw_fits(ax: Axes) -> None:
    """Draw what VAFs that start as ReLU in three ways have learned."""
    grid = np.linspace(-3, 3, 601)
    ax.plot(
        grid, np.sin(2 * grid), "--", color=style.DARK, lw=1.2, label="to be learned"
    )
    ones, zeros, first = np.ones(_UNITS), np.zeros(_UNITS), np.eye(_UNITS)[0]
    starts: dict[str, Weights | None] = {
        "k equal units": [ones, zeros, ones / _UNITS, np.zeros(())],
        "spare units all 0": [first, zeros, first, np.zeros(())],
        "ours": None,
    }
    colors = (style.ORANGE, style.PURPLE, style.BLUE)
    looks = zip(starts.items(), colors, ("-", (0, (4, 3)), "-"), strict=True)
    for (name, weights), color, dashes in looks:
        curve = _learned(weights).function(grid)
        ax.plot(grid, curve, color=color, linestyle=dashes, label=name)
    ax.set_title(f"Starts as ReLU, k = {_UNITS}: what is learned")
    ax.set_xlabel("pre-activation a")
    ax.set_ylabel("f(a)")
    ax.legend(loc="lower left")


def _learned(weights: Weights | None) -> VAFActivation:
    """Return a VAF that was trained on a sine, from given weights or from ours."""
    layer = VAFActivation(k=_UNITS, initialization="relu")
    if weights is not None:
        layer.set_weights(weights)
    model = keras.Sequential([keras.Input((1,)), layer])
    model.compile(keras.optimizers.Adam(0.02), "mse")
    x = np.random.default_rng(0).normal(size=(1024, 1))
    model.fit(x, np.sin(2 * x), batch_size=len(x), epochs=500, verbose=0)
    return layer


if __name__ == "__main__":
    main()

"""The pictures of the README, and the logo.

`KERAS_BACKEND=jax python docs/readme_picture.py` writes them. The first one and the
logo show the function that a VAF learned in a network of four units. The pictures of
the uses are parts of other pictures, such as those of notebooks.
"""

from pathlib import Path

import keras
import numpy as np
from matplotlib import pyplot
from notebook_pages import notebook_pages
from small_pictures import save_small
from thumbnails import Shares, cut

from keras_vaf.layers import VAFActivation
from keras_vaf.utils import write_atomically
from keras_vaf.visualization import plot_activation, style
from keras_vaf.visualization.activation import unit_knots

IMAGES = Path(__file__).parent / "images"

# A picture and its part, by the name of the use.
USES: dict[str, tuple[str, Shares]] = {
    "convert": ("notebooks/4_your_own_model-2.png", (0.345, 0.0, 0.668, 0.925)),
    "formula": ("images/formula.png", (0.0, 0.0, 0.8, 1.0)),
    "table": ("notebooks/6_your_own_table-2.png", (0.0, 0.0, 1.0, 1.0)),
}

# A white line with orange knots on a dark blue square of 64 pixels.
LOGO = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">
<rect width="64" height="64" rx="12" fill="#0b3c5d"/>
<polyline points="{line}" fill="none" stroke="#fff" stroke-width="5"\
 stroke-linecap="round" stroke-linejoin="round"/>
{knots}
</svg>
"""
KNOT = '<circle cx="{}" cy="{}" r="4.5" fill="#f28e2b"/>'


def learned() -> tuple[VAFActivation, np.ndarray]:
    """Train the network on a sine, and return its VAF with the inputs of the VAF."""
    keras.utils.set_random_seed(0)
    x = np.random.default_rng(0).normal(size=(512, 1))
    hidden = keras.layers.Dense(4)
    activation = VAFActivation(k=5, g="relu", name="vaf")
    layers = [keras.Input((1,)), hidden, activation, keras.layers.Dense(1)]
    model = keras.Sequential(layers)
    model.compile(keras.optimizers.Adam(0.01), "mse")
    model.fit(x, np.sin(3 * x), epochs=150, verbose=0)
    return activation, keras.ops.convert_to_numpy(hidden(x))


def logo(activation: VAFActivation) -> str:
    """Return the function between -3 and 3, lines between knots, as an SVG picture."""
    places = sorted(place for place in unit_knots(activation) if -3 < place < 3)
    x = np.array([-3, *places, 3])
    y = activation.function(x)
    right = np.interp(x, (-3, 3), (9, 55)).round(1)
    down = np.interp(y, (y.min(), y.max()), (53, 11)).round(1)
    points = list(zip(right, down, strict=True))
    line = " ".join(f"{a},{b}" for a, b in points)
    return LOGO.format(
        line=line, knots="\n".join(KNOT.format(*each) for each in points[1:-1])
    )


def uses() -> None:
    """Write the pictures of the uses."""
    drawn = notebook_pages()
    for name, (path, part) in USES.items():
        picture = drawn.get(path) or (IMAGES.parent / path).read_bytes()
        shown = cut(picture, part, height=360)
        write_atomically(IMAGES / "uses" / f"{name}.png", shown)


@style.styled
def main() -> None:
    """Write all pictures."""
    uses()
    activation, data = learned()
    write_atomically(IMAGES / "logo.svg", logo(activation))
    _, ax = pyplot.subplots(figsize=(4.8, 3.4))
    plot_activation(activation, data=data, ax=ax)
    [derivative] = (line for line in ax.lines if "derivative" in str(line.get_label()))
    derivative.remove()
    ax.legend()
    ax.set_title("")
    save_small(IMAGES / "vaf.png", dpi=130)


if __name__ == "__main__":
    main()

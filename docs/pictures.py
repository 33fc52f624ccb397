"""Draw the pictures of the pages: `KERAS_BACKEND=jax python docs/pictures.py`.

Each function with a page's name draws one file of `docs/images`; names as arguments
draw only these. `torch` needs `KERAS_BACKEND=torch`, and is drawn only if it is named.
"""

import base64
import contextlib
import io
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import keras
import numpy as np
from matplotlib import pyplot
from networks import learned, sine, trained
from PIL import Image

import keras_vaf
from keras_vaf import layers
from keras_vaf.datasets import load
from keras_vaf.layers import VAFActivation
from keras_vaf.models import convert, simplify
from keras_vaf.utils import png_bytes
from keras_vaf.visualization import plot_activations, style

DOCS = Path(__file__).parent
IMAGES, EXAMPLES = DOCS / "images", DOCS / "reports" / "examples"
X = np.linspace(-4, 4, 401)


def blocks(page: str) -> list[str]:
    """Return the Python code of a page."""
    text = (DOCS / page).read_text("utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)


def run(code: str, length: int | None = None) -> str:
    """Return what code prints, perhaps with another value of STEPS or EPOCHS."""
    if length:
        code = re.sub(r"(?m)^(STEPS|EPOCHS) = \d+", rf"\1 = {length}", code)
    printed = io.StringIO()
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(printed),
    ):
        exec(compile(code, "<page>", "exec"), {})
    return printed.getvalue()


def save(name: str, picture: bytes | None = None, dpi: int = 110) -> None:
    """Write a picture, or else the current figure, with 64 colours."""
    picture = picture or png_bytes(pyplot.gcf(), dpi=dpi)
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    small = image.quantize(64, dither=Image.Dither.NONE)
    (IMAGES / name).parent.mkdir(exist_ok=True)
    small.save(IMAGES / f"{name}.png", optimize=True)
    pyplot.close("all")


def vaf() -> None:
    """Draw the ReLU of a network before and after `convert` and training (kin8nm)."""
    data = load("kin8nm")
    x, y = ((each - each.mean(0)) / each.std(0) for each in (data.x, data.y))
    keras.utils.set_random_seed(0)
    hidden = keras.layers.Dense(16, "relu", name="hidden")
    model = keras.Sequential([keras.Input((8,)), hidden, keras.layers.Dense(1)])
    model.compile(keras.optimizers.Adam(0.003), "mse")
    for _ in range(2):
        model.fit(x, y, batch_size=64, epochs=40, verbose=0)
        model = convert(model)
    layer, a = model.get_layer("hidden_activation"), model.get_layer("hidden")(x)
    text = keras_vaf.formula(layer, digits=2)
    (EXAMPLES / "vaf.txt").write_text(f"{text}\n{_where()}", encoding="utf-8")
    _, ax = pyplot.subplots(figsize=(7.0, 2.1))
    learned(layer, keras.ops.convert_to_numpy(a), ax)
    ax.set_title("")
    save("vaf", dpi=150)


def units() -> None:
    """Draw what VAFs with 1, 2, 4 and 12 hidden units learn of one curve."""
    x = np.random.default_rng(0).normal(size=(2048, 1))
    figure, panels = pyplot.subplots(1, 4, figsize=(10, 2.6), sharey=True)
    grid = np.linspace(-3, 3, 601)
    for ax, k in zip(panels, (1, 2, 4, 12), strict=True):
        layer = VAFActivation(k=k, initialization="relu")
        trained(keras.Sequential([keras.Input((1,)), layer]), x, np.sin(2 * x))
        ax.plot(grid, np.sin(2 * grid), "--", color=style.DARK, lw=1.2, label="target")
        ax.plot(grid, layer.function(grid), color=style.BLUE, label="learned f")
        ax.set(title=f"k = {k}", xlabel="pre-activation a")
    panels[0].set_ylabel("f(a)")
    style.legend_below(figure, panels[:1])
    save("units")


def five_minutes() -> None:
    """Draw the picture of the first network of the page."""
    run("\n".join(blocks("five_minutes.md")[:2]))
    save("five_minutes")


def formula() -> None:
    """Draw the picture of the page, and write what its code prints."""
    text = run(blocks("explain.md")[0])
    save("formula")
    (EXAMPLES / "formula.txt").write_text(f"{text}{_where()}", encoding="utf-8")
    latex = next(line for line in text.splitlines() if "begin{cases}" in line)
    (EXAMPLES / "formula.tex").write_text(f"$$\n{latex}\n$$\n", encoding="utf-8")


def _where() -> str:
    return f"Keras {keras.__version__} on {keras.backend.backend()}, one seed\n"


def convert_() -> None:
    """Draw the function of a layer that was converted and trained further."""
    model, x = sine(keras.layers.ReLU())
    converted = trained(convert(model, k=5), x, np.sin(3 * x))
    plot_activations(converted, x)[0].set_title("a converted layer")
    save("convert")


def simplify_() -> None:
    """Draw a function of twelve hidden units before and after `simplify`."""
    layer = VAFActivation(k=12, g="relu", name="vaf")
    model, x = sine(layer)
    inputs = keras.ops.convert_to_numpy(model.layers[0](x))
    fewer = simplify(model, tolerance=0.02, data=x).get_layer("vaf")
    _, panels = pyplot.subplots(1, 2, figsize=(9, 3.2), sharey=True)
    for ax, each in zip(panels, (layer, fewer), strict=True):
        learned(each, inputs, ax)
        ax.set_title(f"{each.k} hidden units")
    save("simplify")


def starts() -> None:
    """Draw what VAFs that start as ReLU in three ways have learned of a sine."""
    _, ax = pyplot.subplots(figsize=(6, 4))
    ones, zeros, first = np.ones(5), np.zeros(5), np.eye(5)[0]
    weights = {
        "k equal units": [ones, zeros, ones / 5, np.zeros(())],
        "spare units all 0": [first, zeros, first, np.zeros(())],
        "ours": None,
    }
    x, grid = np.random.default_rng(0).normal(size=(1024, 1)), np.linspace(-3, 3, 601)
    ax.plot(grid, np.sin(2 * grid), "--", color=style.DARK, lw=1.2, label="target")
    colors = (style.ORANGE, style.GREEN, style.BLUE)
    for (name, own), color in zip(weights.items(), colors, strict=True):
        layer = VAFActivation(k=5, initialization="relu")
        if own:
            layer.set_weights(own)
        model = keras.Sequential([keras.Input((1,)), layer])
        model.compile(keras.optimizers.Adam(0.02), "mse")
        model.fit(x, np.sin(2 * x), batch_size=len(x), epochs=500, verbose=0)
        dashes = (0, (4, 3)) if color == style.GREEN else "-"
        ax.plot(grid, layer.function(grid), color=color, linestyle=dashes, label=name)
    ax.set(xlabel="pre-activation a", ylabel="f(a)")
    ax.set_title("Starts as ReLU, k = 5: what is learned")
    ax.legend(loc="lower left")
    save("starts")


def family() -> None:
    """Draw each trainable activation of one number, at its start and elsewhere."""
    members = [each for each in layers.ACTIVATIONS if each.name]
    figure, axes = pyplot.subplots(4, 4, figsize=(10, 8.5), sharex=True)
    for ax, member in zip(axes.flat, members, strict=True):
        for place, curve in enumerate(curves(member).T[::-1]):
            start = place == 3
            color, label = (style.BLUE, "start") if start else (style.ORANGE, "others")
            ax.plot(X, curve, color=color, lw=2.5 if start else 1.2, label=label)
        ax.set_title(member.layer.__name__, fontsize=9)
    style.legend_below(figure, axes.flat[:1])
    save("family")


def curves(member: layers.Member) -> np.ndarray:
    """Return the function that a layer starts as, and three random others."""
    layer = member.layer(sharing="channel", **member.picture)
    layer.build((None, 4))
    generator = np.random.default_rng(2)
    for weight in layer.trainable_variables:
        value = keras.ops.convert_to_numpy(weight).copy()
        value[1:] = value[0] + member.spread * generator.normal(size=value[1:].shape)
        weight.assign(weight.constraint(value) if weight.constraint else value)
    return layer.function(X)


def torch() -> None:
    """Draw the functions of a module of PyTorch after training."""
    import torch as pytorch

    pytorch.manual_seed(0)
    x = pytorch.randn(512, 1)
    nn = pytorch.nn
    network = nn.Sequential(nn.Linear(1, 8), nn.GELU(), nn.Linear(8, 1))
    network = convert(network, data=x)
    optimizer = pytorch.optim.Adam(network.parameters(), 0.01)
    for _ in range(500):
        optimizer.zero_grad()
        nn.functional.mse_loss(network(x), pytorch.sin(3 * x)).backward()
        optimizer.step()
    plot_activations(network, data=x)
    save("torch")


def compare() -> None:
    """Draw the picture of `keras-vaf compare yacht`."""
    from keras_vaf.experiments import compare

    with tempfile.TemporaryDirectory() as folder:
        save("compare", png_bytes(compare("yacht", output=folder).plot(), dpi=110))


def search() -> None:
    """Show the last picture of the notebook on searches."""
    book = json.loads((DOCS / "../notebooks/3_search.ipynb").read_text("utf-8"))
    outputs = [each for cell in book["cells"] for each in cell.get("outputs", ())]
    pictures = [each["data"].get("image/png") for each in outputs if "data" in each]
    save("search", base64.b64decode([each for each in pictures if each][-1]))


def small() -> None:
    """Draw the errors of small layers, and write what the code of the page prints."""
    printed = run("\n".join(blocks("small.md"))).splitlines()
    text = "\n".join(line for line in printed if "RMSE" in line)  # the rest is Keras's
    (EXAMPLES / "small.txt").write_text(f"{text}\n{_where()}", encoding="utf-8")
    lines = (DOCS / "small.md").read_text("utf-8").partition("table: small-errors")[2]
    head, _, *rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in lines.splitlines()[2:8]
    ]
    _, ax = pyplot.subplots(figsize=(6, 3.4))
    colors = (style.GREY, style.ORANGE, style.GREEN, style.BLUE)
    units, *errors = zip(*rows, strict=True)
    for name, own, color in zip(head[1:], errors, colors, strict=True):
        ax.plot(units, [*map(float, own)], "o-", color=color, label=name)
    ax.set(xlabel="units of the hidden layer", ylabel="mean error on test rows")
    ax.legend()
    save("small")


def physics() -> None:
    """Draw the picture of the equation on the map, and write what its code prints."""
    text = run(blocks("map.md")[0])
    save("examples/physics")
    (EXAMPLES / "physics.txt").write_text(f"{text}{_where()}", encoding="utf-8")


ALL = (vaf, units, five_minutes, formula, starts, family, compare, search, physics)
PICTURES: dict[str, Callable[[], None]] = {each.__name__: each for each in ALL}
PICTURES |= {"convert": convert_, "simplify": simplify_, "small": small, "torch": torch}


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "Agg")
    for chosen in sys.argv[1:] or [name for name in PICTURES if name != "torch"]:
        style.styled(PICTURES[chosen])()

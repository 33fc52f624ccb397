"""Draw the pictures of the pages: `KERAS_BACKEND=jax python docs/pictures.py`.

Each function with a page's name draws one file of `docs/images`; names as arguments
draw only these. `small` needs TensorFlow, `torch` needs PyTorch and must be named.
"""

import base64
import contextlib
import io
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from textwrap import fill

import keras
import numpy as np
from matplotlib import pyplot
from matplotlib.axes import Axes
from PIL import Image

import keras_vaf
from keras_vaf import VAFActivation, layers
from keras_vaf.datasets import load
from keras_vaf.models import convert, simplify
from keras_vaf.utils import png_bytes
from keras_vaf.visualization import plot_activation, plot_activations, style

DOCS = Path(__file__).parent
IMAGES, EXAMPLES = DOCS / "images", DOCS / "reports" / "examples"
WHERE = f"Keras {keras.__version__} on {keras.backend.backend()}, one seed\n"
X = np.linspace(-4, 4, 401)
SIZE = (5.4, 4.6)  # inches: a phone shows letters of 9 points with 8 pixels
# Arguments of layers in the picture of the family, and deviations of other weights.
SHOWN = {"vaf-random": {"k": 5, "initialization": "relu"}, "apl": {"seed": 0}}
SHOWN["kaf"] = {"initialization": "tanh"}
SPREADS = {"pelu": 0.25, "spline": 0.15, "polynomial": 0.08, "rational": 0.1}


def blocks(page: str) -> list[str]:
    """Return the Python code of a page."""
    text = (DOCS / page).read_text("utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)


def table(page: str, name: str) -> list[list[str]]:
    """Return the cells of a table of a page, without the line below its head."""
    text = (DOCS / page).read_text("utf-8").partition(f"table: {name} ")[2]
    head, _, *rows = text.split("\n\n")[1].splitlines()
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in (head, *rows)]


def run(code: str, length: int | None = None) -> str:
    """Return what code prints, perhaps with another value of STEPS or EPOCHS."""
    if length:
        code = re.sub(r"(?m)^(STEPS|EPOCHS) = \d+", rf"\1 = {length}", code)
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(io.StringIO()) as printed,
    ):
        exec(compile(code, "<page>", "exec"), {})
    return printed.getvalue()


def save(name: str, picture: bytes | None = None, dpi: int = 110) -> None:
    """Write a picture, or else the current figure, with 64 colours."""
    picture = picture or png_bytes(pyplot.gcf(), dpi=dpi)
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    small = image.quantize(64, dither=Image.Dither.NONE)
    small.save(IMAGES / f"{name}.png", optimize=True)
    pyplot.close("all")


def trained(model: keras.Sequential, x: np.ndarray, y: np.ndarray) -> keras.Sequential:
    """Return a model after 150 epochs."""
    model.compile(keras.optimizers.Adam(0.01), "mse")
    model.fit(x, y, epochs=150, verbose=0)
    return model


def sine(activation: keras.Layer) -> tuple[keras.Sequential, np.ndarray, np.ndarray]:
    """Return a network trained on a sine, its inputs, and those of its activation."""
    keras.utils.set_random_seed(0)
    x, dense = np.random.default_rng(0).normal(size=(512, 1)), keras.layers.Dense(4)
    parts = keras.Input((1,)), dense, activation, keras.layers.Dense(1)
    model = trained(keras.Sequential(parts), x, np.sin(3 * x))
    return model, x, keras.ops.convert_to_numpy(dense(x))


def learned(layer: VAFActivation, data: np.ndarray, ax: Axes) -> None:
    """Draw a learned function without its derivative, which has its own axis."""
    plot_activation(layer, data=data, ax=ax)
    ax.figure.axes[-1].remove()
    [line] = (each for each in ax.lines if "derivative" in str(each.get_label()))
    line.remove()
    ax.legend()


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
    (EXAMPLES / "vaf.txt").write_text(f"{text}\n{WHERE}", encoding="utf-8")
    _, ax = pyplot.subplots(figsize=(5.3, 1.8))
    learned(layer, keras.ops.convert_to_numpy(a), ax)
    ax.set_title("")
    save("vaf", dpi=150)


def units() -> None:
    """Draw what VAFs with 1, 2, 4 and 12 hidden units learn of one curve."""
    x = np.random.default_rng(0).normal(size=(2048, 1))
    figure, panels = pyplot.subplots(2, 2, figsize=SIZE, sharex=True, sharey=True)
    grid = np.linspace(-3, 3, 601)
    for ax, k in zip(panels.flat, (1, 2, 4, 12), strict=True):
        layer = VAFActivation(k=k, initialization="relu")
        trained(keras.Sequential([keras.Input((1,)), layer]), x, np.sin(2 * x))
        ax.plot(grid, np.sin(2 * grid), "--", color=style.DARK, lw=1.2, label="target")
        ax.plot(grid, layer.function(grid), color=style.BLUE, label="learned f")
        ax.set(title=f"k = {k}", xlabel="pre-activation a")
    style.legend_below(figure, panels[0, :1])
    save("units")


def five_minutes() -> None:
    """Draw the picture of the first network of the page."""
    run("\n".join(blocks("five_minutes.md")[:2]))
    save("five_minutes")


def formula() -> None:
    """Draw the picture of the page, and write what its code prints."""
    text = run(blocks("explain.md")[0])
    pyplot.gcf().set_size_inches(5.6, 3.2)
    save("formula")
    (EXAMPLES / "formula.txt").write_text(f"{text}{WHERE}", encoding="utf-8")
    latex = next(line for line in text.splitlines() if "begin{cases}" in line)
    (EXAMPLES / "formula.tex").write_text(f"$$\n{latex}\n$$\n", encoding="utf-8")


def simplify_() -> None:
    """Draw a function of twelve hidden units before and after `simplify`."""
    model, x, inputs = sine(VAFActivation(k=12, g="relu", name="vaf"))
    both = model, simplify(model, tolerance=0.02, data=x)
    _, panels = pyplot.subplots(2, figsize=SIZE, sharex=True)
    for ax, each in zip(panels, both, strict=True):
        learned(each.get_layer("vaf"), inputs, ax)
        ax.set_title(f"{each.get_layer('vaf').k} hidden units")
    save("simplify")


def relu() -> None:
    """Draw SiLU, and its fits to the inputs of a layer by units of ReLU."""
    model, x, a = sine(keras.layers.Activation("silu"))
    _, ax = pyplot.subplots(figsize=(5.4, 3.6))
    style.draw_histogram(*np.histogram(a, 40, (X[0], X[-1])), ax)
    ax.plot(X, X / (1 + np.exp(-X)), color=style.DARK, lw=1, label="SiLU", zorder=3)
    for k, color in ((3, style.ORANGE), (5, style.BLUE)):
        layer = convert(model, g="relu", k=k, data=x).layers[1]
        ax.plot(X, layer.function(X), color=color, label=f"{k} units of ReLU")
    ax.set(xlabel="pre-activation a", ylabel="f(a)", ylim=(-0.5, 1.5))
    ax.legend()
    save("relu")


def family() -> None:
    """Draw each trainable activation of one number, at its start and elsewhere."""
    members = [each for each in layers.ACTIVATIONS if each.name]
    figure, axes = pyplot.subplots(6, 3, figsize=(5.5, 9))
    for ax, member in zip(axes.flat, members, strict=False):
        for place, curve in enumerate(curves(member).T[::-1]):
            start = place == 3
            color, label = (style.BLUE, "start") if start else (style.ORANGE, "others")
            ax.plot(X, curve, color=color, lw=2.5 if start else 1.2, label=label)
        ax.set_title(member.layer.__name__, fontsize=9)
    for ax in axes.flat[len(members) :]:
        ax.remove()
    style.legend_below(figure, axes.flat[:1])
    save("family")


def curves(member: layers.Member) -> np.ndarray:
    """Return the function that a layer starts as, and three random others."""
    layer = member.layer(sharing="channel", **SHOWN.get(member.name, {}))
    layer.build((None, 4))
    generator = np.random.default_rng(2)
    for weight in layer.trainable_variables:
        value = keras.ops.convert_to_numpy(weight).copy()
        value[1:] = value[0] + SPREADS.get(member.name, 0.5) * generator.normal(
            size=value[1:].shape
        )
        weight.assign(weight.constraint(value) if weight.constraint else value)
    return layer.function(X)


def torch() -> None:
    """Draw the functions of a module of PyTorch after training."""
    from torch import manual_seed, nn, optim, randn, sin

    manual_seed(0)
    x = randn(512, 1)
    network = nn.Sequential(nn.Linear(1, 8), nn.GELU(), nn.Linear(8, 1))
    network = convert(network, data=x)
    optimizer = optim.Adam(network.parameters(), 0.01)
    for _ in range(500):
        optimizer.zero_grad()
        nn.functional.mse_loss(network(x), sin(3 * x)).backward()
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
    book = (DOCS / "../notebooks/3_search.ipynb").read_text("utf-8")
    pictures = re.findall(r'"image/png": "([^"]+)"', book)
    save("search", base64.b64decode(pictures[-1].replace("\\n", "")))


def overview() -> None:
    """Draw the ratios of the map with their intervals; orange ones are significant."""
    (_, *titles), *rows = table("map.md", "map-overview")
    names, *columns = zip(*rows, strict=True)
    figure, panels = pyplot.subplots(1, 2, figsize=SIZE, sharey=True)
    for ax, title, cells in zip(panels, titles, columns, strict=True):
        found = [re.findall(r"\d+\.?\d*", cell)[:3] or ["nan"] * 3 for cell in cells]
        ratio, low, high = np.array(found, "float").T
        colors = [style.ORANGE if "**" in cell else style.BLUE for cell in cells]
        ax.hlines(range(len(cells)), low, high, colors)
        ax.scatter(ratio, range(len(cells)), color=colors, zorder=3)
        ax.axvline(1, color=style.GREY, lw=1)
        ax.set(title=title, xscale="log")
        ax.set_xticks([0.25, 1, 4], ["0.25", "1", "4"])
        ax.minorticks_off()
    panels[0].set_yticks(range(len(names)), [fill(name, 20) for name in names])
    panels[0].invert_yaxis()
    figure.supxlabel("error of the VAF / error of the fixed function", size=10)
    save("map/overview")


def small() -> None:
    """Draw the errors of small layers, and write what the code of the page prints."""
    printed = run("\n".join(blocks("small.md"))).splitlines()
    text = "\n".join(line for line in printed if "RMSE" in line)  # the rest is Keras's
    (EXAMPLES / "small.txt").write_text(f"{text}\n{WHERE}", encoding="utf-8")
    head, *rows = table("small.md", "small-errors")
    _, ax = pyplot.subplots(figsize=(5.4, 3.2))
    colors = (style.GREY, style.ORANGE, style.GREEN, style.BLUE)
    units, *errors = zip(*rows, strict=True)
    for name, own, color in zip(head[1:], errors, colors, strict=True):
        ax.plot(units, [*map(float, own)], "o-", color=color, label=name)
    ax.set(xlabel="units of the hidden layer", ylabel="mean error on test rows")
    style.legend_below(pyplot.gcf(), [ax])
    save("small")


def physics() -> None:
    """Draw the picture of the equation on the map, and write what its code prints."""
    text = run(blocks("map.md")[0])
    save("examples/physics")
    (EXAMPLES / "physics.txt").write_text(f"{text}{WHERE}", encoding="utf-8")


ALL = (vaf, units, five_minutes, formula, relu, family, compare, search, overview)
PICTURES: dict[str, Callable[[], None]] = {each.__name__: each for each in ALL}
PICTURES |= {"simplify": simplify_, "small": small, "physics": physics, "torch": torch}


if __name__ == "__main__":
    pyplot.switch_backend("Agg")
    for chosen in sys.argv[1:] or [name for name in PICTURES if name != "torch"]:
        style.styled(PICTURES[chosen])()

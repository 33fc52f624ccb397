"""The pictures that the tests compare with. Look at them before they are committed.

Made by `python -m tests.visualization.make_reference`.
"""

import contextlib
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import pyplot

from keras_vaf.layers import VAFActivation
from keras_vaf.visualization import ActivationRecord, plot_activation, plot_epochs

FOLDER = Path(__file__).parent / "reference"
# Of letters little is left: they differ between versions of Matplotlib.
SETTINGS = {
    "font.family": "DejaVu Sans",
    "text.antialiased": False,
    "text.hinting": "none",
    "savefig.dpi": 60,
}


def vaf():
    """One that bends at -1, 0 and 2."""
    layer = VAFActivation(k=3, initialization="relu")
    weights = [[1, -1, 2], [0, -1, -4], [1, 0.5, -0.75], 0.25]
    layer.set_weights([np.array(weight) for weight in weights])
    return layer


def channels():
    """Twenty functions with one bend each, two of them far from the others."""
    layer = VAFActivation(k=1, sharing="channel")
    layer.build((None, 20))
    slopes = np.linspace(0.8, 1.2, 20)
    slopes[[3, 11]] = 2.5, -1
    layer.set_weights(
        [np.ones((20, 1)), np.zeros((20, 1)), slopes[:, None], np.zeros(20)]
    )
    return layer


def record(epoch):
    """Return the record of a line of slope `epoch`."""
    x = np.linspace(-2, 2, 9)
    return ActivationRecord(
        epoch=epoch,
        x=x,
        curves=epoch * x[:, None],
        counts=np.array([1, 4, 2]),
        edges=np.array([-2, -1, 1, 2]),
        dead=0.0,
    )


def data():
    """Normal numbers."""
    return np.sort(np.random.default_rng(0).normal(size=400))


PICTURES = {
    "function": lambda: plot_activation(vaf(), data=data()),
    "bundle": lambda: plot_activation(channels()),
    "epochs": lambda: plot_epochs([record(0), record(1), record(2)])[0],
}


def draw(name, folder):
    """Draw one of the pictures into a folder and return its path."""
    path = Path(folder) / f"{name}.png"
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.use("Agg")
        matplotlib.rcParams.update(SETTINGS)
        axes = PICTURES[name]()
        axes.figure.savefig(path, dpi=SETTINGS["savefig.dpi"])
        pyplot.close(axes.figure)
    return path


if __name__ == "__main__":
    with contextlib.suppress(FileExistsError):
        FOLDER.mkdir()
    for each in PICTURES:
        draw(each, FOLDER)

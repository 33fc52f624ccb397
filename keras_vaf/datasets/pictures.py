"""How the values of a dataset are spread, as a picture."""

import io
import math
from typing import Any

import numpy as np

from keras_vaf.datasets.dataset import Dataset
from keras_vaf.utils import require

_COLUMNS = 6
_BINS = 30


def plot_distributions(dataset: Dataset) -> bytes:
    """Draw a histogram of each input and of the target.

    Args:
        dataset: The dataset. Of images, all pixels make one histogram.

    Returns:
        The picture, as PNG.

    Raises:
        ImportError: If Matplotlib is not installed.
    """
    if dataset.x.ndim > 2:
        panels = {"all pixels": dataset.x.reshape(-1)}
    else:
        panels = dict(zip(dataset.feature_names, dataset.x.T, strict=True))
    rows = math.ceil((len(panels) + 1) / _COLUMNS)
    figure = require("matplotlib.figure", extra="plot").Figure(
        figsize=(2.2 * _COLUMNS, 1.8 * rows), layout="constrained"
    )
    figure.suptitle(repr(dataset), fontsize="medium")
    axes = list(figure.subplots(rows, _COLUMNS, squeeze=False).flat)
    for axis, (name, values) in zip(axes, panels.items(), strict=False):
        axis.hist(values[~np.isnan(values)], bins=_BINS)
        axis.set_title(name, fontsize="small")
    _draw_target(axes[len(panels)], dataset)
    for axis in axes:
        axis.tick_params(labelsize="x-small")
    for axis in axes[len(panels) + 1 :]:
        axis.set_axis_off()
    stream = io.BytesIO()
    figure.savefig(stream, format="png")
    return stream.getvalue()


def _draw_target(axis: Any, dataset: Dataset) -> None:
    axis.set_title("target", fontsize="small")
    if dataset.class_names is None:
        axis.hist(dataset.y, bins=_BINS, color="tab:orange")
    else:
        counts = np.bincount(dataset.y, minlength=len(dataset.class_names))
        axis.bar(range(len(counts)), counts, color="tab:orange")

"""The colours are read by everyone: enough contrast, and told apart by all eyes."""

import itertools

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from keras_vaf.visualization import style

pytestmark = pytest.mark.backend("tensorflow")

# Linear RGB as people see it who lack one kind of cone (Machado et al., 2009).
SEEN = {
    "all cones": np.eye(3),
    "no red cones": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "no green cones": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "no blue cones": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
# Linear RGB to XYZ, for the white of a screen.
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)


def linear(color):
    """Return the light that a colour sends out."""
    values = np.array(to_rgb(color))
    return np.where(
        values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4
    )


def contrast(color, background="white"):
    """Return the contrast ratio of WCAG."""
    light = sorted(0.05 + TO_XYZ[1] @ linear(each) for each in (color, background))
    return light[1] / light[0]


def lab(light):
    """Return CIELAB coordinates, in which equal distances look alike."""
    ratio = TO_XYZ @ np.clip(light, 0, 1) / TO_XYZ.sum(axis=1)
    f = np.where(ratio > 216 / 24389, np.cbrt(ratio), ratio * 841 / 108 + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("color", [style.DARK, style.GREY])
def test_text_has_the_contrast_that_reading_takes(color):
    assert contrast(color, style.STYLE["axes.facecolor"]) >= 4.5


@pytest.mark.parametrize("color", [style.BLUE, style.ORANGE, style.GREEN])
def test_curves_of_one_function_stand_out(color):
    assert contrast(color) >= 3


@pytest.mark.parametrize("eyes", SEEN)
def test_colours_are_told_apart(eyes):
    shown = [lab(np.array(SEEN[eyes]) @ linear(color)) for color in style.CYCLE]
    for one, other in itertools.combinations(shown, 2):
        assert np.linalg.norm(one - other) > 10

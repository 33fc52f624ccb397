"""Axes that share a function: names, axes, and refused values."""

import keras
import pytest

from keras_vaf.layers import VAFActivation

pytestmark = pytest.mark.backend("tensorflow")


@pytest.mark.parametrize(
    "sharing, message",
    [
        ((3,), r"rank 3.*of 1 to 2 or -2 to -1.*Received: sharing=\(3,\)"),
        ((1, -2), r"rank 3.*different.*Received: sharing=\(1, -2\)"),
    ],
)
def test_axes_that_an_input_does_not_have(sharing, message):
    layer = VAFActivation(sharing=sharing)
    with pytest.raises(ValueError, match=message):
        layer.build((None, 4, 5))


def test_the_global_data_format_is_stored_resolved():
    before = keras.config.image_data_format()
    keras.config.set_image_data_format("channels_first")
    layer = VAFActivation(sharing="channel")
    keras.config.set_image_data_format(before)
    assert layer.get_config()["data_format"] == "channels_first"
    layer.build((None, 7, 5, 5))
    assert layer.beta_bias.shape == (7,)

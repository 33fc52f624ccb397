"""`with_keras_settings` and the other functions that run in the workers of Dask."""

import threading
from collections.abc import Callable
from typing import Any

import keras

from keras_vaf.utils.extras import hide_tensorflow

_ONE_AT_A_TIME = threading.Lock()


def unpacking_call() -> Callable[..., Any]:
    """Return a function that unpacks a call from bytes and makes it.

    Dask sends the function as code, because no module contains it.
    """

    def call(packed: bytes, *shared: Any) -> Any:
        import os

        from distributed.protocol.pickle import loads

        # The first call imports TensorFlow, which writes lines to file descriptor 2.
        shown, hidden = os.dup(2), os.open(os.devnull, os.O_WRONLY)
        os.dup2(hidden, 2)
        try:
            function, arguments, places = loads(packed)
        finally:
            os.dup2(shown, 2)
            os.close(shown)
            os.close(hidden)
        for place, value in zip(places, shared, strict=True):
            arguments[place] = value
        return function(*arguments)

    return call


def return_value(value: Any) -> Any:
    """Return the argument, which then stays with the worker."""
    return value


def keras_settings() -> dict[str, str]:
    """Return the settings of Keras in this process."""
    return {
        "backend": keras.backend.backend(),
        "floatx": keras.config.floatx(),
        "dtype_policy": keras.config.dtype_policy().name,
        "image_data_format": keras.config.image_data_format(),
    }


def with_keras_settings(
    settings: dict[str, str], function: Callable[..., Any], *arguments: Any
) -> Any:
    """Call a function in a worker, with the Keras settings of the driver.

    Args:
        settings: The settings, as returned by `keras_settings` in the driver.
        function: The function.
        *arguments: Arguments of the function.

    Raises:
        ValueError: If the worker uses another backend.
    """
    if settings.get("tensorflow") == "hidden":
        hide_tensorflow()
    backend, own = settings["backend"], keras.backend.backend()
    if own != backend:
        raise ValueError(
            f"The workers must use the backend {backend}, as this process does: start "
            f"them with KERAS_BACKEND={backend}. "
            f"Received: a worker with the backend {own}"
        )
    with _ONE_AT_A_TIME:  # Keras has global state, workers may have threads.
        keras.config.set_floatx(settings["floatx"])
        keras.config.set_dtype_policy(settings["dtype_policy"])
        keras.config.set_image_data_format(settings["image_data_format"])
        return function(*arguments)

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


def version_call() -> Callable[[], str]:
    """Return a function that returns the version of keras_vaf without importing it.

    Dask sends the function as code, so that workers with an older version have it too.
    """

    def version() -> str:
        import importlib.util
        import re

        spec = importlib.util.find_spec("keras_vaf")
        if spec is None or spec.origin is None:
            return "none"
        with open(spec.origin, encoding="utf-8") as file:
            found = re.search(r'__version__ = "(.+?)"', file.read())
        return found[1] if found else "unknown"

    return version


def check_version(wanted: str, own: str, worker: str) -> None:
    """Raise a `ValueError` if a worker has another version of keras_vaf.

    Args:
        wanted: The version of this process.
        own: The version of the worker.
        worker: Name of the worker for the error message.
    """
    if own != wanted:
        raise ValueError(
            f"The workers must have keras-vaf {wanted}, as this process does, because "
            "results of two versions must not be in one table. "
            f"Received: {worker} with keras-vaf {own}"
        )


def return_value(value: Any) -> Any:
    """Return the argument, which then stays with the worker."""
    return value


def keras_settings() -> dict[str, str]:
    """Return the settings of Keras in this process."""
    return {
        "version": version_call()(),
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
        ValueError: If the worker has another version of keras_vaf, or uses another
            backend.
    """
    check_version(settings["version"], version_call()(), "a worker")
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

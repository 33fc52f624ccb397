"""`load_model` and `change_file`, which read a saved model and write a changed copy."""

import contextlib
import os
import textwrap
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras

from keras_vaf.utils import atomic_path, check_output


def load_model(path: str | os.PathLike[str], compile: bool = True) -> keras.Model:
    """Load a `.keras` file, in Keras's safe mode, compiled as it was saved.

    If Keras cannot find the loss, the metrics or the optimizer, a warning says so. A
    model that was saved on PyTorch is compiled on PyTorch only: on another backend,
    Keras would import PyTorch, and two frameworks in a process may end it.

    Raises:
        FileNotFoundError: If the file does not exist.
        OSError: If the machine fails: a full disk, or no permission to read the file.
        ValueError: If Keras cannot load the file.
    """
    if Path(path).is_dir():
        raise ValueError(
            f"{path} is a folder. A SavedModel holds programs, not layers that could "
            "be read or changed: give the .keras file of the model"
        )
    if not Path(path).is_file():
        raise FileNotFoundError(f"The file {path} does not exist")
    if Path(path).suffix == ".keras" and not zipfile.is_zipfile(path):
        raise ValueError(
            f"{path} is damaged or not a model: a .keras file is a ZIP archive. Save "
            f"the model again. Received: {Path(path).stat().st_size:,} bytes"
        )
    compile = compile and not _needs_pytorch(path)
    try:
        return keras.saving.load_model(path, compile=compile)
    except Exception as error:  # Keras and zipfile raise errors of any class
        if isinstance(error, OSError) and error.errno:  # of the machine, not the file
            raise
        # Errors of Keras may contain a whole configuration.
        reason = str(error).rpartition("Exception encountered: ")[2]
        reason = textwrap.shorten(reason.partition(" Full object config:")[0], 300)
        if compile:
            model = load_model(path, compile=False)
            warnings.warn(
                "The model is not compiled, because Keras cannot load its loss, "
                f"metrics or optimizer: {reason}",
                stacklevel=2,
            )
            return model
        raise ValueError(
            f"Keras cannot load {path}. If the model has classes or functions of your "
            "own, register them in Python and use keras_vaf.models there. "
            f"Received: {reason}"
        ) from error


def _needs_pytorch(path: str | os.PathLike[str]) -> bool:
    """Return whether compiling a saved model would import PyTorch on this backend."""
    with contextlib.suppress(Exception), zipfile.ZipFile(path) as file:
        # A damaged file raises errors of any class, of which Keras says more.
        on_torch = keras.backend.backend() == "torch"
        return not on_torch and b".backend.torch." in file.read("config.json")
    return False


def change_file(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    change: Callable[[keras.Model], Any],
    force: bool = False,
) -> Any:
    """Load a model, save the changed model in another file, and return it.

    An existing file is overwritten only by `force`, once the new one is complete.
    """
    if Path(output).suffix != ".keras":
        raise ValueError(f"`output` must end in .keras. Received: output={output}")
    check_output(output, force, inputs=[source])
    with warnings.catch_warnings():  # the optimizer of the changed model starts afresh
        warnings.filterwarnings("ignore", "Skipping variable loading for optimizer")
        model = load_model(source)
    result = change(model)
    with atomic_path(output, force=force) as temporary:
        result.save(temporary)
    return result

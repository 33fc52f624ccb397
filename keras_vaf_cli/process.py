"""`start`, the entry point of `keras-vaf`: `main` with handlers of signals."""

import contextlib
import importlib.util
import io
import json
import os
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import NoReturn

from keras_vaf_cli import main
from keras_vaf_cli.shared import say

BACKENDS = ("tensorflow", "jax", "torch")
_LOG_LEVEL = "TF_CPP_MIN_LOG_LEVEL"
_SHOW_CURSOR = "\x1b[?25h"  # a progress bar hides it


def start() -> NoReturn:
    """Run `keras-vaf` with the arguments of the process, and exit."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _stop)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # for terminals without Unicode
    sys.exit(main(load=_load))


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    """End the process at once.

    Some libraries ignore exceptions, and the normal exit can crash while JAX computes.
    Files are complete at any time, so that nothing has to be done before the end.
    """
    cause = "interrupted" if number == signal.SIGINT else "terminated"
    text = f"\nkeras-vaf: {cause}; every finished result is kept; the same command "
    cursor = _SHOW_CURSOR if sys.stderr.isatty() else ""
    text = f"{cursor}{text}continues from there.\n"
    os.write(sys.stderr.fileno(), text.encode())
    os._exit(128 + number)


def _load() -> None:
    """Import keras_vaf with only one backend, and without log lines of TensorFlow."""
    _choose_backend()
    hidden = _LOG_LEVEL not in os.environ
    os.environ.setdefault(_LOG_LEVEL, "3")
    with _hidden_log() if hidden else contextlib.nullcontext():
        import keras_vaf  # noqa: F401
    import keras

    from keras_vaf.utils.extras import hide_tensorflow

    if keras.backend.backend() != "tensorflow":
        hide_tensorflow()
    warnings.showwarning = lambda message, *_, **__: say(
        f"keras-vaf: warning: {message}", file=sys.stderr
    )


def _choose_backend() -> None:
    """Use the only backend that is installed if Keras is set to use another one."""
    if os.environ.get("KERAS_BACKEND"):
        return
    home, configured = os.environ.get("KERAS_HOME") or "~/.keras", "tensorflow"
    with contextlib.suppress(OSError, ValueError, AttributeError):  # as Keras does
        text = (Path(home).expanduser() / "keras.json").read_text("utf-8")
        configured = json.loads(text).get("backend", configured)
    installed = [name for name in BACKENDS if importlib.util.find_spec(name)]
    if configured in BACKENDS and len(installed) == 1 and configured not in installed:
        os.environ["KERAS_BACKEND"] = installed[0]
        say(
            f"keras-vaf: the backend {configured} is not installed; {installed[0]} is "
            "used. Set KERAS_BACKEND to choose.",
            file=sys.stderr,
        )


@contextlib.contextmanager
def _hidden_log() -> Iterator[None]:
    """Hide the output of libraries to file descriptor 2, unless the block fails.

    TensorFlow writes two lines there before it reads its log level.
    """
    shown, stderr = os.dup(2), sys.stderr
    with tempfile.TemporaryFile() as log:
        os.dup2(log.fileno(), 2)
        # Never closed, because a logger created in the block may keep it.
        sys.stderr = open(  # noqa: SIM115
            shown, "w", 1, errors="backslashreplace", closefd=False
        )
        try:
            yield
        except BaseException:
            log.seek(0)
            os.write(shown, log.read())
            raise
        finally:
            os.dup2(shown, 2)
            sys.stderr = stderr

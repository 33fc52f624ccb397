"""`start`, the entry point of the console script `keras-vaf`.

It sets signal handlers, TensorFlow's log level and the import of the backend, which
affect the whole process. `keras_vaf_cli.main` does not change them.
"""

import argparse
import contextlib
import io
import os
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NoReturn

from keras_vaf_cli import Terminated, main
from keras_vaf_cli.shared import say

_LOG_LEVEL = "TF_CPP_MIN_LOG_LEVEL"
_SECONDS_TO_STOP = 5.0
_SIGNALLED = 128  # plus the number of a signal: the exit code of a stopped command


def start() -> NoReturn:
    """Run `keras-vaf` with the arguments of the process, and exit."""
    _handle_signals(_end, _end)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # for terminals without Unicode
    code = main(load=_load)
    if code > _SIGNALLED:
        # The normal exit of the interpreter can crash while JAX still computes.
        sys.stdout.flush()
        os._exit(code)
    sys.exit(code)


def _load(arguments: argparse.Namespace) -> None:
    """Import keras_vaf with only one backend, and without log lines of TensorFlow."""
    hidden = _LOG_LEVEL not in os.environ
    os.environ.setdefault(_LOG_LEVEL, "3")
    with _hidden_log() if hidden else contextlib.nullcontext():
        import keras_vaf  # noqa: F401
    import keras

    from keras_vaf.utils.extras import hide_tensorflow

    writes_tfds = getattr(arguments, "tfds_dir", None) is not None
    if keras.backend.backend() != "tensorflow" and not writes_tfds:
        hide_tensorflow()
    warnings.showwarning = _print_warning
    _handle_signals(signal.default_int_handler, _terminate)
    if hasattr(signal, "pthread_kill"):  # not on Windows
        sys.unraisablehook = _stop_again


def _handle_signals(
    interrupt: Callable[[int, FrameType | None], Any],
    terminate: Callable[[int, FrameType | None], Any],
) -> None:
    """Set the signal handlers, unless the process ignores the signals."""
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGTERM, terminate)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    """End the process immediately, during the import of packages.

    An exception is not sufficient, because some libraries ignore or replace exceptions
    in their imports. No results can be lost, because imports do not write any.
    """
    cause = "interrupted" if number == signal.SIGINT else "terminated"
    print(f"\nkeras-vaf: {cause} before it began.", file=sys.stderr, flush=True)
    os._exit(_SIGNALLED + number)


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    """Stop the command, and repeat the signal if a library ignores the exception.

    The repetition ends with the process, or when the command catches the exception.
    """
    _repeat(number, _SECONDS_TO_STOP)
    raise Terminated


def _repeat(number: int, seconds: float) -> None:
    """Send a signal to this thread again after a delay."""
    if hasattr(signal, "pthread_kill"):  # not on Windows
        thread = threading.get_ident()
        timer = threading.Timer(seconds, signal.pthread_kill, (thread, number))
        timer.daemon = True
        timer.start()


def _stop_again(unraisable: Any) -> None:
    """Repeat a signal that arrived in a callback of the garbage collector.

    Python ignores exceptions in such callbacks. JAX has one that runs often.
    """
    stop = unraisable.exc_value
    if isinstance(stop, KeyboardInterrupt):
        number = signal.SIGTERM if isinstance(stop, Terminated) else signal.SIGINT
        _repeat(number, 0.01)
    else:
        sys.__unraisablehook__(unraisable)


def _print_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning as a sentence, without a file name and a line of code."""
    say(f"keras-vaf: warning: {message}", file=sys.stderr)


@contextlib.contextmanager
def _hidden_log() -> Iterator[None]:
    """Hide the output of libraries to file descriptor 2, unless the block fails.

    TensorFlow writes two lines there before it reads its log level. Python's output to
    `sys.stderr` is not affected.
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

"""Version, exit codes and one-sentence errors of all commands."""

import types

import pytest

import keras_vaf
import keras_vaf_cli
from keras_vaf_cli import main

pytestmark = pytest.mark.backend("tensorflow")


@pytest.fixture
def failing(monkeypatch):
    """Make `keras-vaf fail` raise an error."""

    def install(error):
        def run(arguments):
            raise error

        command = types.ModuleType("keras_vaf_cli.fail")
        command.add_arguments, command.run = lambda parser: None, run
        monkeypatch.setattr(keras_vaf_cli, "COMMANDS", (command,))

    return install


def test_tells_its_version(run):
    assert run("--version") == (0, f"keras-vaf {keras_vaf.__version__}\n", "")


@pytest.mark.parametrize("line", ["", "compote", "compare", "compare wine --seeds 1,b"])
def test_refuses_other_words_with_code_2(run, line):
    assert run(line)[0] == 2


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError("expected this. Received: that"), "expected this. Received: that"),
        (ImportError("pip install it"), "pip install it"),
        (PermissionError(13, "Permission denied", "/x"), "Permission denied: /x"),
        (OSError(28, "No space left on device"), "[Errno 28] No space left on device"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_bad_input_is_one_sentence_and_code_2(failing, run, error, expected):
    failing(error)

    assert run("fail") == (2, "", f"keras-vaf: {expected}\n")


def test_a_bug_shows_its_traceback(failing):
    failing(ZeroDivisionError())

    with pytest.raises(ZeroDivisionError):
        main(["fail"])

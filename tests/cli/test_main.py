"""Exit codes and one-sentence errors of all commands."""

import re
import runpy
import sys
import types

import pytest

import keras_vaf_cli
from keras_vaf.experiments import Recipe
from keras_vaf.training import recipe
from keras_vaf.tuners.table_search import BASELINES, FOLDS, TRIALS
from keras_vaf_cli import compare, main
from keras_vaf_cli.options import OPTIONS

pytestmark = pytest.mark.backend("tensorflow")


def test_the_help_names_the_defaults_of_the_library():
    defaults = {
        **{f"--{name}": getattr(Recipe(), name) for name in ("folds", "epochs")},
        "--hidden": "100,50",
        "--trials": TRIALS,
        "--baselines": BASELINES,
        "of a search": FOLDS,
    }
    said = "\n".join(f"{name} {words['help']}" for name, words in OPTIONS.items())
    for name, value in defaults.items():
        assert re.search(rf"{name}.* {value}\b", said), name
    names = ", ".join(recipe.ACTIVATIONS[:-1])
    assert f"{names} and {recipe.ACTIVATIONS[-1]}" in compare.__doc__.replace("\n", " ")


@pytest.fixture
def failing(monkeypatch):
    """Make `keras-vaf fail` raise an error."""

    def install(error):
        def run(given):
            raise error

        command = types.ModuleType("keras_vaf_cli.fail")
        command.ARGUMENTS, command.run = {"": ()}, run
        monkeypatch.setattr(keras_vaf_cli, "COMMANDS", (command,))

    return install


def test_the_package_itself_is_the_command_too(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["keras_vaf", "--version"])
    monkeypatch.delitem(sys.modules, "keras_vaf.__main__", raising=False)
    with pytest.raises(SystemExit):
        runpy.run_module("keras_vaf", run_name="__main__")
    assert re.fullmatch(r"keras-vaf [\d.]+\n", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", "arguments are required"),
        ("compote", "invalid choice: 'compote'"),
        ("compare", "arguments are required: data"),
        ("compare wine --seeds 1,b", "a list such as 0,1. Received: 1,b"),
    ],
)
def test_refuses_other_words_with_code_2(run, line, expected):
    code, _, errors = run(line)
    assert code == 2
    assert expected in errors


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

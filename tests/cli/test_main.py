"""What all commands have in common: help, version, errors and interruptions."""

import argparse
import re
import shlex

import pytest

import keras_vaf
from keras_vaf import cli
from keras_vaf.cli import main

pytestmark = pytest.mark.backend("tensorflow")


@pytest.fixture
def failing(monkeypatch):
    """Make `keras-vaf fail` raise an error."""

    def install(error):
        class Command:
            @staticmethod
            def add_parser(subparsers: argparse._SubParsersAction) -> None:
                subparsers.add_parser("fail").set_defaults(func=Command.run)

            @staticmethod
            def run(arguments):
                raise error

        monkeypatch.setattr(cli, "COMMANDS", (Command,))

    return install


def parsers(parser=None, words=()):
    """Return the parser of each command, by its words; `()` is the whole."""
    parser = parser or cli._parser()
    found = {words: parser}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                found |= parsers(inner, (*words, name))
    return found


PARSERS = parsers()


@pytest.mark.parametrize("words", PARSERS, ids=lambda words: " ".join(words) or "all")
def test_help_ends_with_examples_of_the_command_that_parse(words):
    _, _, examples = PARSERS[words].format_help().partition("xample")
    lines = re.findall(r"keras-vaf (.*)", examples.replace("\\\n", " "))
    assert any(shlex.split(line)[: len(words)] == list(words) for line in lines)
    for line in lines:
        assert PARSERS[()].parse_args(shlex.split(line)).func


def test_tells_its_version(capsys):
    with pytest.raises(SystemExit) as error:
        main(["--version"])

    assert error.value.code == 0
    assert capsys.readouterr().out == f"keras-vaf {keras_vaf.__version__}\n"


@pytest.mark.parametrize("words", [[], ["compote"], ["compare"]], ids=str)
def test_refuses_other_words_with_code_2(words):
    with pytest.raises(SystemExit) as error:
        main(words)

    assert error.value.code == 2


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError("expected this. Received: that"), "expected this. Received: that"),
        (ImportError("pip install it"), "pip install it"),
        (FileNotFoundError("get it there"), "get it there"),
        (PermissionError(13, "Permission denied", "/x"), "Permission denied: /x"),
        (OSError(28, "No space left on device"), "[Errno 28] No space left on device"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_bad_input_is_one_sentence_and_code_2(failing, capsys, error, expected):
    failing(error)

    assert main(["fail"]) == 2
    assert capsys.readouterr().err == f"keras-vaf: {expected}\n"


def test_ctrl_c_is_code_130(failing, capsys):
    failing(KeyboardInterrupt())

    assert main(["fail"]) == 130
    assert "the same command goes on from there" in capsys.readouterr().err


def test_a_bug_shows_its_traceback(failing):
    failing(ZeroDivisionError())

    with pytest.raises(ZeroDivisionError):
        main(["fail"])

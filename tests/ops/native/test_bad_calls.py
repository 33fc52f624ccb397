"""Bad calls with the kernels: the same error as without, and never a crash."""

import keras
import pytest

from tests.ops.native.harness import python

pytestmark = pytest.mark.nightly  # a process with all calls

REFUSED = {
    "tensorflow": "InvalidArgumentError",
    "jax": "JaxRuntimeError",
    "torch": "RuntimeError",
}


@pytest.fixture(scope="module")
def outcomes(library):
    """The outcome of each bad call, from a process of their own."""
    printed = python("-m", "tests.ops.native.bad_calls")
    # TensorFlow may write messages of its own between the lines.
    pairs = [line.split(": ") for line in printed.splitlines()]
    return {": ".join(name): outcome for *name, outcome in pairs}


def test_calls_end_as_they_do_without_the_kernels(outcomes):
    ended = {n: o for n, o in outcomes.items() if o.startswith(("same ", "OTHER "))}
    assert len(ended) >= 9
    assert {name: o for name, o in ended.items() if not o.startswith("same ")} == {}
    assert ended["as it should be"] == "same numbers numbers"
    assert ended["more channels than functions"].split()[1] != "numbers"


def test_altered_operators_are_refused(outcomes):
    ended = {n: o for n, o in outcomes.items() if n.startswith(("forward", "backward"))}
    right = [ended.pop(f"{way}: as it should be") for way in ("forward", "backward")]
    assert right == ["numbers", "numbers"]
    assert len(ended) >= 12
    assert set(ended.values()) == {REFUSED[keras.backend.backend()]}

"""A plugin of pytest: each element-wise activation of a layer becomes a VAF.

`VAF_SHARING` is "layer" (the default) or "channel". A VAF starts as the function that
it replaces, so Keras's own tests must pass, but for those in `differences.py`, which
must fail as it says.
"""

import functools
import os

import keras
import pytest
from keras.src import activations
from keras.src.testing import TestCase

from keras_vaf.layers import VAFActivation
from tests.peers.differences import fails_as_known, reason_of

SHARING = os.environ.get("VAF_SHARING", "layer")
NAMES = (
    *("celu", "elu", "exponential", "gelu", "hard_sigmoid", "hard_silu", "hard_tanh"),
    *("leaky_relu", "log_sigmoid", "mish", "relu", "relu6", "selu", "sigmoid", "silu"),
    *("softplus", "softsign", "squareplus", "tanh"),
)
REPLACED = {getattr(keras.activations, name): name for name in NAMES}
made = 0


def with_vafs(get):
    """Return `activations.get` that makes a VAF where it returned a function."""

    @functools.wraps(get)
    def get_vaf(identifier):
        global made
        found = get(identifier)
        if isinstance(found, keras.Layer) or found not in REPLACED:
            return found
        made += 1
        return VAFActivation(k=3, g=REPLACED[found], sharing=SHARING)

    return get_vaf


def without_counts(run_layer_test):
    """Return Keras's test of a layer without what differs for any inner layer.

    It counts no weights. It tries no mixed precision, because a layer that is given as
    activation, PReLU as well, has its own precision, which the host does not change.
    """

    @functools.wraps(run_layer_test)
    def run(*args, **kwargs):
        kwargs["expected_num_trainable_weights"] = None
        kwargs["run_mixed_precision_check"] = False
        return run_layer_test(*args, **kwargs)

    return run


def pytest_configure(config):
    """Use VAFs in this process."""
    activations.get = with_vafs(activations.get)
    TestCase.run_layer_test = without_counts(TestCase.run_layer_test)


def pytest_runtest_setup(item):
    """Give each test the same random numbers in each run."""
    keras.utils.set_random_seed(0)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Accept a known failure, and refuse a known one that passes or has another error.

    A test that Keras skips stays skipped.
    """
    report = yield
    reason = reason_of(item.nodeid, {keras.backend.backend(), SHARING})
    if reason is None or call.when != "call" or report.skipped:
        return report
    raised = call.excinfo.exconly() if call.excinfo else "no error"
    if fails_as_known(reason, raised):
        report.outcome, report.wasxfail = "skipped", reason.text
    else:
        report.outcome = "failed"
        report.longrepr = (
            f"Expected {reason.error!r} ({reason.text}) Received: {raised}"
        )
    return report


def pytest_sessionfinish(session):
    """Hand the number of VAFs to the process that reports."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["made"] = made


def pytest_testnodedown(node, error):
    """Add up what the processes made."""
    global made
    made += getattr(node, "workeroutput", {}).get("made", 0)


def pytest_terminal_summary(terminalreporter):
    """Say how many VAFs were in the tests; none would prove nothing."""
    terminalreporter.write_line(f"{made} VAFs, sharing {SHARING!r}")

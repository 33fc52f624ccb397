"""Fixtures of every test: one seed, one backend, no windows, no leftover figures."""

import functools
import gc
import importlib.metadata
import importlib.util
import os
import sys
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("NVIDIA_TF32_OVERRIDE", "0")  # float32 means float32 on a GPU
# Threads of PyTorch spin while they wait for each other. On small tensors, with another
# process on the same cores, that took more than half of the time.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest

from tests.diagonal import outside_diagonal

pytest.register_assert_rewrite("tests.harness", "tests.reference")


MARKERS = {
    "backend(*names)": "run under these Keras backends only",
    "needs(*names)": "run only where these packages are installed",
    "data": "needs the downloaded datasets (KERAS_VAF_DATA_DIR)",
    "nightly(*names)": "takes long, under these backends or all; needs `--nightly`",
    "heart": "runs with `--heart`, though its folder does not",
    "gpu": "needs a GPU; left out unless `-m gpu` asks for it",
    "browser": "needs Chromium; left out unless `-m browser` asks for it",
    "zoo": "needs models of other packages; left out unless `-m zoo` asks for it",
}


# With `--heart` the other tests run only where TensorFlow leaves them out.
HEART = {"constraints", "initializers", "layers", "ops", "optimizers", "regularizers"}
HEART.add("saving")
OF_TORCH = {"models", "torch"}  # its modules, which only PyTorch converts


@functools.cache
def current_backend():
    """Return the backend. Only the processes that run tests import Keras."""
    import keras

    return keras.backend.backend()


def pytest_addoption(parser):
    """Add the options that choose between a change and a night."""
    parser.addoption("--nightly", action="store_true", help="run slow tests, too")
    parser.addoption(
        "--heart",
        action="store_true",
        help="run what differs between backends, and what does not run on TensorFlow",
    )


def pytest_configure(config):
    """Say what the markers mean."""
    for name, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}.")


def is_wanted(item, options):
    """Tell whether a test fits this backend, this machine and the options."""
    here, names = current_backend(), ("backend", "needs", "nightly")
    backend, needs, nightly = map(item.get_closest_marker, names)
    if backend and here not in backend.args:
        return False
    if needs and not all(map(importlib.util.find_spec, needs.args)):
        return False
    late = nightly and here in (nightly.args or (here,))
    if late and not options.nightly:
        return False
    folder = item.path.relative_to(Path(__file__).parent).parts[0]
    elsewhere = backend is None or "tensorflow" in backend.args
    elsewhere &= nightly is None or "tensorflow" not in nightly.args
    heart = HEART | OF_TORCH if here == "torch" else HEART
    marked = item.get_closest_marker("heart")
    if options.heart and elsewhere and not marked and folder not in heart:
        return False
    return not any(
        item.get_closest_marker(name) and options.markexpr != name
        for name in ("browser", "gpu", "zoo")
    )


def pytest_collection_modifyitems(config, items):
    """Leave out the tests that are not wanted."""
    chosen = [item for item in items if is_wanted(item, config.option)]
    if not config.option.nightly:
        late = outside_diagonal(chosen)
        chosen = [item for item in chosen if item not in late]
    if left_out := set(items).difference(chosen):
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = chosen


def pytest_collection_finish(session):
    """Let the garbage collector skip the objects that imports made, which stay."""
    gc.freeze()


def pytest_make_parametrize_id(config, val, argname):
    """Name parametrized tests by what they vary: `k=3`, `g=relu`."""
    if isinstance(val, bytes):  # a compressed file holds the time of its making
        return f"{argname}=bytes"
    if callable(val) and hasattr(val, "__name__"):
        val = val.__name__
    if val is None or isinstance(val, str | bool | int | float | tuple):
        name = f"{argname}={val}"
        return name if name.isprintable() and len(name) < 60 else None
    return None


def pytest_report_header(config):
    """Name the backend under which the suite runs."""
    backend = os.environ.get("KERAS_BACKEND", "that of keras.json, or TensorFlow")
    return f"keras {importlib.metadata.version('keras')}, backend: {backend}"


@pytest.fixture(autouse=True)
def seed():
    """Give each test the same random numbers, whichever ran before it."""
    import keras

    keras.utils.set_random_seed(0)


@pytest.fixture(scope="session", autouse=True)
def one_framework():
    """Fail if anything imported PyTorch under another backend.

    PyTorch 2.14.1 after TensorFlow ends in a segmentation fault.
    """
    yield
    if current_backend() != "torch":
        assert "torch" not in sys.modules


@pytest.fixture(autouse=True)
def closed_figures():
    """Leave no figure open for the next test."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="session")
def data_dir():
    """Folder of the downloaded datasets; without one the test is skipped."""
    if "KERAS_VAF_DATA_DIR" not in os.environ:
        pytest.skip("KERAS_VAF_DATA_DIR is not set")
    return Path(os.environ["KERAS_VAF_DATA_DIR"])


@pytest.fixture(scope="session", autouse=True)  # fixtures of all scopes use it
def plain_code():
    """Test the code that runs without native kernels, even if they are installed.

    The tests in tests/ops/native are those of the kernels. With KERAS_VAF_TEST_KERNELS
    set, all tests use the kernels.
    """
    if "KERAS_VAF_TEST_KERNELS" in os.environ:
        yield
        return
    from keras_vaf.ops import plain_operators

    with plain_operators():
        yield

"""The process of `keras-vaf`: what it imports, hides and does at a signal."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from keras_vaf_cli import COMMANDS

pytestmark = pytest.mark.backend("tensorflow")

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {
    name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"
}
# `keras-vaf data` with other work, and packages that are imported at once.
COMMAND = """
from keras_vaf_cli import data, process
data.run = lambda given: exec({work!r}, {{}})
process.start()
"""
# Work that gets a signal where Python ignores exceptions.
SIGNALLED = """
import os, signal, time

class Ignoring:
    def __del__(self):
        os.kill(os.getpid(), signal.{name})
        time.sleep(0)

Ignoring()
time.sleep(60)
"""
SPEAKING = """
import warnings
warnings.warn("one report was left out")
print("0.5 \\xb1 0.1, column prix_\\xe9")
"""


@pytest.fixture(autouse=True)
def interruptible():
    """Let processes react to SIGINT, also where the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def run(*words, path=ROOT, cwd=None, **environment):
    """Run `python -m keras_vaf_cli`, with packages of `path` before all others."""
    return subprocess.run(
        [sys.executable, *words],
        env=ENVIRONMENT | {"PYTHONPATH": f"{path}:{ROOT}"} | environment,
        capture_output=True,
        text=True,
        cwd=cwd,
    )


def test_version_and_help_import_neither_keras_nor_numpy():
    names = [command.__name__[14:].replace("_", "-") for command in COMMANDS]
    program = f"""
import contextlib, sys
from keras_vaf_cli.process import start
for words in ["--version"], ["--help"], *([name, "--help"] for name in {names}):
    sys.argv[1:] = words
    with contextlib.suppress(SystemExit):
        start()
print(*{{'keras', 'keras_vaf', 'numpy'}} & sys.modules.keys())"""
    done = run("-c", program)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("keras-vaf ")
    assert done.stdout.splitlines()[-1] == ""
    assert done.stdout.count("usage: ") == 1 + len(names)


def test_tensorflow_logs_nothing():
    done = run("-m", "keras_vaf_cli", "data", KERAS_BACKEND="tensorflow")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture
def light(tmp_path):
    """A folder of packages in place of Keras and keras_vaf."""
    utils = tmp_path / "keras_vaf" / "utils"
    utils.mkdir(parents=True)
    (utils.parent / "__init__.py").touch()
    (utils / "__init__.py").touch()
    (utils / "extras.py").write_text("def hide_tensorflow(): pass")
    (tmp_path / "keras.py").write_text("class backend: backend = lambda: 'torch'")
    return tmp_path


@pytest.mark.parametrize("place", ["import", "command"])
@pytest.mark.parametrize(
    ("name", "code", "cause"),
    [("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "terminated")],
)
def test_a_signal_ends_an_import_and_a_command(light, place, name, code, cause):
    work = SIGNALLED.format(name=name)
    if place == "import":
        (light / "keras.py").write_text(work)
    done = run("-c", COMMAND.format(work=work), "data", cwd=light)
    assert done.returncode == code
    said = f"\nkeras-vaf: {cause}; every finished result is kept; [^\n]*\n"
    assert re.fullmatch(said, done.stderr)


def test_a_warning_is_one_line_and_a_terminal_may_lack_unicode(light):
    command = COMMAND.format(work=SPEAKING)
    done = run("-c", command, "data", cwd=light, PYTHONIOENCODING="ascii")
    assert done.stderr == "keras-vaf: warning: one report was left out\n"
    assert (done.returncode, done.stdout) == (0, "0.5 ? 0.1, column prix_?\n")


def test_a_failed_import_shows_what_was_hidden(tmp_path):
    (tmp_path / "keras.py").write_text(
        "import os\nos.write(2, b'the library says\\n')\nraise ImportError('no keras')"
    )
    done = run("-m", "keras_vaf_cli", "data", path=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "the library says\nkeras-vaf: no keras\n"


@pytest.mark.parametrize(
    ("configured", "installed", "backend"),
    [
        ("tensorflow", ["jax"], "jax"),
        ("jax", ["torch"], "torch"),
        ("tensorflow", ["jax", "torch"], ""),
        ("jax", ["jax"], ""),
    ],
)
def test_the_only_installed_backend_is_used(light, configured, installed, backend):
    (light / "keras.json").write_text(f'{{"backend": "{configured}"}}')
    work = "import os; print(os.environ['KERAS_BACKEND'])"
    program = f"from importlib import util\nutil.find_spec = {installed}.__contains__\n"
    program += COMMAND.format(work=work)
    home = {"KERAS_HOME": str(light)}
    done = run("-c", program, "data", cwd=light, KERAS_BACKEND="", **home)
    assert (done.returncode, done.stdout) == (0, f"{backend}\n")
    assert (f"{backend} is used. Set KERAS_BACKEND" in done.stderr) == bool(backend)
    chosen = run("-c", program, "data", cwd=light, KERAS_BACKEND=configured, **home)
    assert (chosen.stdout, chosen.stderr) == (f"{configured}\n", "")


LINES = """\
convert m.keras -o vaf.keras --layers dense
inspect vaf.keras --picture vaf.png
freeze vaf.keras -o frozen.keras
search wine --trials 1 --folds 2 --epochs 1 --hidden 2 --baselines none
reproduce classification --quick --datasets wine --activations relu
"""


@pytest.mark.parametrize(
    ("backend", "count"),
    [
        pytest.param("jax", 3, marks=pytest.mark.needs("jax")),
        pytest.param("torch", 5, marks=pytest.mark.needs("torch")),
    ],
)
def test_no_command_imports_tensorflow(backend, count, tmp_path):
    program = f"""
import sys
from keras_vaf_cli import main, process
process._load()
import keras
from importlib import metadata, util
assert util.find_spec("tensorflow") is None
assert metadata.version("keras") == keras.__version__
keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, "relu")]).save("m.keras")
for line in {LINES.splitlines()[:count]}:
    assert main(line.split()) == 0, line
print("tensorflow" in sys.modules)
"""
    cache = tmp_path / "cache"
    # JAX asks whether TensorFlow is installed before it stores compiled programs.
    stores = {
        "JAX_COMPILATION_CACHE_DIR": str(cache),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    }
    done = run("-c", program, KERAS_BACKEND=backend, cwd=tmp_path, **stores)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("False\n")
    assert "persistent compilation cache" not in done.stderr
    assert any(cache.glob("*")) == (backend == "jax")

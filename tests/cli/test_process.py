"""The process of `keras-vaf`: what it imports, hides and does at a signal."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from keras_vaf_cli import COMMANDS
from keras_vaf_cli.process import _hidden_log

pytestmark = pytest.mark.backend("tensorflow")

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {
    name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"
}
SAID = (
    "\nkeras-vaf: {cause}; every finished result is kept; the same command continues "
    "from there.\n"
)
# Each stands for a package that is imported slowly, and that ignores exceptions.
STOPPED = """
import os, signal, time
try:
    os.kill(os.getpid(), signal.{name})
    time.sleep(60)
except BaseException:
    pass
raise ImportError("the signal was ignored")
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


@pytest.mark.parametrize("module", ["keras_vaf_cli", "keras_vaf"])
def test_the_modules_run_as_commands(module):
    done = run("-m", module, "--version")
    assert (done.returncode, done.stdout[:10]) == (0, "keras-vaf ")


def test_version_and_help_import_neither_keras_nor_numpy():
    names = [command.__name__[14:] for command in COMMANDS]
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
    assert done.stdout.splitlines()[-1] == ""
    assert done.stdout.count("usage: ") == 1 + len(names)


def test_tensorflow_logs_nothing(tmp_path):
    done = run("-m", "keras_vaf_cli", "data", KERAS_BACKEND="tensorflow")
    assert done.returncode == 0
    assert done.stderr == ""


# A command that gets a signal where Python ignores exceptions.
SIGNALLED = """
import os, signal, time
from keras_vaf_cli import data, process

class Ignoring:
    def __del__(self):
        os.kill(os.getpid(), signal.{name})
        time.sleep(0)

def run(arguments):
    Ignoring()
    time.sleep(60)

data.run = run
process.start()
"""


@pytest.mark.parametrize("place", ["import", "command"])
@pytest.mark.parametrize(
    ("name", "code", "cause"),
    [("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "terminated")],
)
def test_a_signal_ends_an_import_and_a_command(tmp_path, place, name, code, cause):
    _write_light_packages(tmp_path)
    if place == "import":
        (tmp_path / "keras.py").write_text(STOPPED.format(name=name))
    program = SIGNALLED.format(name=name)
    done = run("-c", program, "data", cwd=tmp_path)
    assert done.returncode == code
    assert done.stderr == SAID.format(cause=cause)


SPEAKING = """
import warnings
from keras_vaf_cli import data, process

def run(arguments):
    warnings.warn("one report was left out")
    print("0.5 \\xb1 0.1, column prix_\\xe9")

data.run = run
process.start()
"""


def test_a_warning_is_one_line_and_a_terminal_may_lack_unicode(tmp_path):
    _write_light_packages(tmp_path)
    words = "-c", SPEAKING, "data"
    done = run(*words, cwd=tmp_path, PYTHONIOENCODING="ascii")
    assert done.stderr == "keras-vaf: warning: one report was left out\n"
    assert done.stdout == "0.5 ? 0.1, column prix_?\n"
    assert done.returncode == 0


def test_a_failed_import_shows_what_was_hidden(tmp_path):
    (tmp_path / "keras.py").write_text(
        "import os\nos.write(2, b'the library says\\n')\nraise ImportError('no keras')"
    )
    done = run("-m", "keras_vaf_cli", "data", path=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "the library says\nkeras-vaf: no keras\n"


def test_only_what_libraries_write_is_hidden(capfd):
    with _hidden_log():
        os.write(2, b"from a library\n")
        print("from Python", file=sys.stderr)
    os.write(2, b"later\n")
    assert capfd.readouterr().err == "from Python\nlater\n"


MODELS = """\
convert m.keras -o vaf.keras --layers dense
inspect vaf.keras --picture vaf.png
simplify vaf.keras -o small.keras
freeze small.keras -o frozen.keras
data wine
"""
TRAININGS = """\
compare wine --activations relu --folds 2 --epochs 1 --hidden 2
search wine --trials 1 --folds 2 --epochs 1 --hidden 2 --output found
reproduce classification --quick --datasets wine --activations relu
"""


@pytest.mark.parametrize(
    ("backend", "lines"),
    [
        pytest.param("jax", MODELS, marks=pytest.mark.needs("jax")),
        pytest.param("torch", MODELS + TRAININGS, marks=pytest.mark.needs("torch")),
    ],
)
def test_no_command_imports_tensorflow(backend, lines, tmp_path):
    program = f"""
import sys
from keras_vaf_cli import main, process
process._load()
import keras
from importlib import metadata, util
assert util.find_spec("tensorflow") is None
assert metadata.version("keras") == keras.__version__
keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, "relu")]).save("m.keras")
for line in {lines.splitlines()}:
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


def _write_light_packages(folder):
    """Write packages in place of Keras and keras_vaf, which are imported at once."""
    utils = folder / "keras_vaf" / "utils"
    utils.mkdir(parents=True)
    (utils.parent / "__init__.py").touch()
    (utils / "__init__.py").touch()
    (utils / "extras.py").write_text("def hide_tensorflow(): pass")
    (folder / "keras.py").write_text("class backend: backend = lambda: 'torch'")

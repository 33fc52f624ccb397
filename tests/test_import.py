"""`import keras_vaf` is light, registers every class, and names a missing backend."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import keras_vaf

ROOT = Path(__file__).parents[1]
LOADED = "{name.partition('.')[0] for name in sys.modules}"
BLOCKER = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name == "{package}":
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocker())
"""


def run_python(program, **environment):
    """Run a program in a fresh interpreter."""
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )


def test_the_import_brings_nothing_heavier_than_keras_and_subpackages_load_on_use():
    pages = {path.stem for path in (ROOT / "docs" / "api").glob("*.md")}
    assert pages - {"cli"} - set(keras_vaf.__all__) == set()
    program = (
        "import sys, keras\n"
        f"before = {LOADED}\n"
        "import keras_vaf\n"
        f"print(*({LOADED} - before - sys.stdlib_module_names))\n"
        "assert 'keras_vaf.experiments' not in sys.modules\n"
        "assert set(keras_vaf.__all__) <= set(dir(keras_vaf))\n"
        "for name in keras_vaf.__all__: getattr(keras_vaf, name)\n"
        "assert 'keras_vaf.experiments' in sys.modules\n"
    )
    result = run_python(program)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["keras_vaf"]


@pytest.mark.backend("jax")
def test_every_serialisable_class_is_registered():
    """Also after every module of this backend was imported."""
    program = (
        "import keras, keras_vaf\n"
        "def registered():\n"
        "    return {name for name in keras.saving.get_custom_objects()\n"
        "            if name.startswith('keras_vaf>')}\n"
        "at_once = registered()\n"
        "from tests.harness import package_modules\n"
        "package_modules()\n"
        "print(*(registered() - at_once))"
    )
    result = run_python(program)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == []


@pytest.mark.backend("tensorflow")
@pytest.mark.parametrize("backend", ["tensorflow", "jax", "torch"])
def test_a_missing_backend_is_named_with_the_line_that_installs_it(backend):
    program = BLOCKER.format(package=backend) + "import keras_vaf"
    result = run_python(program, KERAS_BACKEND=backend)
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1] == (
        f"ImportError: Keras is set to use the backend {backend!r}, which is not "
        f"installed. Install it with: pip install 'keras-vaf[{backend}]', or set the "
        "environment variable KERAS_BACKEND to an installed backend (tensorflow, jax "
        "or torch)."
    )


@pytest.mark.backend("tensorflow")
def test_a_name_of_another_backend_and_a_wrong_name_have_a_remedy():
    with pytest.raises(ImportError, match="KERAS_BACKEND to torch"):
        keras_vaf.torch.VAF  # noqa: B018
    with pytest.raises(AttributeError, match=r"'layer'\. Did you mean 'layers'"):
        keras_vaf.layer  # noqa: B018
    assert not hasattr(keras_vaf, "__wrapped__")

"""`import keras_vaf` is light, registers every class, and names a missing backend."""

import os
import subprocess
import sys

import pytest

import keras_vaf

BLOCKER = """
import sys
class Blocker:
    def find_spec(self, name, *_):
        if name == "{package}": raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Blocker())
import keras_vaf
"""
LOADED = "{name.partition('.')[0] for name in sys.modules}"


def run_python(program, **environment):
    """Run a program in a fresh interpreter."""
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )


ALONE = f"""
import sys, keras
before = {LOADED}
import keras_vaf
print(*({LOADED} - before - sys.stdlib_module_names))
assert "keras_vaf.experiments" not in sys.modules
def registered():
    names = keras.saving.get_custom_objects()
    return {{name for name in names if name.startswith("keras_vaf>")}}
at_once = registered()
assert set(keras_vaf.__all__) <= set(dir(keras_vaf))
for name in keras_vaf.__all__: getattr(keras_vaf, name)
assert "keras_vaf.experiments" in sys.modules
from tests.harness import package_modules
package_modules()
print(*(registered() - at_once))
"""


def test_the_import_is_light_registers_every_class_and_loads_subpackages_on_use():
    result = run_python(ALONE)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == ["keras_vaf", ""]


@pytest.mark.backend("tensorflow")
@pytest.mark.parametrize("backend", ["tensorflow", "jax", "torch"])
def test_a_missing_backend_is_named_with_the_line_that_installs_it(backend):
    result = run_python(BLOCKER.format(package=backend), KERAS_BACKEND=backend)
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

"""The build of the kernels: without a compiler, and for another processor."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
LIBRARIES = {"libvaf_kernels.so", "libvaf_jax.so", "libvaf_tensorflow.so"}
AARCH64 = 183  # the processor's number in the header of an ELF file

pytestmark = [
    pytest.mark.backend("tensorflow"),
    pytest.mark.skipif(not shutil.which("cmake"), reason="needs CMake"),
]


def build(folder, **variables):
    """Build as pip does. Return the files that were made and what was printed."""
    places = (f"--build-lib={folder / 'lib'}", f"--build-temp={folder / 'objects'}")
    ended = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_kernels", *places],
        cwd=ROOT,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=True,
    )
    made = folder / "lib" / "keras_vaf" / "ops" / "native" / "lib"
    return {path.name: path for path in made.iterdir()}, ended.stdout + ended.stderr


def why_missing(files):
    assert files.keys() == {"missing.txt"}
    return files["missing.txt"].read_text()


def cross_compiler():
    """Return the command of a C++ compiler for aarch64, or `None`."""
    if shutil.which("aarch64-linux-gnu-g++"):
        return "aarch64-linux-gnu-g++"
    if importlib.util.find_spec("ziglang"):
        return f"{sys.executable} -m ziglang c++ -target aarch64-linux-gnu"
    return None


@pytest.mark.parametrize(
    ("variables", "printed"),
    [
        ({"PATH": ""}, "No such file or directory: 'cmake'"),
        ({"CXX": "no-compiler"}, "no-compiler"),
        (
            {"CMAKE_ARGS": "-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=riscv"},
            "x86-64 and aarch64 only",
        ),
        ({"CMAKE_ARGS": "-DCMAKE_CXX_FLAGS=-include/none"}, "none"),
    ],
    ids=["CMake", "compiler", "processor", "headers"],
)
def test_what_fails_is_named_and_leaves_a_package(tmp_path, variables, printed):
    files, output = build(tmp_path, **variables)
    assert "not found, or failed" in why_missing(files)
    assert printed in output


def test_the_switch_leaves_them_out(tmp_path):
    files, printed = build(tmp_path, KERAS_VAF_KERNELS="0")
    assert "was built without them" in why_missing(files)
    # setuptools looks for a name in setup.cfg, before it reads pyproject.toml.
    assert [line for line in printed.splitlines() if "`name`" not in line] == []


@pytest.mark.skipif(not cross_compiler(), reason="needs a C++ compiler for aarch64")
def test_the_kernels_compile_for_aarch64(tmp_path):
    system = "-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64"
    files, _ = build(tmp_path, CXX=cross_compiler(), CMAKE_ARGS=system)
    assert files.keys() == LIBRARIES
    for path in files.values():
        header = path.read_bytes()[:20]
        assert header[:4] == b"\x7fELF"
        assert int.from_bytes(header[18:], "little") == AARCH64

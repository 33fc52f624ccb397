"""The build of the kernels: without a compiler, and for another processor."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

KERNELS = Path(__file__).parents[3] / "kernels"
LIBRARIES = {"libvaf_kernels.so", "libvaf_jax.so", "libvaf_tensorflow.so"}
AARCH64 = 183  # the processor's number in the header of an ELF file

pytestmark = pytest.mark.backend("tensorflow")


def build(folder, **variables):
    """Run the build script as pip does, and return the ended process."""
    places = (f"--build-lib={folder / 'lib'}", f"--build-temp={folder / 'objects'}")
    return subprocess.run(
        [sys.executable, "setup.py", "build_ext", *places],
        cwd=KERNELS,
        env=os.environ | variables,
        capture_output=True,
        text=True,
    )


def cross_compiler():
    """Return the command of a C++ compiler for aarch64, or `None`."""
    if shutil.which("aarch64-linux-gnu-g++"):
        return "aarch64-linux-gnu-g++"
    if importlib.util.find_spec("ziglang"):
        return f"{sys.executable} -m ziglang c++ -target aarch64-linux-gnu"
    return None


def test_without_a_compiler_one_sentence_says_so(tmp_path):
    ended = build(tmp_path, PATH=str(tmp_path), CXX="")
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].startswith(
        "keras-vaf-kernels needs a C++ compiler (on Debian and Ubuntu: apt-get install"
    )
    assert "Traceback" not in ended.stderr


def test_an_unknown_processor_is_refused(tmp_path):
    compiler = tmp_path / "compiler"
    compiler.write_text("#!/bin/sh\necho riscv64-linux-gnu\n")
    compiler.chmod(0o755)
    ended = build(tmp_path, CXX=str(compiler))
    assert ended.returncode == 1
    assert "supports Linux on x86-64 and aarch64" in ended.stderr
    assert ended.stderr.endswith("Received: riscv64-linux-gnu\n")


@pytest.mark.skipif(not cross_compiler(), reason="needs a C++ compiler for aarch64")
def test_the_kernels_compile_for_aarch64(tmp_path):
    ended = build(tmp_path, CXX=cross_compiler())
    assert ended.returncode == 0, ended.stderr
    files = {path.name: path for path in (tmp_path / "lib").rglob("*.so")}
    assert set(files) == LIBRARIES
    for path in files.values():
        header = path.read_bytes()[:20]
        assert header[:4] == b"\x7fELF"
        assert int.from_bytes(header[18:], "little") == AARCH64

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

pytestmark = pytest.mark.backend("tensorflow")


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
    return {path.name: path for path in made.iterdir()}, ended.stderr


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


def compiler(folder, script):
    """Return the command of a compiler that is a shell script."""
    path = folder / "compiler"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_without_a_compiler_the_package_builds_and_says_so(tmp_path):
    files, printed = build(tmp_path, PATH=str(tmp_path), CXX="")
    assert why_missing(files).startswith("no C++ compiler was found")
    assert printed == ""


def test_the_switch_leaves_them_out(tmp_path):
    files, printed = build(tmp_path, KERAS_VAF_KERNELS="0")
    assert "was built without them" in why_missing(files)
    assert printed == ""


def test_an_unknown_processor_is_named(tmp_path):
    riscv = compiler(tmp_path, "echo '#define __riscv 1'")
    files, _ = build(tmp_path, CXX=riscv)
    assert why_missing(files) == "they support Linux on x86-64 and aarch64 only"


def test_a_compiler_that_fails_prints_its_messages(tmp_path):
    broken = compiler(
        tmp_path,
        'case "$*" in *-dM*) echo "#define __x86_64__ 1\n#define __linux__ 1";;'
        " *) echo no C++17 >&2; exit 1;; esac",
    )
    files, printed = build(tmp_path, CXX=broken)
    assert why_missing(files).startswith("the C++ compiler failed")
    assert "no C++17" in printed


@pytest.mark.skipif(not cross_compiler(), reason="needs a C++ compiler for aarch64")
def test_the_kernels_compile_for_aarch64(tmp_path):
    files, _ = build(tmp_path, CXX=cross_compiler())
    assert files.keys() == LIBRARIES
    for path in files.values():
        header = path.read_bytes()[:20]
        assert header[:4] == b"\x7fELF"
        assert int.from_bytes(header[18:], "little") == AARCH64

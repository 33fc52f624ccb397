"""Build the native kernels with sanitizers, and run random calls and the bindings.

`python tests/ops/sanitizers/run.py` needs g++ on x86-64. It ends with an error if a
sanitizer reports a fault or a result differs from double precision. `--bindings` also
runs the bad calls of each installed backend with AddressSanitizer.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[3]
SOURCES = ROOT / "keras_vaf" / "ops" / "native" / "src"
# As in CMakeLists.txt, which says why.
SETS = {
    "base": ["-DLANES=4", "-march=x86-64-v2"],
    "v3": ["-DLANES=8", "-march=x86-64-v3"],
    "v4": ["-DLANES=16", "-march=x86-64-v4"],
}
FLAGS = ["-std=c++17", "-O1", "-g", "-fPIC", "-pthread", f"-I{SOURCES}", "-Wno-psabi"]
SANITIZERS = {
    "address": ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
    "thread": ["-fsanitize=thread"],
}
# The bindings start after the framework, so that ASan cannot see what leaks before.
PRELOADED = "detect_leaks=0:detect_odr_violation=0"
BINDINGS = """
import runpy
from pathlib import Path
from keras_vaf.ops.native import library
library.FOLDER = Path({folder!r})
assert library.find().library is not None, library.find().reason
runpy.run_module("tests.ops.native.bad_calls", run_name="__main__")
"""


def build(folder: Path, flags: list[str]) -> dict[str, Path]:
    """Compile all files, and return their object files."""
    jobs = {
        f"parts_{name}": [str(SOURCES / "parts.cpp"), *own, f"-DPARTS=vaf_parts_{name}"]
        for name, own in SETS.items()
    }
    for name in ("vaf_kernels", "pool", "jax", "tensorflow"):
        jobs[name] = [str(SOURCES / f"{name}.cpp")]
    jobs["driver"] = [str(Path(__file__).parent / "driver.cpp")]
    objects = {name: folder / f"{name}.o" for name in jobs}

    def compile_one(name: str) -> None:
        call("g++", *FLAGS, *flags, "-c", *jobs[name], "-o", str(objects[name]))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_one, jobs))
    return objects


def call(*command: str, **variables: str) -> None:
    """Run a command, and raise an error if it fails."""
    subprocess.run(command, check=True, cwd=ROOT, env=os.environ | variables)


def run_driver(name: str, cases: int, callers: int) -> None:
    """Run random calls at every instruction set of this processor."""
    with tempfile.TemporaryDirectory() as folder:
        objects = build(Path(folder), SANITIZERS[name])
        kernels = [p for n, p in objects.items() if n not in ("jax", "tensorflow")]
        program = Path(folder, "driver")
        link = ["g++", *SANITIZERS[name], "-pthread", "-o", str(program)]
        call(*link, *map(str, kernels))
        print(f"== {name} sanitizer", flush=True)
        call(str(program), str(cases), str(callers), "0")


def run_bindings(backends: Sequence[str]) -> None:
    """Run the bad calls of backends with libraries that AddressSanitizer watches."""
    # ASan looks for C++ exceptions at its start, and Python does not bring them.
    names = ("libasan.so", "libstdc++.so")
    find = [["g++", f"-print-file-name={name}"] for name in names]
    libraries = [subprocess.check_output(each, text=True).strip() for each in find]
    variables = {"LD_PRELOAD": " ".join(libraries), "ASAN_OPTIONS": PRELOADED}
    variables |= {"PYTHONPATH": str(ROOT)}
    with tempfile.TemporaryDirectory() as folder:
        link_libraries(Path(folder), SANITIZERS["address"])
        program = BINDINGS.format(folder=folder)
        for backend in backends:
            print(f"== address sanitizer on {backend}", flush=True)
            chosen = variables | {"KERAS_BACKEND": backend}
            call(sys.executable, "-c", program, **chosen)


def link_libraries(folder: Path, flags: list[str]) -> None:
    """Build the shared libraries of all backends."""
    objects = build(folder, flags)
    core, link = str(folder / "libvaf_kernels.so"), ["g++", *flags, "-shared"]
    link += ["-pthread", "-Wl,-rpath,$ORIGIN"]
    apart = {name: str(objects.pop(name)) for name in ("jax", "tensorflow")}
    del objects["driver"]
    kernels = map(str, objects.values())
    call(*link, *kernels, "-Wl,-soname,libvaf_kernels.so", "-o", core)
    for name, binding in apart.items():
        call(*link, binding, core, "-o", str(folder / f"libvaf_{name}.so"))


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=500, help="of each level")
    parser.add_argument("--bindings", nargs="*", default=[], metavar="BACKEND")
    options = parser.parse_args()
    run_driver("address", options.cases, 1)
    run_driver("thread", options.cases // 2, 3)
    if options.bindings:
        run_bindings(options.bindings)


if __name__ == "__main__":
    main()

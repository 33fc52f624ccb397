"""Build the native kernels with sanitizers, and run random calls.

`python tests/ops/sanitizers/run.py` needs g++ on x86-64. It ends with an error if a
sanitizer reports a fault or a result differs from double precision.
"""

import argparse
import os
import subprocess
import tempfile
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


def build(folder: Path, flags: list[str]) -> list[Path]:
    """Compile all files, and return their object files."""
    jobs = {
        f"parts_{name}": [str(SOURCES / "parts.cpp"), *own, f"-DPARTS=vaf_parts_{name}"]
        for name, own in SETS.items()
    }
    for name in ("vaf_kernels", "pool"):
        jobs[name] = [str(SOURCES / f"{name}.cpp")]
    jobs["driver"] = [str(Path(__file__).parent / "driver.cpp")]
    objects = {name: folder / f"{name}.o" for name in jobs}

    def compile_one(name: str) -> None:
        call("g++", *FLAGS, *flags, "-c", *jobs[name], "-o", str(objects[name]))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_one, jobs))
    return [*objects.values()]


def call(*command: str, **variables: str) -> None:
    """Run a command, and raise an error if it fails."""
    subprocess.run(command, check=True, cwd=ROOT, env=os.environ | variables)


def run_driver(name: str, cases: int, callers: int) -> None:
    """Run random calls at every instruction set of this processor."""
    with tempfile.TemporaryDirectory() as folder:
        kernels = map(str, build(Path(folder), SANITIZERS[name]))
        program = Path(folder, "driver")
        call("g++", *SANITIZERS[name], "-pthread", *kernels, "-o", str(program))
        print(f"== {name} sanitizer", flush=True)
        call(str(program), str(cases), str(callers), "0")


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--cases", type=int, default=500, help="of each instruction set"
    )
    options = parser.parse_args()
    run_driver("address", options.cases, 1)
    run_driver("thread", options.cases // 2, 3)


if __name__ == "__main__":
    main()

"""Build the package, and compile its native kernels where a C++ compiler is found.

Without a compiler the package works too. It then holds the reason in place of the
kernels, and `keras-vaf info` prints it. `python setup.py build_kernels --inplace`
compiles the kernels of a copy of the repository. Environment variables:

- `CXX` names another compiler, also one for another processor.
- `KERAS_VAF_KERNELS=0` leaves the kernels out.

The address of the repository is a setting of `mkdocs.yml`. Once it is set, the metadata
and the README link to it.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ClassVar

from setuptools import Command, Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build import build

ROOT = Path(__file__).parent
NATIVE = Path("keras_vaf", "ops", "native")
SOURCES = sorted((ROOT / NATIVE / "src").glob("*"))
LIBRARIES = {  # with the sources that each needs, beside the first library
    "vaf_kernels": ["vaf_kernels", "pool"],
    "vaf_jax": ["jax"],
    "vaf_tensorflow": ["tensorflow"],
}
# The versions of `parts.cpp` for each processor. `processor_level` in vaf_kernels.cpp
# asks the processor for the same features. zig does not know `-march=x86-64-v3`.
INSTRUCTION_SETS = {
    "x86_64": {
        "base": ["-DLANES=4", "-msse4.2"],
        "v3": ["-DLANES=8", "-mavx2", "-mfma", "-mf16c", "-mbmi", "-mbmi2"],
        "v4": ["-DLANES=16", "-mavx2", "-mfma", "-mf16c", "-mbmi", "-mbmi2"],
    },
    "aarch64": {"base": ["-DLANES=4"]},
}
for feature in ("f", "bw", "cd", "dq", "vl"):
    INSTRUCTION_SETS["x86_64"]["v4"].append(f"-mavx512{feature}")
FLAGS = ["-std=c++17", "-O3", "-g0", "-fPIC", "-pthread", "-fvisibility=hidden"]
FLAGS += ["-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math"]
# GCC warns about its headers for AVX-512, and about vectors that stay in one file.
FLAGS += ["-Wall", "-Wno-psabi", "-Wno-uninitialized", "-Wno-maybe-uninitialized"]


class Missing(Exception):
    """Why the kernels are not built."""


def compiler() -> list[str]:
    """Return the command of the C++ compiler."""
    if os.environ.get("KERAS_VAF_KERNELS") == "0":
        raise Missing("this copy of keras_vaf was built without them")
    chosen = os.environ.get("CXX")
    for name in [chosen] if chosen else ["g++", "clang++", "c++"]:
        command = shlex.split(name)
        if shutil.which(command[0]):
            return command
    raise Missing("no C++ compiler was found when keras_vaf was installed")


def machine(command: list[str]) -> str:
    """Return the processor that the compiler compiles for."""
    macros = run([*command, "-dM", "-E", "-x", "c++", os.devnull])
    for name in INSTRUCTION_SETS:
        if f"__{name}__ 1" in macros and "__linux__ 1" in macros:
            return name
    raise Missing("they support Linux on x86-64 and aarch64 only")


def run(command: list[str]) -> str:
    """Run the compiler."""
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(error, getattr(error, "stderr", ""), sep="\n", file=sys.stderr)
        raise Missing(
            "the C++ compiler failed when keras_vaf was installed (`pip install "
            "--verbose` prints its messages)"
        ) from None
    return done.stdout


class BuildKernels(Command):
    """Compile shared libraries that depend neither on Python nor on a framework."""

    description = "compile the native kernels"
    user_options: ClassVar = [
        ("inplace", "i", "write the libraries into the source folder"),
        ("build-lib=", "b", "folder of the built package"),
        ("build-temp=", "t", "folder of the compiled files"),
    ]
    boolean_options: ClassVar = ["inplace"]
    editable_mode = False

    def initialize_options(self) -> None:
        """Set the defaults."""
        self.inplace = False
        self.build_lib = self.build_temp = None

    def finalize_options(self) -> None:
        """Take the folders of the whole build."""
        folders = [(name, name) for name in ("build_lib", "build_temp")]
        self.set_undefined_options("build", *folders)

    def run(self) -> None:
        """Write the libraries, or the reason why they are missing."""
        inplace = self.inplace or self.editable_mode
        folder = Path("." if inplace else self.build_lib) / NATIVE / "lib"
        made = [folder / f"lib{name}.so" for name in LIBRARIES]
        if inplace and are_newer(made):
            return
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            self.compile(made)
        except Missing as reason:
            for path in made:
                path.unlink(missing_ok=True)
            (folder / "missing.txt").write_text(str(reason))

    def compile(self, libraries: list[Path]) -> None:
        """Compile all files at once, then link the libraries."""
        command = compiler()
        sets = INSTRUCTION_SETS[machine(command)]
        jobs = {
            f"parts_{name}": ["parts.cpp", *flags, f"-DPARTS=vaf_parts_{name}"]
            for name, flags in sets.items()
        }
        sources = [name for names in LIBRARIES.values() for name in names]
        jobs |= {name: [f"{name}.cpp"] for name in sources}
        folder = Path(self.build_temp, "kernels")
        folder.mkdir(parents=True, exist_ok=True)
        objects = {name: str(folder / f"{name}.o") for name in jobs}

        def compile_one(name: str) -> None:
            source, *flags = jobs[name]
            path = str(SOURCES[0].parent / source)
            run([*command, *FLAGS, *flags, "-c", path, "-o", objects[name]])

        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            list(pool.map(compile_one, jobs))
        first = libraries[0]
        for path, names in zip(libraries, LIBRARIES.values(), strict=True):
            parts = [objects[name] for name in names]
            if path == first:
                parts += [objects[f"parts_{name}"] for name in sets]
            else:
                parts.append(str(first))  # which is looked for in the same folder
            options = ["-Wl,-rpath,$ORIGIN", f"-Wl,-soname,{path.name}", "-s"]
            run([*command, "-shared", "-pthread", *parts, *options, "-o", str(path)])

    def get_source_files(self) -> list[str]:
        """Name the files that belong into the source distribution."""
        return [str(NATIVE / "src" / path.name) for path in SOURCES]


def are_newer(libraries: list[Path]) -> bool:
    """Return whether libraries exist and are newer than all that they are made of."""
    if not all(path.exists() for path in libraries):
        return False
    latest = max(path.stat().st_mtime for path in [*SOURCES, Path(__file__)])
    return min(path.stat().st_mtime for path in libraries) > latest


class Package(Distribution):
    """A package for one platform if it holds the kernels."""

    def has_ext_modules(self) -> bool:
        """Return whether the kernels are compiled."""
        try:
            return bool(machine(compiler()))
        except Missing:
            return False


class Wheel(bdist_wheel):
    """A wheel for all versions of Python."""

    def get_tag(self) -> tuple[str, str, str]:
        """Name the platform only."""
        return "py3", "none", super().get_tag()[2]


def links() -> dict[str, object]:
    """Return the addresses of the project, and the README with absolute links."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    address = re.search(r'^repo_url: !ENV \[\w+, "(.*)"\]$', text, re.M)[1].rstrip("/")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    urls = {"Paper": "https://doi.org/10.1016/j.neucom.2019.08.065"}
    if address:
        # `raw` shows a picture, and `blob` a page.
        readme = re.sub(r"\]\((?=[\w./-]+\.png\))", f"]({address}/raw/main/", readme)
        readme = re.sub(r"\]\((?=[\w.])(?!https?:)", f"]({address}/blob/main/", readme)
        urls |= {
            "Source": address,
            "Issues": f"{address}/issues",
            "Documentation": f"{address}/blob/main/docs/index.md",
            "Changelog": f"{address}/blob/main/CHANGELOG.md",
        }
    return {
        "project_urls": urls,
        "long_description": readme,
        "long_description_content_type": "text/markdown",
    }


build.sub_commands.append(("build_kernels", None))
setup(
    **links(),
    cmdclass={"build_kernels": BuildKernels, "bdist_wheel": Wheel},
    distclass=Package,
)

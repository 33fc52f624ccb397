"""Compile the kernels with the C++ compiler of this machine.

The environment variable `CXX` names another compiler, also one for another processor:
`CXX="aarch64-linux-gnu-g++" python setup.py bdist_wheel`.
"""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

SOURCES = Path(__file__).parents[1] / "keras_vaf" / "ops" / "native" / "src"
# Named by the version that `vaf_parts_...` in parts.h has, with the compiler's flags.
INSTRUCTION_SETS = {
    "x86_64": {
        "base": ["-march=x86-64-v2", "-DLANES=4"],
        "v3": ["-march=x86-64-v3", "-DLANES=8"],
        "v4": ["-march=x86-64-v4", "-DLANES=16"],
    },
    "aarch64": {"base": ["-DLANES=4"]},
}
FLAGS = ["-std=c++17", "-O3", "-fPIC", "-pthread", "-fvisibility=hidden"]
FLAGS += ["-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math"]
# GCC warns about its headers for AVX-512, and about vectors that stay in one file.
FLAGS += ["-Wall", "-Wno-psabi", "-Wno-uninitialized", "-Wno-maybe-uninitialized"]


def compiler() -> list[str]:
    """Return the command of the C++ compiler."""
    chosen = os.environ.get("CXX")
    for name in [chosen] if chosen else ["g++", "clang++", "c++"]:
        command = shlex.split(name)
        if shutil.which(command[0]):
            return command
    sys.exit(
        "keras-vaf-kernels needs a C++ compiler (on Debian and Ubuntu: apt-get install "
        "g++). keras-vaf works without this package."
    )


def machine(command: list[str]) -> str:
    """Return the processor that the compiler compiles for."""
    target = subprocess.check_output([*command, "-dumpmachine"], text=True).strip()
    name = target.split("-")[0]
    if name not in INSTRUCTION_SETS or "linux" not in target:
        sys.exit(
            "keras-vaf-kernels supports Linux on x86-64 and aarch64. keras-vaf works "
            f"without this package. Received: {target}"
        )
    return name


class Build(build_ext):
    """Compile shared libraries that do not depend on Python."""

    def run(self) -> None:
        """Compile each library."""
        self.command = compiler()
        self.objects = Path(self.build_temp)
        self.objects.mkdir(parents=True, exist_ok=True)
        folder = Path(self.build_lib)
        if self.inplace:
            folder = Path(__file__).parent
        self.folder = folder / "keras_vaf_kernels"
        self.folder.mkdir(parents=True, exist_ok=True)
        sets = INSTRUCTION_SETS[machine(self.command)]
        parts = [
            self.compile("parts", name, [*flags, f"-DPARTS=vaf_parts_{name}"])
            for name, flags in sets.items()
        ]
        parts += [self.compile("vaf_kernels"), self.compile("pool")]
        core = self.link("vaf_kernels", parts)
        self.link("vaf_jax", [self.compile("jax"), core])
        self.link("vaf_tensorflow", [self.compile("tensorflow"), core])

    def compile(self, source: str, name: str = "", flags: tuple[str, ...] = ()) -> Path:
        """Compile a file."""
        made = self.objects / f"{source}{name}.o"
        file = SOURCES / f"{source}.cpp"
        self.call(*FLAGS, *flags, "-c", str(file), "-o", str(made))
        return made

    def link(self, name: str, parts: list[Path]) -> Path:
        """Link a library that finds the others in its folder."""
        made = self.folder / f"lib{name}.so"
        names = ["-Wl,-rpath,$ORIGIN", f"-Wl,-soname,{made.name}", "-o", str(made)]
        self.call("-shared", "-pthread", *map(str, parts), *names)
        return made

    def call(self, *arguments: str) -> None:
        """Run the compiler."""
        subprocess.run([*self.command, *arguments], check=True)

    def get_outputs(self) -> list[str]:
        """Name the files that belong into the wheel."""
        return [str(path) for path in self.folder.glob("*.so")]


class Wheel(bdist_wheel):
    """One wheel for all versions of Python."""

    def get_tag(self) -> tuple[str, str, str]:
        """Name only the platform that the compiler compiles for."""
        return "py3", "none", f"linux_{machine(compiler())}"


setup(
    ext_modules=[Extension("keras_vaf_kernels", [])],
    cmdclass={"build_ext": Build, "bdist_wheel": Wheel},
)

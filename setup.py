"""Build the package, and its native kernels where CMake finds a C++ compiler.

Without one the package works too. It then holds the reason in place of the kernels, and
`keras-vaf info` prints it. Environment variables:

- `KERAS_VAF_KERNELS=0` leaves the kernels out.
- `CXX` names the compiler, and `CMAKE_ARGS` holds options of CMake.
"""

import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import ClassVar

from setuptools import Command, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build import build

LIBRARIES = Path("keras_vaf", "ops", "native", "lib")


class BuildKernels(Command):
    """Write the libraries of the kernels, or the reason why they are missing."""

    description = "compile the native kernels"
    user_options: ClassVar = [
        ("build-lib=", "b", "folder of the built package"),
        ("build-temp=", "t", "folder of the compiled files"),
    ]
    editable_mode = False

    def initialize_options(self) -> None:
        """Set the defaults."""
        self.build_lib = self.build_temp = None

    def finalize_options(self) -> None:
        """Take the folders of the whole build."""
        folders = [(name, name) for name in ("build_lib", "build_temp")]
        self.set_undefined_options("build", *folders)

    def run(self) -> None:
        """Run CMake."""
        package = Path("." if self.editable_mode else self.build_lib)
        folder = package / LIBRARIES
        shutil.rmtree(folder, ignore_errors=True)
        if os.environ.get("KERAS_VAF_KERNELS") == "0":
            reason = "this copy of keras_vaf was built without them"
        elif self.compile(package):
            return
        else:
            reason = (
                "CMake or a C++ compiler was not found, or failed, when keras_vaf was "
                "installed (`pip install --verbose` prints its messages)"
            )
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "missing.txt").write_text(reason)

    def compile(self, package: Path) -> bool:
        """Return whether the libraries were compiled and installed."""
        options = ["-DCMAKE_BUILD_TYPE=None", *shlex.split(os.getenv("CMAKE_ARGS", ""))]
        objects = str(Path(self.build_temp, "kernels"))
        commands = [
            ["cmake", "-S", ".", "-B", objects, *options],
            ["cmake", "--build", objects, "--parallel", str(os.cpu_count())],
            ["cmake", "--install", objects, "--prefix", str(package.absolute())],
        ]
        try:
            for command in commands:
                subprocess.run(command, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            print(error)
            return False
        return True


class Wheel(bdist_wheel):
    """A wheel for all versions of Python, and for one platform if it holds kernels."""

    def run(self) -> None:
        """Build the package first, because its content names the wheel."""
        self.run_command("build")
        built = Path(self.get_finalized_command("build").build_lib, LIBRARIES)
        self.root_is_pure = not list(built.glob("*.so"))
        self.distribution.has_ext_modules = lambda: not self.root_is_pure
        super().run()

    def get_tag(self) -> tuple[str, str, str]:
        """Name the platform only."""
        return "py3", "none", super().get_tag()[2]


build.sub_commands.append(("build_kernels", None))
setup(cmdclass={"build_kernels": BuildKernels, "bdist_wheel": Wheel})

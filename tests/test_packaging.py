"""The wheel holds the package, and its metadata agree with the other files.

`.ci/run` installs the project and runs it, `.ci/release` also from an archive.
"""

import email
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.backend("tensorflow")

ROOT = Path(__file__).parents[1]
NATIVE = "keras_vaf/ops/native"
NOT_SOURCE = shutil.ignore_patterns(
    *(".*", "__pycache__", "*.egg-info", "build", "site", "lib")
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of a copy of the project, without kernels, which compile slowly."""
    folder = tmp_path_factory.mktemp("packaging")
    shutil.copytree(ROOT, folder / "copy", ignore=NOT_SOURCE)
    build = ["build", "--no-isolation", "--skip-dependency-check", "--wheel"]
    places = ["--outdir", str(folder), str(folder / "copy")]
    environment = os.environ | {"KERAS_VAF_KERNELS": "0"}
    command = [sys.executable, "-m", *build, *places]
    subprocess.run(command, check=True, capture_output=True, env=environment)
    with zipfile.ZipFile(*folder.glob("*.whl")) as file:
        yield file


@pytest.fixture(scope="module")
def metadata(wheel):
    return email.message_from_bytes(read(wheel, "METADATA"))


def read(wheel, ending):
    (name,) = (name for name in wheel.namelist() if name.endswith(f"/{ending}"))
    return wheel.read(name)


def package_files():
    """Return the files of the packages in the project."""
    names = {
        path.relative_to(ROOT).as_posix()
        for package in ("keras_vaf", "keras_vaf_cli")
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    return {name for name in names if not name.startswith(f"{NATIVE}/lib/")}


def test_the_wheel_holds_the_whole_package_and_nothing_else(wheel):
    names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    source = {name for name in package_files() if name.startswith(f"{NATIVE}/src/")}
    assert names == package_files() - source | {f"{NATIVE}/lib/missing.txt"}
    assert wheel.filename.endswith("-py3-none-any.whl")  # it has no kernels
    assert read(wheel, "LICENSE") == (ROOT / "LICENSE").read_bytes()


def test_continuous_integration_tries_each_python_and_each_part(metadata):
    named = [
        line.rpartition(" ")[2]
        for line in metadata.get_all("Classifier")
        if re.search(r"Python :: 3\.\d", line)
    ]
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    script = (ROOT / ".ci" / "full").read_text()
    assert set(re.findall(r"3\.\d\d", workflow)) == set(named)
    assert f"--python {named[-1]}" in script
    (parts,) = re.findall(r"^parts=\((.*)\)$", script, re.M)
    assert re.findall(r"^ +- (\w+)$", workflow, re.M) == parts.split()


def test_continuous_integration_pins_every_dependency_of_the_tests(metadata):
    lines = (ROOT / ".ci" / "constraints.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    pinned = {canonicalize_name(name): version for name, version in pins.items()}
    needed = [Requirement(line) for line in metadata.get_all("Requires-Dist")]
    needed = [each for each in needed if each.name != "playwright"]  # for a browser
    assert {
        str(each)
        for each in needed
        if each.name != "keras-vaf"
        and not each.specifier.contains(pinned.get(canonicalize_name(each.name), "0"))
    } == set()


def test_the_extras_of_errors_are_those_of_the_metadata(metadata):
    sources = (path.read_text() for path in ROOT.glob("keras_vaf*/**/*.py"))
    named = {e for source in sources for e in re.findall(r'\bextra="(\w+)"', source)}
    assert named <= set(metadata.get_all("Provides-Extra"))

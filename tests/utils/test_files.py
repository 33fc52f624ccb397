"""A file is written completely or not at all."""

import errno
import os
import resource
import subprocess
import sys
import textwrap

import keras
import numpy as np
import pytest

from keras_vaf.utils import atomic_path, check_output, files, write_atomically

pytestmark = pytest.mark.backend("tensorflow")

# The start of a program that imports the module of this test without Keras.
HEAD = f"""
import os, resource, signal, sys, types
folder = {os.path.dirname(files.__file__)!r}
for name, path in ("keras_vaf", ""), ("keras_vaf.utils", folder):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [path]
from keras_vaf.utils import files
def end(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)
"""


def run(program, *arguments, folder):
    program = HEAD + textwrap.dedent(program)
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def check_only(folder, content):
    """Check that a folder has one file, with this content."""
    assert [path.read_text(encoding="utf-8") for path in folder.iterdir()] == [content]


@pytest.mark.parametrize(
    ("data", "kept"), [("Isgrò\n", b"Isgr\xc3\xb2\n"), (b"\0\r",) * 2]
)
def test_text_is_utf8_bytes_are_kept_and_folders_are_made(tmp_path, data, kept):
    for content in ("old, and much longer", data):
        path = write_atomically(str(tmp_path / "a" / "b" / "model"), content)
    assert path == tmp_path / "a" / "b" / "model"
    assert path.read_bytes() == kept
    assert len(list(path.parent.iterdir())) == 1


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("reason", [OSError("disk full"), KeyboardInterrupt()])
def test_when_writing_fails_the_old_file_stays(tmp_path, monkeypatch, step, reason):
    (tmp_path / "report.json").write_text("old")

    def fail(*arguments):
        raise reason

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(type(reason)):
        write_atomically(tmp_path / "report.json", "new")
    check_only(tmp_path, "old")


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_a_kill_at_any_step_keeps_the_old_one(tmp_path, step):
    """The file of the killed process does not look like the other."""
    (tmp_path / "report.json").write_text("old")
    program = """
    step = sys.argv[1]
    if step in ("fsync", "replace"):
        setattr(os, step, end)
    with files.atomic_path("report.json", ending=".tmp") as temporary:
        temporary.write_text("half of the new content")
        if step == "write":
            end()
    """
    done = run(program, step, folder=tmp_path)
    assert done.returncode == -9, done.stderr
    assert [path.read_text() for path in tmp_path.glob("*.json")] == ["old"]
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.nightly  # a new process with Keras
def test_a_kill_while_keras_saves_keeps_the_old_model(tmp_path):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    with atomic_path(tmp_path / "best.keras") as temporary:
        model.save(temporary)
    program = """
        import zipfile
        import keras
        model = keras.saving.load_model("best.keras")
        write = zipfile.ZipFile.writestr
        def write_and_end(*arguments, **options):
            write(*arguments, **options)
            os.kill(os.getpid(), signal.SIGKILL)
        zipfile.ZipFile.writestr = write_and_end
        with files.atomic_path("best.keras") as temporary:
            model.save(temporary)
        """
    done = run(program, folder=tmp_path)
    assert done.returncode == -9, done.stderr
    assert len(list(tmp_path.iterdir())) == 2
    again = keras.saving.load_model(tmp_path / "best.keras")
    np.testing.assert_array_equal(again.get_weights()[0], model.get_weights()[0])


def test_a_full_disk_while_keras_saves_names_the_file(tmp_path):
    model = keras.Sequential([keras.Input((100,)), keras.layers.Dense(1000)])
    (tmp_path / "best.keras").write_text("old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))
    try:
        with (
            pytest.raises(OSError, match=r"best\.keras"),
            atomic_path(tmp_path / "best.keras") as temporary,
        ):
            model.save(temporary)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    check_only(tmp_path, "old")


@pytest.mark.parametrize("fault", ["full disk", "read-only"])
def test_a_full_disk_or_read_only_folder_keeps_the_old_file(tmp_path, fault):
    (tmp_path / "report").write_text("old")
    program = """
    if sys.argv[1] == "full disk":
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
    else:
        os.chmod(".", 0o555)
        if os.getuid() == 0:  # to whom nothing is read-only
            os.seteuid(65534)
    try:
        files.write_atomically("report", b"x" * 100_000)
    except OSError as error:
        print(error.errno, error.filename)
    """
    done = run(program, fault, folder=tmp_path)
    tmp_path.chmod(0o755)
    number = errno.EFBIG if fault == "full disk" else errno.EACCES
    assert done.stdout == f"{number} report\n", done.stderr
    check_only(tmp_path, "old")


@pytest.mark.parametrize("name", ["best.keras", "a.weights.h5", "Ü" * 120])
def test_the_temporary_path_has_the_same_ending_and_is_beside(tmp_path, name):
    with atomic_path(tmp_path / name) as temporary:
        assert temporary.parent == tmp_path
        assert temporary.name.endswith(name[-12:])
        temporary.write_text("new")
    assert [path.name for path in tmp_path.iterdir()] == [name]
    with pytest.raises(FileNotFoundError), atomic_path(tmp_path / name) as temporary:
        temporary.write_text("half")
        (tmp_path / "elsewhere").read_text()
    check_only(tmp_path, "new")


@pytest.mark.parametrize("text", ["errno = 28", "cannot write {name}"])
def test_an_error_of_another_library_names_the_file(tmp_path, text):
    with (
        pytest.raises(OSError, match="report"),
        atomic_path(tmp_path / "report") as temporary,
    ):
        raise RuntimeError(text.format(name=temporary))


def test_an_output_may_be_a_device_an_old_file_or_beside_a_broken_link(
    tmp_path, monkeypatch
):
    """`tests/cli/test_models.py` tries the outputs that are refused."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.keras").write_text("old")
    (tmp_path / "loop.txt").symlink_to(tmp_path / "loop.txt")
    inputs = [tmp_path / "old.keras", tmp_path / "loop.txt"]
    assert check_output("new.keras", inputs=inputs).name == "new.keras"
    assert check_output(inputs[0], force=True) == inputs[0]
    assert check_output(os.devnull).exists()
    with atomic_path(os.devnull) as temporary:
        assert str(temporary) == os.devnull


def test_the_target_of_a_symbolic_link_is_written(tmp_path):
    target, link = tmp_path / "folder" / "file.txt", tmp_path / "link.txt"
    target.parent.mkdir()
    link.symlink_to(target)
    for content in ("first", "second"):
        write_atomically(link, content)
        assert link.is_symlink()
        check_only(target.parent, content)
    with pytest.raises(FileExistsError), atomic_path(link, force=False) as temporary:
        temporary.write_text("third")
    check_only(target.parent, "second")

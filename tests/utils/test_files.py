"""A file is written completely or not at all."""

import errno
import os
import resource
import subprocess
import sys
import textwrap
import time

import keras
import numpy as np
import pytest

from keras_vaf.utils import (
    atomic_path,
    check_output,
    files,
    write_atomically,
)

pytestmark = pytest.mark.backend("tensorflow")

# The start of a program that imports the module of this test without Keras.
HEAD = f"""
import os, signal, sys, types
folder = {os.path.dirname(files.__file__)!r}
for name, path in ("keras_vaf", ""), ("keras_vaf.utils", folder):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [path]
from keras_vaf.utils import files
def end(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_text_is_utf8(tmp_path):
    path = write_atomically(tmp_path / "report.json", "Isgrò\n")
    assert path.read_bytes() == b"Isgr\xc3\xb2\n"


def test_bytes_are_kept_and_folders_are_made(tmp_path):
    path = write_atomically(str(tmp_path / "a" / "b" / "model"), b"\x00\r\n")
    assert path == tmp_path / "a" / "b" / "model"
    assert path.read_bytes() == b"\x00\r\n"


def test_an_old_file_is_replaced(tmp_path):
    target = tmp_path / "report.json"
    write_atomically(target, "old, and longer")
    write_atomically(target, "new")
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("reason", [OSError("disk full"), KeyboardInterrupt()])
def test_when_writing_fails_the_old_file_stays(tmp_path, monkeypatch, step, reason):
    target = tmp_path / "report.json"
    target.write_text("old")

    def fail(*arguments):
        raise reason

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(type(reason)):
        write_atomically(target, "new")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_in_the_place_of_a_folder_is_an_os_error(tmp_path):
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(OSError):
        write_atomically(tmp_path / "runs" / "report.json", "{}")


def test_a_killed_writer_leaves_a_whole_file(tmp_path):
    target = tmp_path / "report"
    program = HEAD + textwrap.dedent("""
        import itertools
        for i in itertools.count():
            files.write_atomically(sys.argv[1], str(i % 10) * 1_000_000)
        """)
    writer = subprocess.Popen([sys.executable, "-c", program, str(target)])
    try:
        while not target.exists():
            assert writer.poll() is None
            time.sleep(0.01)
        time.sleep(0.2)
    finally:
        writer.kill()
        writer.wait()
    content = target.read_text()
    assert content == content[0] * 1_000_000


def run(program, *arguments, folder, **options):
    return subprocess.run(
        [sys.executable, "-c", HEAD + textwrap.dedent(program)]
        + [str(argument) for argument in arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        **options,
    )


KILLED_WRITER = """
    step = sys.argv[1]
    if step in ("fsync", "replace"):
        setattr(os, step, end)
    with files.atomic_path("file.keras") as temporary:
        temporary.write_text("half of the new content")
        if step == "write":
            end()
    """


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_a_kill_at_any_step_keeps_the_old_one(tmp_path, step):
    (tmp_path / "file.keras").write_text("old")
    done = run(KILLED_WRITER, step, folder=tmp_path)
    assert done.returncode == -9, done.stderr
    assert (tmp_path / "file.keras").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2


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


def test_a_full_disk_names_the_file_and_keeps_the_old_one(tmp_path):
    (tmp_path / "report").write_text("old")
    program = """
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        files.write_atomically("report", b"x" * 100_000)
    except OSError as error:
        print(error.errno, error.filename)
    """
    done = run(
        program,
        folder=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000)),
    )
    assert done.stdout == f"{errno.EFBIG} report\n", done.stderr
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


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
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_what_a_killed_writer_leaves_does_not_look_like_a_report(tmp_path):
    program = """
    os.fsync = end
    files.write_atomically("report.json", "{}")
    """
    assert run(program, folder=tmp_path).returncode == -9
    assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.rglob("*.json")) == []


def test_a_read_only_folder_names_the_file_and_keeps_the_old_one(tmp_path):
    (tmp_path / "report").write_text("old")
    program = """
    os.chmod(".", 0o555)
    if os.getuid() == 0:  # to whom nothing is read-only
        os.seteuid(65534)
    try:
        files.write_atomically("report", "new")
    except PermissionError as error:
        print(error.filename)
    """
    done = run(program, folder=tmp_path)
    tmp_path.chmod(0o755)
    assert done.stdout == "report\n", done.stderr
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


class TestAtomicPath:
    @pytest.mark.parametrize("name", ["best.keras", "a.weights.h5", "f.png", "Ü" * 120])
    def test_the_temporary_path_has_the_same_ending_and_is_beside(self, tmp_path, name):
        with atomic_path(tmp_path / name) as temporary:
            assert temporary.parent == tmp_path
            assert temporary.name.endswith(name[-12:])
            temporary.write_text("new")
        assert [path.name for path in tmp_path.iterdir()] == [name]

    def test_an_error_in_the_block_is_not_renamed(self, tmp_path):
        with (
            pytest.raises(FileNotFoundError, match="elsewhere"),
            atomic_path(tmp_path / "report") as temporary,
        ):
            temporary.write_text("half")
            (tmp_path / "elsewhere").read_text()
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("text", ["errno = 28", "cannot write {name}"])
    def test_an_error_of_another_library_names_the_file(self, tmp_path, text):
        with (
            pytest.raises(OSError, match="report"),
            atomic_path(tmp_path / "report") as temporary,
        ):
            raise RuntimeError(text.format(name=temporary))

    def test_a_missing_parent_folder_names_the_file(self, tmp_path):
        with (
            pytest.raises(FileNotFoundError) as raised,
            atomic_path(tmp_path / "absent" / "report") as temporary,
        ):
            temporary.write_text("new")
        assert raised.value.filename == str(tmp_path / "absent" / "report")

    def test_a_device_is_written_directly(self):
        with atomic_path(os.devnull) as temporary:
            temporary.write_text("lost")
        assert not os.path.isfile(os.devnull)


class TestWithoutForce:
    """A file that another process wrote in the meantime is kept."""

    @pytest.fixture(params=[True, False], ids=["links", "no links"])
    def links(self, request, monkeypatch):
        def refuse(*arguments):
            raise OSError(errno.EPERM, "Operation not permitted")

        if not request.param:
            monkeypatch.setattr(os, "link", refuse)

    def test_a_file_that_came_in_the_meantime_is_kept(self, tmp_path, links):
        path = tmp_path / "out"
        with (
            pytest.raises(FileExistsError, match=r"out exists.* --force"),
            atomic_path(path, force=False) as temporary,
        ):
            temporary.write_text("mine")
            path.write_text("of another process")
        assert path.read_text() == "of another process"
        assert list(tmp_path.iterdir()) == [path]

    def test_a_new_file_is_written(self, tmp_path, links):
        write_atomically(tmp_path / "out", "new", force=False)
        assert [path.read_text() for path in tmp_path.iterdir()] == ["new"]

    def test_one_of_many_processes_writes(self, tmp_path):
        program = """
            import time
            time.sleep(max(0, float(sys.argv[2]) - time.time()))
            try:
                files.write_atomically("out", sys.argv[1], force=False)
            except FileExistsError:
                print("refused")
            """
        program = [sys.executable, "-c", HEAD + textwrap.dedent(program)]
        start = str(time.time() + 1.5)
        writers = [
            subprocess.Popen([*program, str(n), start], cwd=tmp_path, stdout=-1)
            for n in range(8)
        ]
        said = [writer.communicate()[0].decode().strip() for writer in writers]
        assert said.count("refused") == 7
        assert (tmp_path / "out").read_text() == str(said.index(""))
        assert len(list(tmp_path.iterdir())) == 1


class TestCheckOutput:
    def test_a_new_file(self, tmp_path):
        assert check_output(tmp_path / "new.keras") == tmp_path / "new.keras"
        assert check_output("new.keras").name == "new.keras"

    def test_an_existing_file_needs_force(self, tmp_path):
        (tmp_path / "old.keras").write_text("old")
        with pytest.raises(FileExistsError, match=r"old\.keras exists.* --force"):
            check_output(tmp_path / "old.keras")
        assert check_output(tmp_path / "old.keras", force=True).exists()

    def test_an_input_is_never_the_output(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "old.keras").write_text("old")
        with pytest.raises(ValueError, match="must not be the same file as an input"):
            check_output(tmp_path / "old.keras", force=True, inputs=["old.keras"])

    def test_a_device_may_be_written(self):
        assert check_output(os.devnull).exists()

    def test_a_missing_folder_is_an_error(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="absent does not exist"):
            check_output(tmp_path / "absent" / "new.keras", force=True)


@pytest.mark.skipif(os.name != "posix", reason="symbolic links need rights elsewhere")
def test_the_target_of_a_symbolic_link_is_written(tmp_path):
    target, link = tmp_path / "folder" / "file.txt", tmp_path / "link.txt"
    target.parent.mkdir()
    target.write_text("old")
    link.symlink_to(target)
    write_atomically(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert [path.name for path in target.parent.iterdir()] == ["file.txt"]
    with pytest.raises(FileExistsError):
        write_atomically(link, "newer", force=False)
    assert target.read_text() == "new"
    target.unlink()
    write_atomically(link, "again", force=False)
    assert link.is_symlink()
    assert target.read_text() == "again"


@pytest.mark.skipif(os.name != "posix", reason="symbolic links need rights elsewhere")
def test_an_input_that_is_a_link_to_itself_is_an_error_of_the_system(tmp_path):
    loop = tmp_path / "loop.txt"
    loop.symlink_to(loop)
    check_output(tmp_path / "new.txt", inputs=[loop])
    with pytest.raises(OSError, match="symbolic links"):
        loop.read_text()

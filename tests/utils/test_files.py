"""A file is written whole or not at all."""

import os
import subprocess
import sys
import time

import pytest

from keras_vaf.utils import write_atomically

pytestmark = pytest.mark.backend("tensorflow")


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
    program = (
        "import sys, itertools\n"
        "from pathlib import Path\n"
        "from keras_vaf.utils.files import write_atomically\n"
        "for i in itertools.count():\n"
        "    write_atomically(sys.argv[1], str(i % 10) * 1_000_000)\n"
    )
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

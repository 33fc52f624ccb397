"""A fetched file is the publisher's and complete, also after interruptions."""

import contextlib
import errno
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from keras_vaf.datasets import fetching, load
from keras_vaf.datasets.fetching import cache_folder
from tests.datasets.publishers import TABLE, make_table_entry

pytestmark = pytest.mark.backend("tensorflow")

ROWS = [[1, 2], [3, 4], [5, 6]]


@pytest.fixture(autouse=True)
def three_rows(publisher, catalogue):
    catalogue(make_table_entry(publisher.url))


@pytest.fixture
def cached():
    """Path at which the file is kept."""
    return cache_folder() / "three" / "three.csv"


FETCH = """
import sys
from keras_vaf.datasets.catalogue import File
from keras_vaf.datasets.fetching import cache_folder, fetch
name = "three/three.csv"
fetch(File(name, urls=(sys.argv[1],)), cache_folder() / name)
"""


def not_found(handler):
    handler.send_error(404)


def stop_halfway(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(TABLE)))
    handler.end_headers()
    handler.wfile.write(TABLE[:10])


def send_a_page(handler):
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(b"<html>Please log in</html>")


def send_without_end(handler):
    handler.send_response(200)
    handler.end_headers()
    with contextlib.suppress(OSError):
        while True:
            handler.wfile.write(TABLE * 1000)


def fall_silent(handler):
    stop_halfway(handler)
    handler.wfile.flush()
    time.sleep(1)


def test_a_file_is_fetched_once(publisher, cached, capsys):
    assert load("three").x.tolist() == ROWS
    assert cached.read_bytes() == TABLE
    assert capsys.readouterr().err == (
        f"Fetching three/three.csv (0.0 MB) from {publisher.url}/three.csv\n"
    )
    assert load("three").x.tolist() == ROWS
    assert publisher.requests == 1
    for damaged in (TABLE[:9], b"", TABLE.replace(b"2.5", b"2.6")):
        cached.write_bytes(damaged)
        assert load("three").x.tolist() == ROWS
        assert cached.read_bytes() == TABLE


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (not_found, "HTTP Error 404"),
        (stop_halfway, "it has 10 bytes instead of 30"),
        (send_a_page, "it has 26 bytes instead of 30"),
        (send_without_end, "it sends more than 60 bytes"),
        (fall_silent, "timed out"),
    ],
)
def test_a_publisher_who_fails(publisher, cached, monkeypatch, answer, message):
    monkeypatch.setattr(fetching, "_SECONDS_OF_SILENCE", 0.2)
    publisher.answer = answer
    with pytest.raises(
        OSError, match=f"three/three.csv could not be fetched .*{message}.* save it as "
    ) as raised:
        load("three")
    assert str(cached) in str(raised.value)
    assert not cached.exists()
    publisher.answer = publisher.send
    assert load("three").x.tolist() == ROWS


def test_the_second_address_is_tried(publisher, catalogue):
    catalogue(make_table_entry("http://127.0.0.1:9", publisher.url))
    assert load("three").x.tolist() == ROWS


def test_a_full_disk(cached, monkeypatch):
    def fail(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="could not be written: No space left"):
            load("three")
    assert list(cached.parent.iterdir()) == []


@pytest.mark.nightly
def test_killed_while_fetching(publisher, cached):
    """SIGKILL in the middle of a download leaves nothing behind."""
    halfway, killed = threading.Event(), threading.Event()

    def answer(handler):
        stop_halfway(handler)
        handler.wfile.flush()
        halfway.set()
        killed.wait()

    publisher.answer = answer
    words = [sys.executable, "-c", FETCH, publisher.url + "/three.csv"]
    with subprocess.Popen(words) as process:
        halfway.wait(timeout=60)
        process.kill()
    killed.set()
    assert process.returncode == -signal.SIGKILL
    assert halfway.is_set()
    assert not cached.exists()
    publisher.answer = publisher.send
    assert load("three").x.tolist() == ROWS

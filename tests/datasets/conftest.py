"""Datasets of three rows in place of the catalogue, and a publisher on this machine."""

import http.server
import threading

import pytest

from tests.datasets.publishers import IMAGES, LABELS, TABLE


@pytest.fixture
def catalogue(monkeypatch):
    """Function that puts entries in the place of the paper's."""

    def replace(*entries):
        monkeypatch.setattr("keras_vaf.datasets.catalogue.CATALOGUE", entries)

    return replace


@pytest.fixture
def folder(tmp_path):
    """A data folder that holds the files of three rows, and a catalogue of them."""
    (tmp_path / "three").mkdir()
    (tmp_path / "three" / "three.csv").write_bytes(TABLE)
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "images").write_bytes(IMAGES)
    (tmp_path / "pictures" / "labels").write_bytes(LABELS)
    return tmp_path


class Publisher:
    """A web server on this machine, as reliable as `answer` makes it.

    `answer` is called with the request's handler; by default it sends `content`.
    """

    def __init__(self, content):
        self.content = content
        self.requests = 0
        self.answer = self.send

    def send(self, handler):
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(self.content)))
        handler.end_headers()
        handler.wfile.write(self.content)


@pytest.fixture
def publisher(tmp_path, monkeypatch):
    """A publisher of the table, with an empty cache on the user's side."""
    publisher = Publisher(TABLE)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            publisher.requests += 1
            publisher.answer(self)

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    publisher.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    monkeypatch.delenv("KERAS_VAF_DATA_DIR", raising=False)
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    yield publisher
    server.shutdown()
    server.server_close()
    thread.join()

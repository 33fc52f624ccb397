"""Datasets of three rows in place of the catalogue, and a publisher on this machine."""

import functools
import http.server
import threading

import numpy as np
import pytest

from keras_vaf.datasets import Entry, Size, Source
from keras_vaf.datasets.parsers import read_idx_parts, read_text
from tests.datasets.publishers import make_file, make_idx, make_images

TABLE = b"a,b,y\n1,2,0.5\n3,4,1.5\n5,6,2.5\n"
IMAGES = make_idx(make_images(3, 4, 5))
LABELS = make_idx(np.array([0, 1, 1], dtype=np.uint8))


def make_entry(name, sources, **options):
    return Entry(
        name=name,
        paper_name=name.title(),
        paper_size=options["size"],
        publisher="https://publisher.example/",
        licence="none",
        citation="Nobody",
        sources=sources,
        **options,
    )


def make_table_entry(*addresses):
    addresses = addresses or ("https://publisher.example",)
    urls = tuple(f"{address}/three.csv" for address in addresses)
    file = make_file("three/three.csv", TABLE, text=True, urls=urls)
    return make_entry(
        "three",
        (Source(functools.partial(read_text, separator=","), (file,)),),
        size=Size(3, 2),
        target="y",
    )


def make_image_entry():
    files = tuple(
        make_file(f"pictures/{name}", content, urls=(f"https://p.example/{name}",))
        for name, content in (("images", IMAGES), ("labels", LABELS))
    )
    return make_entry(
        "pictures",
        (Source(read_idx_parts, files),),
        size=Size(3, 20, 2),
        labels=("0", "1"),
        image_shape=(4, 5, 1),
    )


@pytest.fixture
def catalogue(monkeypatch):
    """Function that puts entries in the place of the paper's."""

    def replace(*entries):
        for module in ("catalogue", "checking"):
            monkeypatch.setattr(f"keras_vaf.datasets.{module}.CATALOGUE", entries)

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

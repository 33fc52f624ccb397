"""Three rows in the format of each publisher, and entries of a catalogue for them."""

import gzip
import hashlib
import io
import pickle
import struct
import tarfile
from typing import ClassVar

import numpy as np
import openpyxl

from keras_vaf.datasets import Entry, Size
from keras_vaf.datasets.catalogue import File, Source

ROWS = [["1", "2.5", "x"], ["3", "-4e1", "y"], ["5", "6", "x"]]

ARFF = b"""\
% Three rows.
@relation 'three rows'

@attribute a real
@ATTRIBUTE\tb numeric
@attribute 'the class' {x, y}
@data
1,2.5,x
3, -4e1, y

% A comment between the rows.
5,6,x
"""


def make_file(path, content, text=False, urls=()):
    """Return what the catalogue would say of a file with this content."""
    words = hashlib.sha256(b" ".join(content.split())).hexdigest()
    return File(
        path,
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        words=words if text else None,
        urls=urls,
    )


def make_xlsx(rows):
    workbook = openpyxl.Workbook()
    for row in rows:
        workbook.active.append(row)
    stream = io.BytesIO()
    workbook.save(stream)
    return stream.getvalue()


def make_idx(array):
    sizes = struct.pack(f">{array.ndim}I", *array.shape)
    return bytes([0, 0, 8, array.ndim]) + sizes + array.tobytes()


class Python2Pickler(pickle._Pickler):
    """Writes bytes as the strings of Python 2."""

    def save_string(self, value):
        self.write(pickle.BINSTRING + struct.pack("<i", len(value)) + value)
        self.memoize(value)

    dispatch: ClassVar = {**pickle._Pickler.dispatch, bytes: save_string}


def make_batch(images, labels):
    """Return a batch of CIFAR-10; `images` is `(rows, 32, 32, 3)`."""
    stream = io.BytesIO()
    data = images.transpose(0, 3, 1, 2).reshape(len(images), -1)
    Python2Pickler(stream, protocol=2).dump({b"data": data, b"labels": labels})
    return stream.getvalue().replace(b"numpy._core", b"numpy.core")


def make_archive(batches):
    """Return the publisher's archive of the named batches."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, content in batches.items():
            member = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return gzip.compress(stream.getvalue())


def make_images(*shape):
    return np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)


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
        (Source("text", (file,), {"separator": ","}),),
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
        (Source("idx", files),),
        size=Size(3, 20, 2),
        labels=("0", "1"),
    )

"""Two datasets of three rows, as the catalogue would describe them."""

import numpy as np

from keras_vaf.datasets import Entry, Size
from keras_vaf.datasets.catalogue import Source
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

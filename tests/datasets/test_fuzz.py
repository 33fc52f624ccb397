"""Whatever a file holds, a reader reads it or raises a `ValueError` that names it."""

import gzip
import io
import re
import tarfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keras_vaf.datasets import find, read_csv
from keras_vaf.datasets.encoding import encode_table
from keras_vaf.datasets.parsers import (
    decompress,
    read_arff,
    read_cifar_archive,
    read_cifar_batches,
    read_idx_parts,
    read_text,
    read_workbook,
)
from tests.datasets.publishers import (
    ARFF,
    make_archive,
    make_batch,
    make_idx,
    make_images,
    make_xls,
    make_xlsx,
)

pytestmark = pytest.mark.backend("tensorflow")

FILE = "some.file"
TEXT = b"a,b,y\n1,2.5,0.5\n3,-4e1,1.5\n5,6,2.5\n"
CELLS = [["a", "b"], [1, 2.5], [3, -40], [5, 6]]
BATCH = make_batch(make_images(2, 32, 32, 3), [9, 0])
ARCHIVE = gzip.decompress(make_archive({"data_batch_1": BATCH}))

fuzz = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def damaged(*wholes):
    """Return a strategy: any bytes, or whole files that are torn, flipped, padded."""

    @st.composite
    def damage(draw):
        content = bytearray(draw(st.sampled_from(wholes)))
        for _ in range(draw(st.integers(0, 4))):
            start = draw(st.integers(0, len(content)))
            stop = start + draw(st.sampled_from([0, 1, 1, 8, len(content)]))
            content[start:stop] = draw(st.binary(max_size=3))
        return bytes(content)

    return st.one_of(st.binary(), damage())


def text_tables():
    """Return a strategy: text that is nearly a table."""
    cells = st.sampled_from(
        [
            "1",
            "-2.5",
            "1e999",
            "nan",
            "inf",
            "",
            "?",
            "x",
            '"',
            '"a',
            "é",
            "\x00",
            "1_0",
        ]
    )
    rows = st.lists(cells, max_size=4).flatmap(
        lambda row: st.sampled_from([",", ";", "\t", " "]).map(
            lambda separator: separator.join(row)
        )
    )
    ends = st.sampled_from(["\n", "\r\n", "\r", "\x0b", "\u2028"])
    lines = st.lists(st.tuples(rows, ends).map("".join), max_size=6)
    return lines.map("".join).map(str.encode)


def only_named_errors(read, *arguments, where=FILE, **options):
    """Read; a failure must be a `ValueError` that starts with the place."""
    try:
        return read(*arguments, **options)
    except ValueError as error:
        assert re.match(where, str(error)), str(error)
        return None


@pytest.mark.parametrize("separator", [",", ";", None])
@fuzz
@given(content=st.one_of(damaged(TEXT), text_tables()))
def test_text(separator, content):
    table = only_named_errors(
        read_text, content, FILE, separator, where=rf"{FILE}, line \d+: "
    )
    if table is not None:
        only_named_errors(encode_table, table, "some", table.names[-1])


@fuzz
@given(content=st.one_of(damaged(ARFF), text_tables().map(ARFF.__add__)))
def test_arff(content):
    only_named_errors(read_arff, content, FILE, where=rf"{FILE}, line \d+: ")


@pytest.mark.parametrize("categories", [(), ("a",)])
@fuzz
@given(content=st.one_of(damaged(TEXT), text_tables().map(b"a,y\n".__add__)))
def test_a_table_of_ones_own(tmp_path, categories, content):
    path = tmp_path / FILE
    path.write_bytes(content)
    dataset = only_named_errors(read_csv, path, "y", categories=categories)
    if dataset is not None:
        assert np.isfinite(dataset.y).all()
        assert not np.isinf(dataset.x).any()


@settings(fuzz, max_examples=60)
@given(content=damaged(make_xlsx(CELLS), make_xls(CELLS, "Data")))
def test_workbook(content):
    only_named_errors(read_workbook, content, FILE, where=rf"{FILE}, line \d+: ")


@fuzz
@given(content=damaged(make_idx(make_images(2, 3, 4))))
def test_idx(content):
    labels = make_idx(np.array([1, 2], dtype=np.uint8))
    only_named_errors(read_idx_parts, [(content, FILE), (labels, f"{FILE}2")])


# The letters of the opcodes that name a length or a place of four bytes: with them, a
# pickle may ask for gigabytes before it fails. Checksums keep such files away.
@fuzz
@given(content=damaged(BATCH).map(lambda content: re.sub(b"[rjTXBG]", b"", content)))
def test_batch(content):
    only_named_errors(read_cifar_batches, [(content, FILE)])


@settings(fuzz, max_examples=60)
@given(content=damaged(ARCHIVE[:1024]))
def test_archive(content):
    only_named_errors(read_cifar_archive, [(content + ARCHIVE[1024:], FILE)])


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
@fuzz
@given(content=damaged(gzip.compress(TEXT)))
def test_compression(suffix, content):
    only_named_errors(decompress, content, FILE + suffix)


@pytest.mark.parametrize(
    "name", ["wine", "servo", "dermatology", "qsar_biodegradation", "climate_crashes"]
)
@fuzz
@given(content=st.one_of(st.binary(), text_tables()))
def test_readers_of_the_catalogue(name, content):
    only_named_errors(find(name).sources[0].read, content, FILE)


def test_an_archive_of_folders_is_refused():
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        folder = tarfile.TarInfo("cifar-10-batches-py/data_batch_1")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
    with pytest.raises(ValueError, match=f"{FILE}: .* is not a file"):
        read_cifar_archive([(stream.getvalue(), FILE)])

"""A file is known by its bytes, by its words, or by its git blob id."""

import hashlib

import pytest

from keras_vaf.datasets import File
from keras_vaf.datasets.fetching import is_right

pytestmark = pytest.mark.backend("tensorflow")

# Output of `git hash-object` for the six bytes "hello\n".
HELLO = "ce013625030ba8dba906f756967f9e9ca394464a"


def sha256(content):
    return hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize(("content", "right"), [(b"hello\n", True), (b"hello", False)])
def test_a_git_blob_id(content, right):
    assert is_right(content, File("hello", git_blob=HELLO)) is right


@pytest.mark.parametrize(("content", "right"), [(b"1, 2\n", True), (b"1, 2", False)])
def test_bytes(content, right):
    assert is_right(content, File("two", sha256=sha256(b"1, 2\n"))) is right


@pytest.mark.parametrize(
    ("content", "right"),
    [
        (b"1, 2\n3, 4\n", True),
        (b" 1,\t2\r\n3,  4", True),
        (b"1, 2\n3, 5\n", False),
        (b"1,2\n3, 4\n", False),
        (b"", False),
    ],
)
def test_words(content, right):
    assert is_right(content, File("four", words=sha256(b"1, 2 3, 4"))) is right

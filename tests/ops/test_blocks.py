"""Sums formed block by block, at sizes around those of a block."""

import pytest

from keras_vaf.ops import blocks
from keras_vaf.ops.blocks import BLOCK
from tests.ops.test_vaf import check, draw

ONE_SUM = [
    1,
    BLOCK - 1,
    BLOCK,
    BLOCK + 1,
    2 * BLOCK,
    3 * BLOCK + 7,
]
SHAPES = [
    # Functions that differ along a last axis, and blocks of whole rows.
    ((BLOCK // 8, 8), (1,)),
    ((BLOCK // 8 + 1, 8), (1,)),
    ((3 * BLOCK // 8 - 1, 8), (1,)),
    ((BLOCK // 64 * 2 + 3, 3, 64), (2,)),
    # More functions than elements of a block.
    ((3, BLOCK + 1), (1,)),
    # Along a first axis: strides of a size that is prime, or has divisors.
    ((7, 2, 8209), (1,)),
    ((9, 2, 8192), (1,)),
    ((2, 3, 4, 4096), (1,)),
    # Along axes that do not stand side by side.
    ((3, 4, BLOCK // 4, 2), (1, 3)),
]


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("size", ONE_SUM)
def test_sums_of_one_function(size):
    check("relu", (), draw((size, 1), (), k=2, g="relu", dtype="float32"), 1e-4)


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("shape, unshared", SHAPES)
def test_sums_of_many_functions(shape, unshared):
    arrays = draw(shape, unshared, k=1, g="tanh", dtype="float32")
    check("tanh", unshared, arrays, 1e-4)


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize(
    "shape, unshared", [((2 * BLOCK, 1), ()), ((9, 2, 8192), (1,))]
)
def test_an_accelerator_takes_everything_as_one_block(shape, unshared, monkeypatch):
    monkeypatch.setattr(blocks, "on_accelerator", lambda: True)
    check("tanh", unshared, draw(shape, unshared, k=2, g="tanh", dtype="float32"), 1e-4)

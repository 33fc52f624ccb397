"""Threads and memory of the kernels: few enough, and those of the framework."""

import json
import os

import pytest

from keras_vaf.ops.native.library import processors
from tests.ops.native.harness import python

pytestmark = pytest.mark.nightly  # each test starts processes that import a backend


def run(code, **variables):
    """Run Python code in another process, and return what it prints as JSON."""
    return json.loads(python("-c", code, **variables).splitlines()[-1])


MEMORY = """
import json, resource, sys
import numpy as np
from keras_vaf.ops.native.library import check, find
from tests.ops.native.harness import NAMES, call_of

shape, k = {shape}, {k}
networks, outer, units, inner = shape
x, d, out = (np.ones(shape, "float32") for _ in range(3))
sizes = [(networks, units, k)] * 3 + [(networks, units)]
arrays = [np.ones(size, "float32") for size in 2 * sizes]
held = dict(zip(NAMES, (x, d, out, *arrays)))
names = ("networks", "outer", "units", "inner")
call = call_of(held, function=0, type=0, slope=0.0, k=k, **dict(zip(names, shape)))
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before = peak()
check(find().library.vaf_backward(call, {threads}))
print(json.dumps([peak() - before, x.nbytes]))
"""


@pytest.mark.backend("tensorflow")
@pytest.mark.parametrize(
    "shape, k",
    [
        ((1, 32, 100_000, 1), 3),  # took 766 MB more, for an x of 13 MB
        ((1, 32, 30_000, 1), 15),
        ((1, 32, 1024, 25), 5),
        ((1, 8, 3000, 40), 64),
        ((1, 200_000, 192, 1), 3),
    ],
)
def test_many_threads_take_less_memory_than_the_input(library, shape, k):
    taken, size = run(MEMORY.format(shape=shape, k=k, threads=64))
    assert taken < size


OPENMP = """
import json, os, sys
{first}
import torch
from keras_vaf.ops.native.library import find
from keras_vaf.layers import VAFActivation

count = lambda: len(os.listdir("/proc/self/task"))
x = torch.ones(2_000_000, 1)
torch.relu(x)
before = count()
calls = find().library.vaf_calls()
VAFActivation()(x)
used = find().library.vaf_calls() > calls
print(json.dumps([used, count() - before]))
"""


@pytest.mark.backend("torch")
@pytest.mark.parametrize("first", ["", "import sklearn.utils._openmp_helpers"])
def test_the_kernels_run_on_the_threads_of_pytorch(library, first):
    """Scikit-learn brings an OpenMP of its own, which must not start threads too."""
    pytest.importorskip("sklearn")
    variables = {"KERAS_BACKEND": "torch", "OMP_NUM_THREADS": "3"}
    assert run(OPENMP.format(first=first), **variables) == [True, 0]


TENSORFLOW = """
import json, os
import tensorflow as tf
{first}
from keras_vaf.layers import VAFActivation
from keras_vaf.ops.on_tensorflow import find, threads

x = tf.ones((2_000_000, 1))
tf.nn.relu(x)
layer = VAFActivation()
layer(x[:1])
count = lambda: len(os.listdir("/proc/self/task"))
before, calls = count(), find().library.vaf_calls()
layer(x)
used = find().library.vaf_calls() > calls
print(json.dumps([used, threads(), count() - before]))
"""
SETTING = "tf.config.threading.set_intra_op_parallelism_threads({})"


@pytest.mark.backend("tensorflow")
def test_tensorflows_number_of_threads_is_obeyed(library):
    assert run(TENSORFLOW.format(first=SETTING.format(3))) == [True, 3, 2]
    variables = {"TF_NUM_INTRAOP_THREADS": "1"}
    assert run(TENSORFLOW.format(first=""), **variables) == [True, 1, 0]
    if "TF_NUM_INTRAOP_THREADS" not in os.environ:
        from keras_vaf.ops import on_tensorflow

        assert on_tensorflow.threads() == processors()

"""Bad calls: shapes that do not fit, and programs with altered operators.

`python -m tests.ops.native.bad_calls` runs them all, the former with and without the
kernels. A crash ends the process, so the tests start another one.
"""

import functools
import importlib

import keras
import numpy as np

from keras_vaf.ops import VAF, plain_operators, pointwise
from keras_vaf.ops.case import Case
from keras_vaf.ops.native import library
from tests.harness import to_arrays, to_tensors, vjp

BACKEND = keras.backend.backend()


def vaf(channels, k=3):
    """Shapes of the parameters of one VAF for each channel."""
    return [(channels, k)] * 3 + [(channels,)]


# Shape of x, unshared axes, shapes of the parameters.
CALLS = {
    "as it should be": ((2, 5), (1,), vaf(5)),
    "more channels than functions": ((2, 7), (1,), vaf(5)),
    "far more channels": ((2, 40_000), (1,), vaf(5)),
    "one channel for all functions": ((2, 1), (1,), vaf(5)),
    "one function for all channels": ((2, 5), (1,), vaf(1)),
    "fewer beta than alpha": ((2, 5), (1,), [(5, 3), (5, 3), (5, 2), (5,)]),
    "layer, fewer beta than alpha": ((2, 5), (), [(3,), (3,), (2,), ()]),
    "channel, parameters of a layer": ((2, 5), (1,), [(3,)] * 3 + [()]),
    "no axis of hidden units": ((2, 5), (1,), [(5,)] * 4),
}


def draw(shapes):
    rng = np.random.default_rng(0)
    return [rng.normal(size=size).astype("float32") for size in shapes]


def calls():
    """Yield the name of each call and a function that runs it."""
    for name, (shape, unshared, shapes) in CALLS.items():
        arrays = draw((shape, *shapes))

        def operation(x, *parameters, unshared=unshared):
            function = VAF(keras.activations.relu)
            return pointwise(function, x, parameters, unshared, training=True)

        def eager(arrays=arrays, run=operation):
            upstream, *tensors = to_tensors([np.ones_like(arrays[0]), *arrays])
            y, gradients = vjp(run, tensors, upstream)
            return [y, *gradients]

        yield name, eager
        if BACKEND != "torch":  # see `altered` for its programs
            tensors = to_tensors(arrays)
            yield f"{name}, compiled", functools.partial(compiled, operation, tensors)


def compiled(function, tensors):
    """Call a compiled function, on TensorFlow for an x of unknown sizes."""
    if BACKEND == "jax":
        import jax

        # The kernels are in differentiated code.
        return [jax.jit(jax.grad(lambda *a: function(*a).sum(), 1))(*tensors)]
    import tensorflow as tf

    specs = [tf.TensorSpec(t.shape, t.dtype) for t in tensors]
    specs[0] = tf.TensorSpec([None] * len(tensors[0].shape))
    return [tf.function(function, input_signature=specs)(*tensors)]


# Function and k; then on TensorFlow the axes before the unshared ones and their number,
# and on JAX the elements before, along and behind them; on PyTorch k and the unshared
# axes. The shape of x is (2, 5).
CASES = {
    "tensorflow": {
        "as it should be": [0, 3, 1, 1],
        "an unknown function": [99, 3, 1, 1],
        "too many hidden units": [0, 65, 1, 1],
        "k beyond 32 bits": [0, 2**32 + 3, 1, 1],
        "a negative axis": [0, 3, -1, 1],
        "more axes than x has": [0, 3, 1, 2**40],
        "no unshared axis": [0, 3, 0, 0],
    },
    "jax": {
        "as it should be": [0, 3, 2, 5, 1],
        "an unknown function": [99, 3, 2, 5, 1],
        "too many hidden units": [0, 65, 2, 5, 1],
        "k beyond 32 bits": [0, 2**32 + 3, 2, 5, 1],
        "more elements": [0, 3, 200_000, 5, 1],
        "a negative size": [0, 3, -2, 5, -1],
        "other functions": [0, 3, 5, 2, 1],
        "too many numbers": [0, 3, 2, 5, 1, 1],
    },
    "torch": {"as it should be": (3, (1,)), "no unshared axis": (3, ())},
}


def altered():
    """Yield the name of each altered operator and a function that runs it."""
    good, cases = draw([(2, 5), (2, 5), *vaf(5)]), CASES[BACKEND]
    for direction, first in (("forward", 1), ("backward", 0)):
        run = functools.partial(raw, direction)
        for name, case in cases.items():
            yield f"{direction}: {name}", functools.partial(run, case, good[first:])
        for i in range(2 * first, 6):  # a shorter x alone has fewer rows
            short = [a[:1] if i == j else a for j, a in enumerate(good)][first:]
            case = cases["as it should be"]
            name = f"{direction}: tensor {i} is short"
            yield name, functools.partial(run, case, short)


def raw(direction, case, arrays):
    """Run an operator of the kernels."""
    tensors = to_tensors(arrays)
    native = importlib.import_module(f"keras_vaf.ops.on_{BACKEND}")
    if BACKEND == "torch":
        upstream, *rest = tensors if direction == "backward" else (None, *tensors)
        kernels, case = library.find().library, Case("relu", "float32", *case)
        return native.run(kernels, case, upstream, *rest)
    if BACKEND == "tensorflow":
        run = getattr(native.operators()[0], f"keras_vaf_{direction}")
        return run(*tensors, case=case, slope=0.0)
    import jax

    native.inactive()  # registers the operators
    like = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in arrays]
    results = like[0] if direction == "forward" else like[1:]
    call = jax.ffi.ffi_call(f"keras_vaf_{direction}", results)
    return call(*tensors, case=np.asarray(case), slope=np.float32(0))


def outcome(call):
    """Return the class of the error, or the resulting numbers."""
    try:
        found = call()
        many = isinstance(found, list | tuple)
        return [array.tolist() for array in to_arrays(found if many else [found])]
    except Exception as error:
        return type(error).__name__


def shown(found):
    return found if isinstance(found, str) else "numbers"


if __name__ == "__main__":
    for name, call in calls():
        print(f"{name}:", end=" ", flush=True)
        with plain_operators():
            plain = outcome(call)
        native = outcome(call)
        same = plain == native
        if not isinstance(plain, str) and not isinstance(native, str):
            same = all(map(np.allclose, plain, native))
        print("same" if same else "OTHER", shown(plain), shown(native), flush=True)
    for name, call in altered():
        print(f"{name}:", end=" ", flush=True)
        print(shown(outcome(call)), flush=True)

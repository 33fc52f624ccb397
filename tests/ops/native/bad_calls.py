"""Bad calls: shapes that do not fit, and programs with altered operators.

`python -m tests.ops.native.bad_calls` runs them all, the former with and without the
kernels. A crash ends the process, so the tests start another one.
"""

import importlib

import keras
import numpy as np

from keras_vaf.layers import VAFActivation
from keras_vaf.ops import VAF, plain_operators, pointwise
from keras_vaf.ops.native.case import Case
from tests.harness import to_arrays, to_tensors, vjp


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


def calls():
    """Yield the name of each call and a function that runs it."""
    function = VAF(keras.activations.relu)
    for name, (shape, unshared, shapes) in CALLS.items():
        rng = np.random.default_rng(0)
        arrays = [rng.normal(size=s).astype("float32") for s in (shape, *shapes)]
        upstream, *tensors = to_tensors([np.ones_like(arrays[0]), *arrays])

        def operation(x, *parameters, unshared=unshared):
            return pointwise(function, x, parameters, unshared, training=True)

        def eager(tensors=tensors, upstream=upstream, run=operation):
            y, gradients = vjp(run, tensors, upstream)
            return [y, *gradients]

        def traced(tensors=tensors, run=operation):
            return [compiled(run)(*tensors)]

        yield name, eager
        if keras.backend.backend() != "torch":  # see `altered` for its programs
            yield f"{name}, compiled", traced
    for channels in (5, 7, 40_000):
        yield f"a layer for 5 channels gets {channels}", built(channels)


def compiled(function):
    """Compile a function, on TensorFlow for tensors of unknown sizes."""
    backend = keras.backend.backend()
    if backend == "jax":
        import jax

        # The kernels are in differentiated code.
        return jax.jit(jax.grad(lambda *a: function(*a).sum(), argnums=1))
    if backend == "torch":
        return function
    import tensorflow as tf

    def call(*tensors):
        specs = [tf.TensorSpec([None] * len(t.shape), t.dtype) for t in tensors[:1]]
        specs += [tf.TensorSpec(t.shape, t.dtype) for t in tensors[1:]]
        return tf.function(function, input_signature=specs)(*tensors)

    return call


def built(channels):
    """Return a call of a layer that is built for 5 channels."""

    def call():
        layer = VAFActivation(sharing="channel")
        layer.build((None, 5))
        function = compiled(lambda x: layer.call(x, training=True))
        if keras.backend.backend() == "jax":
            function = layer
        return [function(keras.ops.ones((2, channels)))]

    return call


# Function and k; then on TensorFlow the axes before the unshared ones and their number,
# and on JAX the elements before, along and behind them; on PyTorch k and the unshared
# axes. The shape of x is (2, 5).
CASES = {
    "tensorflow": {
        "an unknown function": [99, 3, 1, 1],
        "too many hidden units": [0, 65, 1, 1],
        "k beyond 32 bits": [0, 2**32 + 3, 1, 1],
        "a negative axis": [0, 3, -1, 1],
        "more axes than x has": [0, 3, 1, 2**40],
        "no unshared axis": [0, 3, 0, 0],
    },
    "jax": {
        "an unknown function": [99, 3, 2, 5, 1],
        "too many hidden units": [0, 65, 2, 5, 1],
        "k beyond 32 bits": [0, 2**32 + 3, 2, 5, 1],
        "more elements": [0, 3, 200_000, 5, 1],
        "a negative size": [0, 3, -2, 5, -1],
        "other functions": [0, 3, 5, 2, 1],
        "too many numbers": [0, 3, 2, 5, 1, 1],
    },
    "torch": {
        "no unshared axis": (3, ()),
    },
}


def altered():
    """Yield the name of each altered operator and a function that runs it."""
    rng = np.random.default_rng(0)
    shapes = [(2, 5), (2, 5), *vaf(5)]
    good = [rng.normal(size=s).astype("float32") for s in shapes]
    cases = CASES[keras.backend.backend()]
    right = {
        "tensorflow": [0, 3, 1, 1],
        "jax": [0, 3, 2, 5, 1],
        "torch": (3, (1,)),
    }[keras.backend.backend()]
    for direction in ("forward", "backward"):
        first = int(direction == "forward")
        yield (
            f"{direction}: as it should be",
            lambda d=direction, f=first: raw(d, right, good[f:]),
        )
        for name, case in cases.items():
            yield (
                f"{direction}: {name}",
                lambda d=direction, f=first, c=case: raw(d, c, good[f:]),
            )
        for i in range(2 * first, 6):  # a shorter x alone has fewer rows
            other = [*good]
            other[i] = other[i][:1]
            yield (
                f"{direction}: tensor {i} is short",
                lambda d=direction, f=first, o=(other): raw(d, right, o[f:]),
            )


def raw(direction, case, arrays):
    """Run an operator of the kernels."""
    backend = keras.backend.backend()
    tensors = to_tensors(arrays)
    native = importlib.import_module(f"keras_vaf.ops.on_{backend}")
    if backend == "torch":
        run = native.forward if direction == "forward" else native.gradients
        return run(Case("relu", "float32", *case), *tensors)
    if backend == "tensorflow":
        run = getattr(native.operators()[0], f"keras_vaf_{direction}")
        return run(*tensors, case=case, slope=0.0)
    import jax

    native.inactive()  # registers the operators
    like = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in arrays]
    results = like[0] if direction == "forward" else like[1:]
    call = jax.ffi.ffi_call(f"keras_vaf_{direction}", results)
    found = call(*tensors, case=np.asarray(case), slope=np.float32(0))
    return jax.block_until_ready(found)


def outcome(call):
    """Return the class of the error, or the resulting numbers."""
    try:
        found = call()
        many = isinstance(found, list | tuple)
        return [array.tolist() for array in to_arrays(found if many else [found])]
    except Exception as error:
        return type(error).__name__


def same(one, other):
    """Return whether two outcomes agree."""
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return all(map(np.allclose, one, other))


if __name__ == "__main__":
    for name, call in calls():
        print(f"{name}:", end=" ", flush=True)
        with plain_operators():
            plain = outcome(call)
        native = outcome(call)
        shown = [o if isinstance(o, str) else "numbers" for o in (plain, native)]
        print("same" if same(plain, native) else "OTHER", *shown, flush=True)
    for name, call in altered():
        print(f"{name}:", end=" ", flush=True)
        found = outcome(call)
        print(found if isinstance(found, str) else "numbers", flush=True)

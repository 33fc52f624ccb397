"""The operation on TensorFlow: each pass is a program of XLA's, in any kind of graph.

On a machine without a GPU Keras runs training steps as plain graphs, in which every
multiplication is a pass over memory. Compiling the two halves of this operation alone
gives XLA's fused passes there too; inside a compiled step they merge with it.
"""

import functools
from collections.abc import Callable

import tensorflow as tf

from keras_vaf.ops.gradient import forward, input_gradient, parameter_gradients
from keras_vaf.ops.layout import Layout
from keras_vaf.ops.pointwise import Pointwise


def apply(
    function: Pointwise, layout: Layout, x: tf.Tensor, *parameters: tf.Tensor
) -> tf.Tensor:
    """f(x, *parameters) with a gradient that keeps x alone."""
    # A variable is read here: inside, it would count as a hidden input.
    tensors = [tf.convert_to_tensor(tensor) for tensor in (x, *parameters)]
    # One trace serves all sizes of the batch; XLA still compiles for the size it meets.
    x_spec = tf.TensorSpec((None, *x.shape[1:]), x.dtype)
    specs = (x_spec, *(tf.TensorSpec(p.shape, p.dtype) for p in tensors[1:]))
    return _differentiable(function, layout, specs)(*tensors)


@functools.cache
def _differentiable(
    function: Pointwise, layout: Layout, specs: tuple[tf.TensorSpec, ...]
) -> Callable[..., tf.Tensor]:
    def compiled(
        compute: Callable[..., object], specs: tuple[tf.TensorSpec, ...]
    ) -> Callable[..., object]:
        return tf.function(
            functools.partial(compute, function, layout),
            input_signature=specs,
            jit_compile=True,
            autograph=False,
        )

    run = compiled(forward, specs)
    pull_back = compiled(_gradients, (specs[0], *specs))

    @tf.custom_gradient
    def with_gradient(*arguments: tf.Tensor) -> tuple[tf.Tensor, Callable[..., object]]:
        return run(*arguments), lambda upstream: pull_back(upstream, *arguments)

    return with_gradient


def _gradients(
    function: Pointwise, layout: Layout, *tensors: tf.Tensor
) -> tuple[tf.Tensor, ...]:
    return (
        input_gradient(function, layout, *tensors),
        *parameter_gradients(function, layout, *tensors),
    )

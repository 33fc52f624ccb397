"""`apply`, the operation on TensorFlow, which XLA compiles in any kind of graph.

On a machine without a GPU, Keras runs training steps as plain graphs. Every
multiplication in such a graph is a separate pass over memory. This module therefore
compiles the forward and the backward pass, so that XLA fuses the operations of each.
Inside a step that is compiled as a whole, XLA also merges them with the rest of the
step. Exported models for inference consist of standard operators.
"""

import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from keras_vaf.ops.backends.choice import is_small
from keras_vaf.ops.equation import Pointwise
from keras_vaf.ops.gradient import blockwise_gradients, plain_forward
from keras_vaf.ops.layout import Layout
from keras_vaf.ops.native import Case
from keras_vaf.ops.native import on_tensorflow as native
from keras_vaf.ops.switches import FORWARD_MODE
from keras_vaf.ops.vjp import vjp

_FOR_EXPORT = {"get_concrete_function", "_get_concrete_function_garbage_collected"}


def apply(
    function: Pointwise,
    layout: Layout,
    training: bool,
    x: tf.Tensor,
    *parameters: tf.Tensor,
) -> tf.Tensor:
    """Return f(x, *parameters), whose gradient stores only x, unless x is small."""
    # Variables are read here. Inside, TensorFlow would add them as hidden inputs.
    tensors = [tf.convert_to_tensor(tensor) for tensor in (x, *parameters)]
    # One trace serves all batch sizes. XLA still compiles once for each size.
    x_spec = tf.TensorSpec((None, *x.shape[1:]), x.dtype)
    specs = (x_spec, *(tf.TensorSpec(p.shape, p.dtype) for p in tensors[1:]))
    eager = tf.executing_eagerly()
    case = native.covered(function, layout, *tensors) if training or eager else None
    if is_small(function, x.shape, tensors[1:], covered=case is not None):
        return plain_forward(function, layout, *tensors)
    compiled = training or not _is_exported()
    try:
        return _differentiable(function, layout, compiled, case, specs)(*tensors)
    except _ForwardModeError:  # an accumulator asks for the gradient at once
        return plain_forward(function, layout, *tensors)


class _ForwardModeError(RuntimeError):
    """A `tf.autodiff.ForwardAccumulator` needs the plain formula."""


def _is_exported() -> bool:
    """Return whether the graph that is traced may be exported.

    Every export asks TensorFlow for the concrete function: Keras for a SavedModel, ONNX
    or LiteRT, and users for `tf.saved_model.save`. A function that is only called is
    traced without this method.
    """
    frame = None if tf.executing_eagerly() else sys._getframe()
    while frame is not None:
        if frame.f_code.co_name in _FOR_EXPORT:
            return True
        frame = frame.f_back
    return False


@functools.lru_cache(maxsize=1024)
def _differentiable(
    function: Pointwise,
    layout: Layout,
    compiled: bool,
    case: Case | None,
    specs: tuple[tf.TensorSpec, ...],
) -> Callable[..., tf.Tensor]:
    plain = functools.partial(plain_forward, function, layout)
    run: Callable[..., Any] = plain
    if compiled:
        run = _compiled(plain_forward, function, layout, specs)
    backward = _compiled(blockwise_gradients, function, layout, (specs[0], *specs))
    if case is not None:
        run = functools.partial(native.forward, case)
        backward = functools.partial(native.gradients, case)

    @tf.custom_gradient
    def with_gradient(*arguments: tf.Tensor) -> tuple[tf.Tensor, Callable[..., Any]]:
        def pull_back(upstream: tf.Tensor) -> Any:
            try:
                return with_second_gradient(upstream, *arguments)
            except _ForwardModeError:
                return vjp(plain, arguments, upstream)

        return run(*_untracked(arguments)), pull_back

    @tf.custom_gradient
    def with_second_gradient(*tensors: tf.Tensor) -> tuple[Any, Callable[..., Any]]:
        # XLA cannot differentiate a loop of unknown length, so the gradient's own
        # gradient is left to TensorFlow.
        def pull_back(*upstream: tf.Tensor) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(tensors)
                first = vjp(plain, tensors[1:], tensors[0])
            second = tape.gradient(first, tensors, upstream)
            if second[0] is None:  # no tape records while tangents are carried forward
                raise _ForwardModeError(FORWARD_MODE)
            return second

        return backward(*_untracked(tensors)), pull_back

    return with_gradient


def _compiled(
    compute: Callable[..., Any],
    function: Pointwise,
    layout: Layout,
    specs: tuple[tf.TensorSpec, ...],
) -> Callable[..., Any]:
    return tf.function(
        functools.partial(compute, function, layout),
        input_signature=specs,
        jit_compile=True,
        autograph=False,
    )


def _untracked(tensors: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    # An eager tape would record and keep the tensors inside the operation.
    return [tf.stop_gradient(tensor) for tensor in tensors]

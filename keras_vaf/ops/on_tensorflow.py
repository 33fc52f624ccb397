"""`apply`, the operation on TensorFlow.

The native kernels act in programs that are traced with `training=True`, and where
nothing is traced. Elsewhere, and in programs for XLA, which compiles only its own
operators, TensorFlow runs the formula, and computes it again for the gradient.
"""

import ctypes
import functools
import os
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from keras_vaf.ops.activations import IN_KERNELS
from keras_vaf.ops.case import Case, case_of_layer
from keras_vaf.ops.equation import Layout, Pointwise, formula
from keras_vaf.ops.native.library import FOLDER, find, processors, warn


def apply(
    function: Pointwise,
    layout: Layout,
    training: bool,
    x: tf.Tensor,
    *parameters: tf.Tensor,
) -> tf.Tensor:
    """Return f(x, *parameters)."""
    # Variables are read here. Inside, TensorFlow would add them as hidden inputs.
    tensors = [tf.convert_to_tensor(tensor) for tensor in (x, *parameters)]
    case = None
    if training or tf.executing_eagerly():
        dtypes, shapes = [t.dtype.name for t in tensors], [t.shape for t in tensors]
        case = case_of_layer(function, layout, dtypes, shapes)
    if case is None or _compiled_by_xla() or inactive():
        form = _recomputed(function, layout)
    else:
        form = _with_kernels(function, layout, case)
    try:
        return form(*tensors)
    except _ForwardModeError:  # an accumulator asks for the gradient at once
        return formula(function, layout, *tensors)


class _ForwardModeError(RuntimeError):
    """No tape records, because a `tf.autodiff.ForwardAccumulator` is at work."""


@functools.lru_cache(maxsize=1024)
def _recomputed(function: Pointwise, layout: Layout) -> Callable[..., tf.Tensor]:
    @tf.custom_gradient
    def run(*tensors: tf.Tensor) -> tuple[tf.Tensor, Callable[..., Any]]:
        def gradients(upstream: tf.Tensor) -> Any:
            x = _after(upstream, tensors[0])
            return _gradients(function, layout, upstream, x, *tensors[1:])

        # An eager tape would record and keep the tensors inside the operation.
        return formula(function, layout, *map(tf.stop_gradient, tensors)), gradients

    return run


def _gradients(
    function: Pointwise, layout: Layout, upstream: tf.Tensor, *tensors: tf.Tensor
) -> Any:
    """Return the gradients of x and of each parameter, by TensorFlow."""
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        y = formula(function, layout, *tensors)
    found = tape.gradient(y, tensors, upstream)
    if all(gradient is None for gradient in found):
        raise _ForwardModeError
    pairs = zip(found, tensors, strict=True)
    return [tf.zeros_like(t) if g is None else g for g, t in pairs]


def _after(upstream: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    """Return x in a form that a graph has only when it computes the gradient.

    Otherwise the graph would keep what both passes compute: several tensors like x.
    """
    if tf.executing_eagerly():
        return x
    first = tf.reshape(upstream, (-1,))[:1]  # of an empty input, too
    zero = tf.reduce_any(tf.logical_and(first > 0, first < 0))
    return x + tf.cast(zero, x.dtype)


@functools.lru_cache(maxsize=1024)
def _with_kernels(
    function: Pointwise, layout: Layout, case: Case
) -> Callable[..., tf.Tensor]:
    """Return f by the kernels, whose further derivatives are those of the formula."""
    first = case.unshared[0] if case.unshared else 0
    number, slope = IN_KERNELS[case.g]
    numbers = [number, case.k, first, len(case.unshared)]
    attributes = {"case": numbers, "slope": slope}
    kernels = operators()[0]

    @tf.custom_gradient
    def forward(*tensors: tf.Tensor) -> tuple[tf.Tensor, Callable[..., Any]]:
        y = kernels.keras_vaf_forward(*map(tf.stop_gradient, tensors), **attributes)
        return y, lambda upstream: gradients(upstream, *tensors)

    @tf.custom_gradient
    def gradients(*tensors: tf.Tensor) -> tuple[Any, Callable[..., Any]]:
        def second(*upstream: tf.Tensor) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(tensors)
                found = _gradients(function, layout, *tensors)
            again = tape.gradient(found, tensors, upstream)
            if again[0] is None:
                raise _ForwardModeError(
                    "The native kernels have no forward mode. Trace the function "
                    "inside `with keras_vaf.ops.plain_operators():`."
                )
            return again

        inputs = map(tf.stop_gradient, tensors)
        return tuple(kernels.keras_vaf_backward(*inputs, **attributes)), second

    return forward


@functools.cache
def operators() -> tuple[Any, str]:
    """Load the operators. Return them, or `None` and why that failed."""
    if find().reason:
        return None, find().reason
    try:
        path = str(FOLDER / "libvaf_tensorflow.so")
        loaded = tf.load_op_library(path)
        if not hasattr(loaded, "keras_vaf_backward"):
            raise RuntimeError("its C interface lacks a function")
        ctypes.CDLL(path).vaf_tensorflow_threads(threads())
    except Exception as error:
        reason = f"TensorFlow {tf.__version__} cannot load the native kernels: {error}"
        warn(reason)
        return None, reason
    return loaded, ""


@functools.cache
def inactive() -> str:
    """Return why the kernels support no call, or `""`."""
    if any(device.device_type != "CPU" for device in tf.config.list_logical_devices()):
        return "the native kernels are for machines without a GPU or TPU"
    return operators()[1]


def threads() -> int:
    """Return how many threads TensorFlow's own operators use, from the first one on."""
    chosen: int = tf.config.threading.get_intra_op_parallelism_threads()
    variable = os.environ.get("TF_NUM_INTRAOP_THREADS", "")
    return chosen or (int(variable) if variable.isdecimal() else 0) or processors()


def _compiled_by_xla() -> bool:
    """Return whether XLA compiles the graph that is traced (`jit_compile=True`)."""
    graph = None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
    while graph is not None:
        context = graph._get_control_flow_context()
        while context is not None:
            if context.IsXLAContext():
                return True
            context = context.outer_context
        graph = getattr(graph, "outer_graph", None)
    return False

"""The native kernels on TensorFlow, as TensorFlow operators."""

import ctypes
import functools
import os
from typing import Any

import tensorflow as tf

from keras_vaf.ops.equation import Pointwise
from keras_vaf.ops.layout import Layout
from keras_vaf.ops.native.case import Case, case_of
from keras_vaf.ops.native.library import find, processors, warn

_OPERATORS = ("keras_vaf_forward", "keras_vaf_backward")


@functools.cache
def operators() -> tuple[Any, str]:
    """Load the operators, once. Return them, or `None` and why that failed."""
    folder = find().folder
    if folder is None:
        return None, find().reason
    try:
        path = str(folder / "libvaf_tensorflow.so")
        loaded = tf.load_op_library(path)
        missing = [name for name in _OPERATORS if not hasattr(loaded, name)]
        if missing:
            raise RuntimeError("its C interface lacks a function")
        ctypes.CDLL(path).vaf_tensorflow_threads(threads())
    except Exception as error:
        reason = f"TensorFlow {tf.__version__} cannot load the native kernels: {error}"
        warn(reason)
        return None, reason
    return loaded, ""


def threads() -> int:
    """Return how many threads TensorFlow's own operators use.

    TensorFlow fixes this number before its first operation.
    """
    chosen: int = tf.config.threading.get_intra_op_parallelism_threads()
    variable = os.environ.get("TF_NUM_INTRAOP_THREADS", "")
    return chosen or (int(variable) if variable.isdecimal() else 0) or processors()


def covered(
    function: Pointwise, layout: Layout, x: tf.Tensor, *parameters: tf.Tensor
) -> Case | None:
    """Return the case if the kernels support this call, else `None`."""
    tensors = (x, *parameters)
    dtypes, shapes = [t.dtype.name for t in tensors], [t.shape for t in tensors]
    case = case_of(function, layout, dtypes, shapes)
    return None if case is None or _compiled_by_xla() or inactive() else case


@functools.cache
def inactive() -> str:
    """Return why the kernels support no call, or `""`."""
    if any(device.device_type != "CPU" for device in tf.config.list_logical_devices()):
        return "the native kernels are for machines without a GPU or TPU"
    return operators()[1]


def _compiled_by_xla() -> bool:
    """Return whether the graph that is traced is compiled by XLA (`jit_compile=True`).

    XLA compiles only its own operators.
    """
    graph = None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
    while graph is not None:
        context = graph._get_control_flow_context()
        while context is not None:
            if context.IsXLAContext():
                return True
            context = context.outer_context
        graph = getattr(graph, "outer_graph", None)
    return False


def forward(case: Case, x: tf.Tensor, *parameters: tf.Tensor) -> tf.Tensor:
    """Return f(x)."""
    return operators()[0].keras_vaf_forward(x, *parameters, **_attributes(case))


def gradients(
    case: Case, upstream: tf.Tensor, x: tf.Tensor, *parameters: tf.Tensor
) -> tuple[tf.Tensor, ...]:
    """Return the gradients of x and of each parameter."""
    run = operators()[0].keras_vaf_backward
    return tuple(run(upstream, x, *parameters, **_attributes(case)))


@functools.lru_cache(maxsize=1024)
def _attributes(case: Case) -> dict[str, Any]:
    """Return the attributes of the operators, which do not depend on the tensors."""
    first = case.unshared[0] if case.unshared else 0
    numbers = [case.function, case.k, first, len(case.unshared)]
    return {"case": numbers, "slope": case.slope}

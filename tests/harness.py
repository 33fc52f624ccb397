"""Shared by several test files: Keras's private helpers, gradients, public names."""

import contextlib
import functools
import importlib
import importlib.util
import pkgutil

import keras
import numpy as np
from keras import ops
from keras.src.testing import TestCase

import keras_vaf

check_layer = TestCase().run_layer_test


def check_serialization(instance):
    """Check that an object's configuration makes an equal object."""
    TestCase().run_class_serialization_test(instance)
    # Keras compares configurations only, which may both lack an argument.
    assert vars(type(instance).from_config(instance.get_config())) == vars(instance)


def public_names():
    """Return every object that a package's `__all__` names, by its dotted name.

    Packages of another backend are left out.
    """
    others = {"tensorflow", "jax", "torch"} - {keras.backend.backend()}
    packages = (
        importlib.import_module(f"keras_vaf.{module.name}")
        for module in pkgutil.iter_modules(keras_vaf.__path__)
        if module.ispkg and module.name not in others
    )
    return {
        f"{package.__name__}.{name}": getattr(package, name)
        for package in packages
        for name in getattr(package, "__all__", ())
    }


def package_modules():
    """Import every module of the package, but those written for another backend."""
    others = {"tensorflow", "jax", "torch"} - {keras.backend.backend()}
    if not importlib.util.find_spec("triton"):
        others.add("triton")
    return [
        importlib.import_module(info.name)
        for info in pkgutil.walk_packages(keras_vaf.__path__, "keras_vaf.")
        if not others & {*info.name.replace(".", "_").split("_")}
    ]


def double_precision():
    """Let JAX compute in float64, as the other backends do when asked."""
    if keras.backend.backend() == "jax":
        import jax

        return jax.enable_x64(True)
    return contextlib.nullcontext()


@functools.cache
def _compiled_vjp(function):
    import jax

    def compute(arguments, upstream):
        value, pull_back = jax.vjp(function, *arguments)
        return value, pull_back(upstream)

    return jax.jit(compute)


def vjp(function, arguments, upstream):
    """Return function(*arguments) and the gradients of sum(upstream * function)."""
    backend = keras.backend.backend()
    if backend == "jax":
        return _compiled_vjp(function)(arguments, upstream)
    if backend == "tensorflow":
        import tensorflow as tf

        with tf.GradientTape() as tape:
            tape.watch(arguments)
            value = function(*arguments)
        return value, tape.gradient(value, arguments, upstream)
    import torch

    leaves = [argument.detach().requires_grad_() for argument in arguments]
    value = function(*leaves)
    return value, torch.autograd.grad(value, leaves, upstream)


def grad(function, arguments):
    """Return the gradients of a scalar function, themselves differentiable."""
    backend = keras.backend.backend()
    if backend == "jax":
        import jax

        return jax.jit(jax.grad(function, tuple(range(len(arguments)))))(*arguments)
    if backend == "tensorflow":
        import tensorflow as tf

        with tf.GradientTape() as tape:
            tape.watch(arguments)
            value = function(*arguments)
        return tape.gradient(value, arguments, unconnected_gradients="zero")
    import torch

    leaves = [a if a.requires_grad else a.detach().requires_grad_() for a in arguments]
    value = function(*leaves)
    return torch.autograd.grad(value, leaves, create_graph=True, materialize_grads=True)


def to_tensors(arrays):
    """Return tensors of the arrays' own dtypes."""
    return [ops.convert_to_tensor(array, dtype=array.dtype.name) for array in arrays]


def to_arrays(tensors):
    """Return arrays of the tensors' own dtypes, detached from any gradient."""
    if keras.backend.backend() == "torch":
        tensors = [tensor.detach() for tensor in tensors]
    return [np.asarray(ops.convert_to_numpy(tensor)) for tensor in tensors]

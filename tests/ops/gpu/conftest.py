"""Tests of the kernels for GPUs. Files that import a framework need its backend."""

import importlib.util

import keras

names = {"jax", "torch"} - {keras.backend.backend()}
if importlib.util.find_spec("triton") is None:
    names.add("torch")
collect_ignore = [f"test_{name}.py" for name in names]

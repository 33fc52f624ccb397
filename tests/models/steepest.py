"""`steepest_slope`, a search by gradient for the steepest pair of inputs of a model."""

import keras
import numpy as np
from keras import ops

from tests.harness import to_arrays, vjp

RADII = (1e-2, 1e-1, 1.0, 5.0)  # distances of the pairs
STARTS = 3  # of each distance


def steepest_slope(model, steps=25):
    """Return the largest slope that a gradient search finds, from several starts.

    Both points of a pair move. Their distance is kept, and the last slope is computed
    in float64 from the outputs of the model.
    """
    generator = np.random.default_rng(0)
    dtype = keras.config.floatx()
    radii = np.repeat(RADII if dtype == "float64" else RADII[1:], STARTS)
    sizes = [[size or 4 for size in tensor.shape[1:]] for tensor in model.inputs]
    points, ways = (
        [generator.normal(size=(len(radii), *size)) for size in sizes] for _ in range(2)
    )
    best = 0.0

    def slopes(*tensors):  # one function for all steps, which JAX compiles once
        return squared_slope(model, *tensors)

    for step in range(steps + 1):
        ways = scaled(ways, radii)
        arrays = [each.astype(dtype) for each in (*points, *ways)]
        tensors = [ops.convert_to_tensor(array, dtype) for array in arrays]
        ones = ops.ones((len(radii),), dtype)
        slope, gradients = vjp(slopes, tensors, ones)
        best = max(best, float(to_arrays([slope])[0].max()))
        gradients = [
            np.zeros(each.shape) if gradient is None else to_arrays([gradient])[0]
            for each, gradient in zip(arrays, gradients, strict=True)
        ]
        length = 0.9 ** (step + 1)
        moved = scaled(gradients[: len(sizes)], np.full(len(radii), length / 2))
        turned = scaled(gradients[len(sizes) :], length * radii)  # never back to 0
        points = [a + b for a, b in zip(points, moved, strict=True)]
        ways = [a + b for a, b in zip(ways, turned, strict=True)]
    return best**0.5


def squared_slope(model, *tensors):
    """Return the squared slope of each pair: a point, and a point with a step."""
    half = len(tensors) // 2
    points, ways = tensors[:half], tensors[half:]
    others = [point + way for point, way in zip(points, ways, strict=True)]
    first, second = (outputs_of(model, each) for each in (points, others))
    rise = sum(squares(b - a) for a, b in zip(first, second, strict=True))
    run = sum(squares(b - a) for a, b in zip(points, others, strict=True))
    return rise / run


def outputs_of(model, inputs):
    outputs = model(inputs[0] if len(inputs) == 1 else list(inputs), training=False)
    return keras.tree.flatten(outputs)


def squares(tensor):
    return ops.sum(ops.square(ops.reshape(tensor, (tensor.shape[0], -1))), axis=1)


def scaled(arrays, lengths):
    """Return the parts of vectors, scaled so that the vectors have these lengths."""
    flat = [array.reshape(len(lengths), -1) for array in arrays]
    norms = np.sqrt(sum((each**2).sum(axis=1) for each in flat))
    factors = np.divide(lengths, norms, out=np.zeros(len(lengths)), where=norms > 0)
    return [a * factors.reshape(-1, *[1] * (a.ndim - 1)) for a in arrays]


def matrix_norm(model):
    """Return the norm of an affine model of one input, from its outputs of units."""
    shape = [size or 4 for size in model.inputs[0].shape[1:]]
    units = np.eye(int(np.prod(shape))).reshape(-1, *shape)
    inputs = np.concatenate([units, np.zeros((1, *shape))])
    outputs = outputs_of(model, [ops.convert_to_tensor(inputs, keras.config.floatx())])
    flat = [array.reshape(len(inputs), -1) for array in to_arrays(outputs)]
    values = np.concatenate(flat, axis=1).astype("float64")
    return np.linalg.norm(values[:-1] - values[-1], 2)

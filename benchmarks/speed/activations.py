"""The layers that are compared."""

import keras
from keras import ops

import keras_vaf
from benchmarks.speed.cases import Activation
from keras_vaf import layers
from keras_vaf.layers import VAFActivation
from keras_vaf.ops.backends import choice
from keras_vaf.ops.functions import get_function


class Chain(keras.layers.Layer):
    """An activation between its neighbours: act(x + bias) * scale, per channel."""

    def __init__(self, activation):
        super().__init__()
        self.activation = activation

    def build(self, input_shape):
        self.bias = self.add_weight(shape=input_shape[-1:], name="bias")
        self.scale = self.add_weight(shape=input_shape[-1:], name="scale")
        self.activation.build(input_shape)

    def call(self, inputs, training=False):
        hidden = inputs + self.bias
        if isinstance(self.activation, VAFActivation):
            return self.activation(hidden, training=training) * self.scale
        return self.activation(hidden) * self.scale


class AutodiffVAF(VAFActivation):
    """The same sum over hidden units, differentiated by the backend."""

    def call(self, inputs, training=False):
        with keras_vaf.ops.plain_differentiation():
            return super().call(inputs, training)


LIMITS = ("SMALL", "FEW", "MEDIUM", "MEDIUM_SMOOTH")
"""Limits of `keras_vaf.ops.backends.choice`, below which plain formulas are used."""


class AtOnceVAF(VAFActivation):
    """The same with one tensor for all hidden units, however large the input is."""

    limit = 2**60

    def call(self, inputs, training=False):
        before = {name: getattr(choice, name) for name in LIMITS}
        vars(choice).update(dict.fromkeys(LIMITS, self.limit))
        try:
            return super().call(inputs, training)
        finally:
            vars(choice).update(before)


class OwnGradientVAF(AtOnceVAF):
    """The same with this package's gradient, however small the input is."""

    limit = -1


class MaterialisedVAF(VAFActivation):
    """The equation as one would first write it: an axis for the k hidden units."""

    def call(self, inputs, training=False):
        hidden = self.g(self.alpha * inputs[..., None] + self.alpha_bias)
        return ops.sum(self.beta * hidden, axis=-1) + self.beta_bias


class ExpandedKAF(layers.KAF):
    """A kernel for each element and point of the dictionary, and their weighted sum."""

    def call(self, inputs, training=False):
        distance = inputs[..., None] - ops.convert_to_tensor(self.dictionary)
        return ops.sum(self.alpha * ops.exp(-self.gamma * distance**2), axis=-1)


class ExpandedAPL(layers.APL):
    """A hinge for each element and slope, and their weighted sum."""

    def call(self, inputs, training=False):
        hinges = ops.relu(self.hinges - inputs[..., None])
        return ops.relu(inputs) + ops.sum(self.slopes * hinges, axis=-1)


class ExpandedABU(layers.ABU):
    """All functions stacked, and their weighted sum."""

    def call(self, inputs, training=False):
        values = ops.stack([function(inputs) for function in self.functions], axis=-1)
        return ops.sum(self.alpha * values, axis=-1)


class ExpandedSplineActivation(layers.SplineActivation):
    """Four control points gathered for each element, times the cubic basis."""

    def call(self, inputs, training=False):
        place = (inputs + self.boundary) * ((self.q - 1) / (2 * self.boundary))
        left = ops.clip(ops.floor(ops.stop_gradient(place)), 1, self.q - 3)
        t = (place - left)[..., None]
        basis = ops.concatenate([t**3, t**2, t, ops.ones_like(t)], axis=-1)
        matrix = [
            [-0.5, 1, -0.5, 0],
            [1.5, -2.5, 0, 1],
            [-1.5, 2, 0.5, 0],
            [0.5, -0.5, 0, 0],
        ]
        weights = ops.matmul(basis, ops.transpose(ops.convert_to_tensor(matrix)))
        neighbours = ops.cast(left, "int32")[..., None] + ops.arange(-1, 3)
        channels = ops.arange(inputs.shape[-1])[:, None] * self.q
        points = ops.take(ops.reshape(self.points, (-1,)), neighbours + channels)
        return ops.sum(weights * points, axis=-1)


class ExpandedPolynomialActivation(layers.PolynomialActivation):
    """All powers of each element, and their weighted sum."""

    def call(self, inputs, training=False):
        powers = inputs[..., None] ** ops.arange(self.degree + 1, dtype="float32")
        return ops.sum(self.coefficients * powers, axis=-1)


EXPANDED = {
    "KAF": ExpandedKAF,
    "APL": ExpandedAPL,
    "ABU": ExpandedABU,
    "SplineActivation": ExpandedSplineActivation,
    "PolynomialActivation": ExpandedPolynomialActivation,
}
VAFS = {
    "ours": VAFActivation,
    "native": VAFActivation,
    "at once": AtOnceVAF,
    "autodiff": AutodiffVAF,
    "own gradient": OwnGradientVAF,
    "materialised": MaterialisedVAF,
}


def layer(
    activation: Activation, rank: int, dtype: str = "float32"
) -> keras.layers.Layer:
    """A new layer, for inputs of that rank; it starts the same in every process."""
    made = _layer(activation, rank)
    made.dtype_policy = dtype if dtype == "float32" else f"mixed_{dtype}"
    return made


def _layer(activation: Activation, rank: int) -> keras.layers.Layer:
    if activation.subject == "prelu":
        return keras.layers.PReLU(shared_axes=list(range(1, rank - 1)) or None)
    if activation.subject.startswith("expanded "):
        return EXPANDED[activation.subject.removeprefix("expanded ")]()
    if hasattr(layers, activation.subject):
        return getattr(layers, activation.subject)()
    if not activation.k:
        return keras.layers.Activation(get_function(activation.subject, "subject"))
    return VAFS[activation.subject](
        k=activation.k,
        g=activation.g,
        sharing=activation.sharing,
        initialization=keras_vaf.initializers.RandomStart(seed=0),
    )

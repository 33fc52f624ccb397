"""The layers that are compared."""

import keras
from keras import ops

import keras_vaf
from benchmarks.cases import Activation
from keras_vaf.layers import VAFActivation


class AutodiffVAF(VAFActivation):
    """The same sum over hidden units, differentiated by the backend."""

    def call(self, inputs, training=False):
        with keras_vaf.ops.plain_differentiation():
            return super().call(inputs, training)


class MaterialisedVAF(VAFActivation):
    """The equation as one would first write it: an axis for the k hidden units."""

    def call(self, inputs, training=False):
        hidden = self.g(self.alpha * inputs[..., None] + self.alpha_bias)
        return ops.sum(self.beta * hidden, axis=-1) + self.beta_bias


VAFS = {"ours": VAFActivation, "autodiff": AutodiffVAF, "materialised": MaterialisedVAF}


def layer(activation: Activation, rank: int) -> keras.layers.Layer:
    """A new layer, for inputs of that rank; it starts the same in every process."""
    if activation.subject == "prelu":
        return keras.layers.PReLU(shared_axes=list(range(1, rank - 1)) or None)
    if not activation.k:
        return keras.layers.Activation(activation.subject)
    return VAFS[activation.subject](
        k=activation.k,
        g=activation.g,
        sharing=activation.sharing,
        initialization=keras_vaf.initializers.RandomStart(seed=0),
    )

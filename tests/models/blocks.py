"""Layers and models with custom code, as in other packages."""

import keras
from keras import layers, ops


def in_order(held):
    """Yield the layers in a container."""
    if isinstance(held, layers.Layer):
        yield held
        return
    for each in held.values() if isinstance(held, dict) else held:
        yield from in_order(each)


@keras.saving.register_keras_serializable(package="blocks")
class Feedforward(layers.Layer):
    """Hands its activation on to a layer inside, as a TransformerEncoder does."""

    def __init__(self, units, activation="gelu", **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.activation = keras.activations.get(activation)

    def build(self, shape):
        self.norm = layers.LayerNormalization(name="norm")
        self.norm.build(shape)
        self.inner = layers.Dense(self.units, activation=self.activation, name="inner")
        self.inner.build(shape)
        self.outer = layers.Dense(shape[-1], name="outer")
        self.outer.build((*shape[:-1], self.units))

    def call(self, inputs):
        return self.norm(inputs + self.outer(self.inner(inputs)))

    def get_config(self):
        activation = keras.activations.serialize(self.activation)
        return {**super().get_config(), "units": self.units, "activation": activation}


@keras.saving.register_keras_serializable(package="blocks")
class TwoActivations(layers.Layer):
    """Names its activations as layers of other packages do, and infers its shape."""

    def __init__(self, units, act_fn="gelu", hidden_act="relu", **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.act_fn = keras.activations.get(act_fn)
        self.hidden_act = keras.activations.get(hidden_act)
        self.inner = layers.Dense(units, activation=self.hidden_act, name="inner")
        self.outer = layers.Dense(units, name="outer")

    def build(self, shape):
        self.inner.build(shape)
        self.outer.build((*shape[:-1], self.units))

    def call(self, inputs):
        return self.act_fn(self.outer(self.inner(inputs))) + 1

    def get_config(self):
        names = "act_fn", "hidden_act"
        own = {name: keras.activations.serialize(getattr(self, name)) for name in names}
        return {**super().get_config(), "units": self.units, **own}


@keras.saving.register_keras_serializable(package="blocks")
class Fixed(layers.Layer):
    """Has activations that its configuration does not name."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = layers.Dense(3, activation="relu", name="dense")
        self.last = layers.ReLU(name="last")

    def build(self, shape):
        self.dense.build(shape)

    def call(self, inputs):
        return self.last(self.dense(inputs)) - 1


@keras.saving.register_keras_serializable(package="blocks")
class Inline(layers.Layer):
    """Calls an activation function by its name, as Gemma does."""

    def call(self, inputs):
        return keras.activations.gelu(inputs) + 1


@keras.saving.register_keras_serializable(package="blocks")
class Backbone(keras.Model):
    """A Functional model with a custom configuration, as in keras-hub."""

    def __init__(self, width, depth=2, **kwargs):
        inputs = keras.Input((None, width), name="inputs")
        x = inputs
        for i in range(depth):
            x = Feedforward(6, name=f"block_{i}")(x)
        x = layers.ReLU(name="act")(Fixed(name="fixed")(x))
        x = layers.Dense(width, "tanh", name="pooled")(ops.relu(layers.Dense(3)(x)))
        super().__init__(inputs, x, **kwargs)
        self.width, self.depth = width, depth

    def get_config(self):
        names = {"name": self.name, "trainable": self.trainable}
        return {**names, "width": self.width, "depth": self.depth}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)


@keras.saving.register_keras_serializable(package="blocks")
class Network(keras.Model):
    """A model with a `call` method of its own, as users write them."""

    def __init__(self, width=6, **kwargs):
        super().__init__(**kwargs)
        self.width = width
        self.dense = layers.Dense(width, activation="relu", name="dense")
        self.norm = layers.BatchNormalization(name="norm")
        self.act = layers.LeakyReLU(0.1, name="leaky")
        self.block = Feedforward(3, name="block")
        self.gate = layers.Dense(width, activation="sigmoid", name="gate")
        self.last = layers.Dense(2, activation="tanh", name="last")

    def call(self, inputs, training=False):
        x = self.norm(self.dense(inputs), training=training)
        x = self.block(self.act(x) * self.gate(inputs))
        return 2 * self.last(x)

    def get_config(self):
        return {**super().get_config(), "width": self.width}

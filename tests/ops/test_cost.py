"""Cost of the gradient: tensors kept between the passes. JAX: see `test_on_jax`."""

import math

import pytest

from keras_vaf.layers import VAFActivation

SHAPE = (4_096, 4, 4, 16)  # neuron sharing has 256 functions here
SIZE = math.prod(SHAPE)
SHARINGS = ("layer", "channel", "neuron")

variants = pytest.mark.parametrize("k, g", [(3, "relu"), (15, "relu"), (15, "tanh")])
each_sharing = pytest.mark.parametrize("sharing", SHARINGS)


def make_layer(k, g, sharing):
    layer = VAFActivation(k=k, g=g, sharing=sharing, initialization="random")
    layer.build(SHAPE)
    return layer


def weights_of(layer):
    return [variable.value for variable in layer.trainable_variables]


@pytest.mark.backend("tensorflow")
@variants
@each_sharing
@pytest.mark.parametrize("compiled", [False, True])
def test_tensorflow_keeps_the_input_alone(k, g, sharing, compiled):
    """Of all tensors that the forward pass makes, the gradient reads none but y."""
    import tensorflow as tf

    layer = make_layer(k, g, sharing)

    @tf.function(autograph=False)
    def step(x, upstream):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = layer(x, training=True)
        made = {op.name for op in x.graph.get_operations()}
        found = tape.gradient(y, [x, *weights_of(layer)], upstream)
        large = [
            tensor.name
            for op in x.graph.get_operations()
            if op.name not in made
            for tensor in op.inputs
            if tensor.op.name in made - {"x", "upstream"}
            and (tensor.shape.num_elements() or 0) >= SIZE
        ]
        assert large == [], large
        return y, found

    step.get_concrete_function(*[tf.TensorSpec(SHAPE)] * 2)


@pytest.mark.backend("torch")
@variants
@each_sharing
def test_torch_keeps_two_tensors_for_each_hidden_unit(k, g, sharing):
    import torch

    layer, kept = make_layer(k, g, sharing), {}
    x = torch.zeros((64, *SHAPE[1:]), requires_grad=True)

    def keep(tensor):
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        layer(x, training=True)
    large = sum(size for size in kept.values() if size >= x.nbytes)
    assert large <= (2 * k + 1) * x.nbytes

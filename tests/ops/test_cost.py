"""Cost of the gradient, counted: tensors kept, bytes, passes over the input."""

import functools
import math
import re

import keras
import pytest

from keras_vaf.layers import VAFActivation

SHAPE = (32_768, 4, 4, 16)  # neuron sharing has 256 functions here
SIZE = math.prod(SHAPE)
SHARINGS = ("layer", "channel", "neuron")
RELU = tuple((k, "relu", sharing) for k in (3, 15) for sharing in SHARINGS)

variants = pytest.mark.parametrize("k, g, sharing", [*RELU, (15, "tanh", "layer")])


def make_layer(k, g, sharing):
    layer = VAFActivation(k=k, g=g, sharing=sharing, initialization="random")
    layer.build(SHAPE)
    return layer


def weights_of(layer):
    return [variable.value for variable in layer.trainable_variables]


def compiled_on_jax(call, weights, shape=SHAPE):
    """Return XLA's program of the output and all gradients."""
    import jax

    def forward_backward(weights, x, upstream):
        y, pull_back = jax.vjp(call, weights, x)
        return y, pull_back(upstream)

    x = jax.ShapeDtypeStruct(shape, "float32")
    return jax.jit(forward_backward).lower(weights, x, x).compile()


@functools.cache
def layer_on_jax(k, g, sharing):
    layer = make_layer(k, g, sharing)
    return compiled_on_jax(
        lambda weights, x: layer.stateless_call(weights, [], x)[0], weights_of(layer)
    )


def on_tensorflow(layer, compiled):
    """Return the same as a function and the specifications of its arguments."""
    import tensorflow as tf

    @tf.function(jit_compile=compiled, autograph=False)
    def forward_backward(x, upstream):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = layer(x, training=True)
        return y, tape.gradient(y, [x, *weights_of(layer)], upstream)

    return forward_backward, [tf.TensorSpec(SHAPE)] * 2


def sizes(text):
    """Return the number of elements of each array that a piece of XLA's text names."""
    shapes = re.findall(r"\b[a-z]+\d+\[([\d,]+)\]", text)
    return [math.prod(map(int, shape.split(","))) for shape in shapes]


def passes(text):
    """Return the operations of a program that go over arrays of the input's size."""
    entry = text[text.index("\nENTRY") :]
    found, size_of = [], {}
    for name, result, operation, operands in re.findall(
        r"\n\s+(?:ROOT )?%?([\w.-]+) = (\(.*?\)|\S+) ([\w-]+)\((.*)", entry
    ):
        size_of[name] = max(sizes(result), default=1)
        read = [size_of.get(other, 1) for other in re.findall(r"[\w.-]+", operands)]
        free = {"parameter", "bitcast", "tuple", "get-tuple-element", "opt-barrier"}
        if operation not in free and max([size_of[name], *read]) >= SIZE:
            found.append(operation)
    return found


def tensors_made_by_torch(layer, shape):
    """Return the size of what each operation of forward and backward pass gives."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    made = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            if isinstance(result, torch.Tensor):
                made.append(result.untyped_storage().nbytes() // 4)
            return result

    x = torch.zeros(shape, requires_grad=True)
    with Watch():
        torch.autograd.grad(layer(x, training=True), x, torch.ones(shape))
    return made


@pytest.mark.backend("torch")
@variants
def test_torch_keeps_the_input_alone(k, g, sharing):
    import torch

    layer = make_layer(k, g, sharing)
    x = torch.zeros((64, *SHAPE[1:]), requires_grad=True)
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda tensor: kept.append(tensor.numel()), lambda nothing: nothing
    ):
        layer(x, training=True)
    weights = [weight.numel() for weight in weights_of(layer)]
    assert sorted(kept) == sorted([x.numel(), *weights])


@pytest.mark.backend("torch")
@pytest.mark.parametrize("sharing", SHARINGS)
def test_torch_makes_nothing_larger_than_the_input(sharing):
    created = tensors_made_by_torch(make_layer(15, "relu", sharing), (4_096, 4, 4, 16))
    assert max(created) == 4_096 * 4 * 4 * 16


@pytest.mark.backend("torch")
@pytest.mark.parametrize("sharing", SHARINGS)
def test_torch_runs_as_many_operations_for_few_units_as_for_many(sharing):
    few, many = (
        len(tensors_made_by_torch(make_layer(k, "relu", sharing), (32, 4, 4, 16)))
        for k in (3, 15)
    )
    assert few == many <= 60


@pytest.mark.backend("jax")
@variants
def test_xla_needs_less_than_a_quarter_of_the_input(k, g, sharing):
    memory = layer_on_jax(k, g, sharing).memory_analysis()
    assert memory.temp_size_in_bytes <= 4 * SIZE / 4


@pytest.mark.backend("jax")
@variants
def test_jax_makes_three_passes_and_nothing_larger(k, g, sharing):
    text = layer_on_jax(k, g, sharing).as_text()
    # y; the gradient of x; the sums
    assert len(passes(text)) == 3, passes(text)
    assert max(sizes(text)) == SIZE


@pytest.mark.backend("jax")
def test_sums_run_along_memory_where_one_function_is_shared():
    """Across it, a sum of a thousand elements costs as much as one of a million."""
    layer = make_layer(3, "relu", "layer")

    def call(weights, x):
        return layer.stateless_call(weights, [], x)[0]

    program = compiled_on_jax(call, weights_of(layer), (128, 100)).as_text()
    assert re.search(r"\[1,1,1,12800\]|\[12800\]", program)
    assert not re.search(r"\[12800(,1)+\]", program)


@pytest.mark.backend("tensorflow")
@pytest.mark.parametrize(
    "k, g, sharing",
    [(15, "relu", "layer"), (3, "relu", "channel"), (15, "tanh", "layer")],
)
def test_tensorflow_under_xla_makes_three_passes_too(k, g, sharing):
    function, specs = on_tensorflow(make_layer(k, g, sharing), compiled=True)
    text = function.experimental_get_compiler_ir(*specs)(stage="optimized_hlo")
    assert len(passes(text)) == 3, passes(text)
    assert max(sizes(text)) == SIZE


@pytest.mark.backend("tensorflow")
@pytest.mark.parametrize(
    "k, g, sharing", [(15, "relu", "channel"), (15, "tanh", "layer")]
)
def test_a_plain_graph_runs_two_programs(k, g, sharing):
    function, specs = on_tensorflow(make_layer(k, g, sharing), compiled=False)
    free = {"Placeholder", "Identity", "IdentityN", "StopGradient"}
    run = [
        operation.type
        for operation in function.get_concrete_function(*specs).graph.get_operations()
        if operation.type not in free
        and any(
            tensor.shape.num_elements() == SIZE and tensor.consumers()
            for tensor in operation.outputs
        )
    ]
    assert run == ["PartitionedCall"] * 2


@pytest.mark.backend("jax")
def test_the_counts_see_an_axis_of_hidden_units():
    import jax.numpy as jnp

    def materialised(weights, x):
        alpha, alpha_bias, beta, beta_bias = weights
        hidden = keras.ops.tanh(alpha * x[..., None] + alpha_bias)
        return (beta * hidden).sum(-1) + beta_bias

    program = compiled_on_jax(materialised, [jnp.ones(3)] * 3 + [jnp.zeros(())])
    assert len(passes(program.as_text())) > 3
    assert max(sizes(program.as_text())) == 3 * SIZE
    assert program.memory_analysis().temp_size_in_bytes > 4 * SIZE

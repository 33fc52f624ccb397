"""`build_network`, which returns the untrained network of a protocol."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import keras

from keras_vaf.experiments.protocol import Protocol
from keras_vaf.models import cnet, mlp, nin
from keras_vaf.training.losses import loss_of


def build_network(
    protocol: Protocol,
    input_shape: Sequence[int],
    outputs: int,
    seeds: Sequence[int],
    output_activation: str | None = None,
) -> keras.Sequential:
    """Return the untrained network of a protocol.

    Args:
        protocol: The protocol.
        input_shape: Shape of one row of the inputs.
        outputs: Number of output units.
        seeds: A seed for the kernels, followed by one seed per activation.
        output_activation: Activation of the outputs.

    Returns:
        The network, built but not compiled. Its activations are named `activation_1`,
        `activation_2` and so on.

    Raises:
        ValueError: If the architecture is unknown or does not accept inputs of this
            shape.
    """
    check_inputs(protocol, input_shape)
    kernels, *others = seeds
    numbered = zip(itertools.count(1), others)

    def activation() -> keras.layers.Layer:
        place, seed = next(numbered)
        return protocol.variant.build(seed, name=f"activation_{place}")

    hidden, name = protocol.hidden, protocol.architecture.name
    arguments = {
        "output_activation": output_activation,
        "seed": kernels,
        **protocol.architecture.arguments,
    }
    if name == "mlp":
        return mlp(input_shape[0], hidden, outputs, activation, **arguments)
    if name == "cnet":
        return cnet(input_shape, hidden, outputs, activation, **arguments)
    return nin(input_shape, hidden, outputs, **arguments)


def compile_network(
    network: keras.Model, protocol: Protocol, learning_rate: float | None = None
) -> None:
    """Compile a network with the optimizer of its protocol and the loss of its task.

    Args:
        network: The network, whose outputs are logits if the task is a classification.
        protocol: The protocol.
        learning_rate: Learning rate; `None` for that of the optimizer.
    """
    optimizer = protocol.optimizer.build(network)
    if learning_rate is not None:
        optimizer.learning_rate = learning_rate
    network.compile(optimizer, loss_of(protocol.task == "classification"))


def check_inputs(protocol: Protocol, input_shape: Sequence[int]) -> None:
    """Raise a `ValueError` unless a protocol's network accepts inputs of a shape.

    Args:
        protocol: The protocol.
        input_shape: Shape of one row of the inputs.
    """
    name = protocol.architecture.name
    if name == "mlp" and len(input_shape) != 1:
        raise ValueError(
            "A fully connected network takes a table with one row of numbers per "
            f"sample. Received: inputs of shape {(None, *input_shape)}"
        )
    if name != "mlp" and len(input_shape) != 3:
        raise ValueError(
            "A convolutional network takes images of shape (height, width, channels). "
            f"Received: inputs of shape {(None, *input_shape)}"
        )

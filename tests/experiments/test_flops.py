import keras
import pytest

from keras_vaf import layers
from keras_vaf.experiments.runs.flops import count_flops


def network(activation):
    return keras.Sequential(
        [keras.Input((13,)), keras.layers.Dense(20), activation, keras.layers.Dense(3)]
    )


DENSE = 2 * (13 * 20 + 20 * 3)


@pytest.mark.parametrize(
    ("activation", "an_element"),
    [
        (keras.layers.ReLU, 1),
        # relu(a) + -alpha relu(-a), where -alpha is one a unit
        (keras.layers.PReLU, 6),
        # alpha x, + alpha_bias, g, beta g, and the sum, for each hidden unit
        (lambda: layers.VAFActivation(k=3), 5 * 3),
        (lambda: layers.VAFActivation(k=7, sharing="neuron"), 5 * 7),
        # alpha tanh(beta a)
        (layers.AdaptiveTanh, 3),
        # relu(a), and for each of the hinges b - a, relu, w relu, the sum
        (lambda: layers.APL(S=2), 1 + 4 * 2),
    ],
)
def test_every_operation_of_an_equation_counts_for_each_unit(activation, an_element):
    assert count_flops(network(activation())) == DENSE + 20 * an_element


def test_a_convolution_counts_each_place():
    model = keras.Sequential(
        [
            keras.Input((8, 8, 3)),
            keras.layers.Conv2D(5, 3),
            layers.VAFActivation(k=1),
            keras.layers.Flatten(),
            keras.layers.Dense(2),
        ]
    )

    assert count_flops(model) == (
        2 * 36 * (3 * 3 * 3 * 5) + 36 * 5 * 5 + 2 * (36 * 5 * 2)
    )


def test_layers_inside_a_layer_count():
    model = keras.Sequential([keras.Input((8, 8, 3)), layers.MLPConv((5, 4), 3)])

    kernels = 2 * (3 * 3 * 3 * 5) + 2 * 5 * 4
    assert count_flops(model) == 36 * (kernels + 5 + 4)

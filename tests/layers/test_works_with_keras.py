"""The rows of docs/frameworks.md that no other test file holds."""

import os
import re
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest
from keras import layers

from keras_vaf.layers import VAFActivation

# Keras warns of every layer that has nothing to quantize.
pytestmark = pytest.mark.filterwarnings("ignore:.*quantiz:UserWarning")

ROOT = Path(__file__).parents[2]
X = np.random.default_rng(0).normal(size=(64, 16)).astype("float32")


def network(first, second):
    keras.utils.set_random_seed(0)
    return keras.Sequential(
        [
            *(keras.Input((16,)), layers.Dense(32), first),
            *(layers.Dense(32, activation=second), layers.Dense(8)),
        ]
    )


LATE = [("int4", 0.3), ("float8", 0.2)]
LATE = [pytest.param(*each, marks=pytest.mark.nightly("tensorflow")) for each in LATE]


@pytest.mark.parametrize("mode, limit", [("int8", 0.05), *LATE])
def test_a_quantized_model(mode, limit, tmp_path):
    model = network(VAFActivation(g="gelu"), VAFActivation())
    expected = model.predict(X, verbose=0)
    model.quantize(mode)
    y = model.predict(X, verbose=0)
    assert 0 < np.abs(y - expected).max() < limit * np.abs(expected).max()
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(again.predict(X, verbose=0), y, 1e-5, 1e-5)


class Block(layers.Layer):
    """A feed-forward block."""

    def __init__(self, activation):
        super().__init__()
        self.first, self.activation = layers.Dense(32), activation
        self.last = layers.Dense(16)

    def build(self, input_shape):
        self.first.build(input_shape)
        self.last.build((*input_shape[:-1], 32))

    def call(self, inputs):
        return inputs + self.last(self.activation(self.first(inputs)))


@pytest.mark.xfail(
    keras.__version__.startswith("3.12."), reason="Keras 3.14 is the first with both."
)
@pytest.mark.nightly("jax")  # which compiles each block
@pytest.mark.parametrize("mode", ["gptq", "awq"])
@pytest.mark.backend("jax", "torch")
def test_a_transformer_quantized_with_data(mode):
    tokens = np.random.default_rng(0).integers(0, 50, (32, 8))

    def quantized(activation):
        keras.utils.set_random_seed(0)
        embedding = layers.Embedding(50, 16)
        blocks = [Block(activation()), Block(activation())]
        stack = [keras.Input((8,), dtype="int32"), embedding, *blocks, layers.Dense(5)]
        model = keras.Sequential(stack)
        kind = {"gptq": "GPTQConfig", "awq": "AWQConfig"}[mode]
        config = getattr(keras.quantizers, kind)(
            dataset=list(tokens),
            tokenizer=np.asarray,
            num_samples=16,
            sequence_length=8,
            group_size=8,
            quantization_layer_structure={
                "pre_block_layers": [embedding],
                "sequential_blocks": blocks,
            },
        )
        model.quantize(mode, config=config)
        assert blocks[0].first.dtype_policy.name.startswith(mode)
        return model.predict(tokens, verbose=0)

    expected = quantized(lambda: layers.Activation("gelu"))
    y = quantized(lambda: VAFActivation(g="gelu"))
    np.testing.assert_allclose(y, expected, 1e-3, 1e-3)


def run(program, **environment):
    """Run a program in a new process, which prints its largest difference."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env={**os.environ, "KERAS_BACKEND": keras.backend.backend(), **environment},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return float(done.stdout.split()[-1])


TRAIN = """
import keras, numpy as np
from keras import layers
from keras_vaf.layers import VAFActivation
x = np.random.default_rng(0).normal(size=(8, 4)).astype("float32")

def train(inputs=x):
    keras.utils.set_random_seed(0)
    vaf = VAFActivation(sharing="channel", g="silu", name="vaf")
    dense, last = layers.Dense(4, name="dense"), layers.Dense(2, name="last")
    model = keras.Sequential([keras.Input((4,)), dense, vaf, last])
    model.compile(keras.optimizers.SGD(0.1), "mse")
    model.fit(inputs, inputs[:, :2], batch_size=8, epochs=3, shuffle=False, verbose=0)
    return model

def difference(a, b):
    pairs = zip(a.get_weights(), b.get_weights(), strict=True)
    return max(np.abs(p - q).max() for p, q in pairs)
"""

DISTRIBUTED = """
from keras import distribution
alone, devices = train(), distribution.list_devices()
distribution.set_distribution(distribution.DataParallel(devices=devices[:2]))
shared = train()
assert len(shared.get_layer("vaf").alpha.value.sharding.device_set) == 2
found = difference(alone, shared)
mesh = distribution.DeviceMesh((2, 2), ["batch", "model"], devices)
layout = distribution.LayoutMap(mesh)
layout[".*dense.*kernel"] = (None, "model")
layout[".*vaf/(alpha|beta)$"] = ("model", None)
layout[".*vaf/alpha_bias$"] = ("model", None)
layout[".*vaf/beta_bias$"] = ("model",)
distribution.set_distribution(
    distribution.ModelParallel(layout_map=layout, batch_dim_name="batch")
)
shared = train()
assert len(shared.get_layer("vaf").alpha.value.sharding.device_set) == 4
print(max(found, difference(alone, shared)))
"""


@pytest.mark.backend("jax")
def test_two_and_four_devices_train_as_one():
    flags = "--xla_force_host_platform_device_count=4"
    assert run(TRAIN + DISTRIBUTED, XLA_FLAGS=flags) < 1e-5


MIRRORED = """
import tensorflow as tf
(processor,) = tf.config.list_physical_devices("CPU")
two = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(processor, two)
alone = train()
with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
    shared = train()
print(difference(alone, shared))
"""


@pytest.mark.nightly  # a new process
@pytest.mark.backend("tensorflow")
def test_two_replicas_train_as_one():
    assert run(TRAIN + MIRRORED, CUDA_VISIBLE_DEVICES="") < 1e-5


NNX = """
import keras, numpy as np
from flax import nnx
from keras_vaf.layers import VAFActivation
vaf = VAFActivation(sharing="channel")
dense, last = keras.layers.Dense(4), keras.layers.Dense(1)
model = keras.Sequential([keras.Input((4,)), dense, vaf, last])
same = nnx.merge(*nnx.split(model))
x = np.random.default_rng(0).normal(size=(8, 4)).astype("float32")
difference = np.abs(np.asarray(same(x)) - np.asarray(model(x))).max()
model.compile("sgd", "mse")
before = vaf.get_weights()
model.fit(x, x[:, :1], verbose=0)
assert any(np.any(a != b) for a, b in zip(before, vaf.get_weights()))
print(difference)
"""


@pytest.mark.backend("jax")
@pytest.mark.needs("flax")
def test_nnx():
    assert run(NNX, KERAS_NNX_ENABLED="1") == 0


def test_every_row_of_the_page_has_a_test():
    page = (ROOT / "docs/frameworks.md").read_text("utf-8")
    named = re.findall(r"`(test_\w+)` \|$", page, re.MULTILINE)
    code = "".join(path.read_text("utf-8") for path in ROOT.glob("tests/*/test_*.py"))
    assert len(named) == page.count("\n| ") - 2
    assert {*named} <= set(re.findall(r"^def (test_\w+)\(", code, re.MULTILINE))

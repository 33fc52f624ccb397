"""A trained model leaves through Keras's own export and predicts the same elsewhere."""

import importlib.metadata
from collections import Counter

import keras
import numpy as np
import pytest

from keras_vaf.layers import VAFActivation
from keras_vaf.models import freeze, mlp, to_relu

# The libraries that Keras exports with warn of what they use themselves.
pytestmark = pytest.mark.filterwarnings("ignore")

ONNX_OPERATORS = {
    *("Add", "Cast", "Concat", "Constant", "Conv", "Gather", "MatMul", "Mul"),
    *("Relu", "Reshape", "Shape", "Slice", "Split", "Squeeze", "Tanh", "Transpose"),
    *("Unsqueeze",),
}


def release(package):
    """Return the first two numbers of an installed version."""
    return tuple(map(int, importlib.metadata.version(package).split(".")[:2]))


LITERT = pytest.mark.xfail(
    release("keras") < (3, 13), raises=ValueError, reason="Keras 3.12 has no LiteRT."
)


@pytest.fixture
def old_tensorflow(request):
    """Expect the error of TensorFlow 2.19, as docs/simplify.md does."""
    if keras.backend.backend() == "jax" and release("tensorflow") < (2, 20):
        reason = "TensorFlow 2.19 reads no program of JAX 0.8 and newer."
        error = NotImplementedError
        request.applymarker(pytest.mark.xfail(raises=error, reason=reason))


@pytest.fixture(scope="module")
def x():
    return np.random.default_rng(0).normal(size=(7, 8, 8, 2)).astype("float32")


KINDS = ("relu", "tanh", "frozen")
LATE = [pytest.param(kind, marks=pytest.mark.nightly) for kind in KINDS[1:]]


# Each format is written once before each change, and for all kinds every night.
@pytest.fixture(scope="module", params=[KINDS[0], *LATE])
def model(request, x):
    return make(request.param, x)


def make(kind, x):
    """A trained network with a VAF of each sharing, or frozen into plain operators."""
    keras.utils.set_random_seed(0)
    settings = {"g": "tanh" if kind == "tanh" else "relu", "initialization": "random"}
    layers = [
        *(keras.layers.Conv2D(3, 3), VAFActivation(sharing="channel", **settings)),
        *(keras.layers.Conv2D(3, 3), VAFActivation(sharing="neuron", **settings)),
        keras.layers.Flatten(),
        keras.layers.Dense(4, activation=VAFActivation(**settings)),
        keras.layers.Dense(1),
    ]
    model = keras.Sequential([keras.Input(x.shape[1:]), *layers])
    model.compile("adam", "mse")
    model.fit(x, x.sum((1, 2, 3)), epochs=2, verbose=0)
    return freeze(model) if kind == "frozen" else model


def assert_same(predictions, model, x):
    expected = model.predict(x, verbose=0)
    assert np.ptp(expected) > 0.01
    np.testing.assert_allclose(predictions, expected, rtol=0, atol=1e-5)


def of_one_shape(x):
    """Return the signature of a fixed batch."""
    return [keras.InputSpec(shape=x.shape, dtype="float32", name="x")]


@pytest.mark.usefixtures("old_tensorflow")
@pytest.mark.backend("tensorflow", "jax")
@pytest.mark.parametrize("fixed", [False, True])
def test_saved_model(model, x, tmp_path, request, fixed):
    import tensorflow as tf

    if not fixed and keras.backend.backend() == "jax" and release("jax") >= (0, 11):
        # docs/simplify.md says so. If this passes with another TensorFlow, change both.
        error = tf.errors.InvalidArgumentError
        reason = "TensorFlow 2.21 cannot read an open batch of JAX 0.11 and newer."
        request.applymarker(pytest.mark.xfail(raises=error, reason=reason))
    options = {"input_signature": of_one_shape(x)} if fixed else {}
    model.export(tmp_path, verbose=False, **options)
    exported = tf.saved_model.load(tmp_path)
    for batch in (x,) if fixed else (x, x[:3]):
        assert_same(exported.serve(batch).numpy(), model, batch)


@pytest.mark.usefixtures("old_tensorflow")
def test_onnx(model, x, tmp_path):
    import onnx
    import onnxruntime

    path = tmp_path / "model.onnx"
    model.export(path, format="onnx", verbose=False)
    nodes = onnx.load(path).graph.node
    assert {node.domain for node in nodes} <= {"", "ai.onnx"}
    assert {node.op_type for node in nodes} <= ONNX_OPERATORS
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (entry,) = session.get_inputs()
    for batch in (x, x[:3]):
        assert_same(session.run(None, {entry.name: batch})[0], model, batch)
    if keras.backend.backend() == "torch":  # whose newer exporter takes a fixed batch
        model.export(
            path, format="onnx", verbose=False, input_signature=of_one_shape(x)
        )
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        assert_same(session.run(None, {"x": x})[0], model, x)


@pytest.mark.backend("tensorflow")
def test_onnx_of_a_frozen_convolution_transposes_once(tmp_path):
    """With a scalar offset, an optimization of tf2onnx fails."""
    import onnx

    vaf = VAFActivation()
    vaf.beta_bias.assign(0.25)
    stack = [keras.Input((8, 8, 3)), keras.layers.Conv2D(4, 3, use_bias=False), vaf]
    model = keras.Sequential([*stack, keras.layers.GlobalAveragePooling2D()])
    path = tmp_path / "model.onnx"
    freeze(model).export(path, format="onnx", verbose=False)
    kinds = [node.op_type for node in onnx.load(path).graph.node]
    assert kinds.count("Transpose") == 1


@pytest.mark.backend("torch")
def test_an_exported_program(model, x, tmp_path):
    import torch

    path, rows = tmp_path / "model.pt2", torch.tensor(x)
    torch.export.save(torch.export.export(model.eval(), (rows,)), path)
    program = torch.export.load(path).module()
    assert_same(program(rows).detach().numpy(), model, x)


@pytest.mark.backend("torch", "tensorflow")
@pytest.mark.needs("openvino")
def test_openvino(model, x, tmp_path):
    import openvino

    path = str(tmp_path / "model.xml")
    model.export(path, format="openvino", verbose=False)
    exact = {"INFERENCE_PRECISION_HINT": "f32"}  # bfloat16 on some processors
    compiled = openvino.compile_model(path, "CPU", exact)
    assert_same(compiled(x)[0], model, x)


def run_litert(path, x):
    """Return what LiteRT's interpreter makes of a batch, and the operators it ran."""
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(str(path))
    (entry,) = interpreter.get_input_details()
    (result,) = interpreter.get_output_details()
    interpreter.resize_tensor_input(entry["index"], x.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(entry["index"], x)
    interpreter.invoke()
    operators = Counter(each["op_name"] for each in interpreter._get_ops_details())
    del operators["DELEGATE"]  # which runs some of the others
    return interpreter.get_tensor(result["index"]).copy(), operators


@LITERT
@pytest.mark.backend("tensorflow")
def test_litert(model, x, tmp_path):
    path = tmp_path / "model.tflite"
    model.export(path, format="litert", verbose=False)
    predictions, operators = run_litert(path, x)
    assert_same(predictions, model, x)
    assert not any(operator.startswith(("Flex", "CUSTOM")) for operator in operators)


@pytest.mark.backend("torch")
@pytest.mark.needs("litert_torch")
def test_litert_of_pytorch(model, x):
    import litert_torch
    import torch

    written = litert_torch.convert(model.eval(), (torch.tensor(x),))
    assert_same(written(x), model, x)


def export_in_8_bits(model, x, path):
    """Export with weights and activations of 8 bits, for the ranges of some inputs."""
    import tensorflow as tf

    model.export(
        path,
        format="litert",
        verbose=False,
        optimizations=[tf.lite.Optimize.DEFAULT],
        representative_dataset=lambda: ([row[None]] for row in x),
        target_spec={"supported_ops": [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]},
    )


@LITERT
@pytest.mark.backend("tensorflow")
def test_litert_in_8_bits(model, x, tmp_path):
    """The predictions remain alike, not equal."""
    path = tmp_path / "model.tflite"
    export_in_8_bits(model, x, path)
    predictions, _ = run_litert(path, x)
    expected = model.predict(x, verbose=0)
    assert np.corrcoef(predictions.ravel(), expected.ravel())[0, 1] > 0.95


@LITERT
@pytest.mark.nightly
@pytest.mark.backend("tensorflow")
def test_relu_alone_in_litert(tmp_path):
    """Widened, a dense network has no operators for activations, in 8 bits, too."""
    x = np.random.default_rng(0).uniform(-2, 2, (2000, 2)).astype("float32")
    y = np.digitize(np.linalg.norm(x, axis=1), [0.9, 1.7])  # three rings
    model = mlp(2, (8, 8), 3, lambda: keras.layers.Activation("silu"))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.01), loss)
    model.fit(x, y, batch_size=64, epochs=8, verbose=0)
    right = (model.predict(x, verbose=0).argmax(1) == y).mean()
    assert right > 0.95
    path, dense = tmp_path / "model.tflite", {"FULLY_CONNECTED": 3}
    for widen, more in ((False, {"MUL": 20, "ADD": 18}), (True, {})):
        made = to_relu(model, k=5, data=x[:256], widen=widen)
        made.export(path, format="litert", verbose=False)
        predictions, operators = run_litert(path, x)
        assert_same(predictions, made, x)
        assert operators == dense | more
        export_in_8_bits(made, x[:256], path)
        predictions, operators = run_litert(path, x)
        assert operators == dense | more | {"QUANTIZE": 1, "DEQUANTIZE": 1}
        assert abs((predictions.argmax(1) == y).mean() - right) < 0.02

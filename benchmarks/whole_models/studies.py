"""Studies of whole models: converted, trained on, and frozen (see `__main__.py`)."""

import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np

from keras_vaf.datasets import load
from keras_vaf.layers import VAFActivation
from keras_vaf.models import convert, freeze, report

TEN = (
    "DenseNet121",
    "EfficientNetB0",
    "InceptionV3",
    "MobileNet",
    "MobileNetV2",
    "MobileNetV3Small",
    "ResNet50",
    "ResNet50V2",
    "VGG16",
    "Xception",
)
SHAPE, CLASSES, BATCH = (96, 96, 3), 10, 8
SEEDS, EPOCHS, EXTRA, TRAINED_ON = 5, 5, 3, 12_000


def applications(names: list[str], steps: bool) -> list[dict[str, Any]]:
    """Convert networks of keras.applications with random weights."""
    results = []
    for name in names:
        keras.utils.clear_session()
        keras.utils.set_random_seed(0)
        results.append(_application(name, steps))
        print(results[-1], flush=True)
    return results


def _application(name: str, steps: bool) -> dict[str, Any]:
    make = getattr(keras.applications, name)
    shape = (331, 331, 3) if name == "NASNetLarge" else SHAPE
    model = make(weights=None, input_shape=shape, classes=CLASSES)

    def clone() -> None:
        keras.models.clone_model(model).set_weights(model.get_weights())

    clone_seconds = _median_seconds(clone)
    convert_seconds = _median_seconds(lambda: convert(model))
    same = convert(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the error is in the report
        relu = convert(model, g="relu")
    x = np.random.default_rng(0).normal(size=(2, *shape)).astype("float32")
    (expected, with_relu, with_same) = (_outputs(m, x) for m in (model, relu, same))
    largest = np.abs(expected).max()
    result = {
        "name": name,
        "replaced": len(report(same).replaced),
        "kept": [str(kept) for kept in report(same).kept],
        "added": report(same).parameters,
        "parameters": model.count_params(),
        "deviation_same": float(np.abs(with_same - expected).max() / largest),
        "deviation_relu": float(np.abs(with_relu - expected).max() / largest),
        "error_relu": report(relu).error,
        "clone_seconds": clone_seconds,
        "convert_seconds": convert_seconds,
    }
    if steps:
        result["step_before"] = _step_seconds(model, shape)
        result["step_after"] = _step_seconds(same, shape)
    return result


def _step_seconds(model: keras.Model, shape: tuple[int, ...]) -> float:
    model.compile(keras.optimizers.SGD(1e-3), "sparse_categorical_crossentropy")
    random = np.random.default_rng(0)
    x = random.normal(size=(BATCH, *shape)).astype("float32")
    y = random.integers(0, CLASSES, BATCH)
    model.train_on_batch(x, y)
    return _median_seconds(lambda: float(model.train_on_batch(x, y)), times=5)


def _median_seconds(work: Callable[[], Any], times: int = 3) -> float:
    seconds = []
    work()
    for _ in range(times):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def _outputs(model: keras.Model, x: np.ndarray) -> np.ndarray:
    return keras.ops.convert_to_numpy(model(x, training=False)).astype("float64")


def _small_network(seed: int = 0) -> keras.Sequential:
    keras.utils.set_random_seed(seed)
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Conv2D(16, 3, activation="relu", padding="same"),
            layers.MaxPooling2D(),
            layers.Conv2D(32, 3, activation="relu", padding="same"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(64, activation="relu"),
            layers.Dense(10),
        ]
    )


def frozen() -> list[dict[str, Any]]:
    """Export a ReLU network, the same with VAFs, and that frozen; TensorFlow."""
    relu = _small_network()
    vaf = convert(relu)
    random = np.random.default_rng(0)
    for layer in vaf.layers:
        if isinstance(layer, VAFActivation):  # as if it had been trained
            layer.set_weights(
                [w + random.normal(0, 0.1, w.shape) for w in layer.get_weights()]
            )
    x = random.normal(size=(64, 28, 28, 1)).astype("float32")
    models = {"ReLU": relu, "VAF": vaf, "VAF, frozen": freeze(vaf, x)}
    for model in models.values():
        model(x)  # Keras exports none that was never called
    return [
        {"model": name, "format": kind, **measure(model, x)}
        for kind, measure in (
            ("ONNX", _onnx),
            ("LiteRT", _litert),
            ("LiteRT int8", lambda model, x: _litert(model, x, int8=True)),
        )
        for name, model in models.items()
    ]


def _onnx(model: keras.Model, x: np.ndarray) -> dict[str, Any]:
    import onnx
    import onnxruntime

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        model.export(path, format="onnx", verbose=False)
        operators = len(onnx.load(path).graph.node)
        session = onnxruntime.InferenceSession(path)
        size = path.stat().st_size
    (entry,) = session.get_inputs()

    def run(rows: np.ndarray) -> np.ndarray:
        return session.run(None, {entry.name: rows})[0]

    return _file_figures(model, x, run, size, operators)


def _litert(model: keras.Model, x: np.ndarray, int8: bool = False) -> dict[str, Any]:
    import tensorflow as tf
    from ai_edge_litert.interpreter import Interpreter

    options: dict[str, Any] = {}
    if int8:
        options = {
            "optimizations": [tf.lite.Optimize.DEFAULT],
            "representative_dataset": lambda: ([row[None]] for row in x),
            "target_spec": {"supported_ops": [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]},
        }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.tflite"
        model.export(path, format="litert", verbose=False, **options)
        interpreter = Interpreter(str(path))
        size = path.stat().st_size
    interpreter.allocate_tensors()
    entry, result = (
        details()[0]["index"]
        for details in (interpreter.get_input_details, interpreter.get_output_details)
    )

    def run(rows: np.ndarray) -> np.ndarray:
        outputs = []
        for row in rows:
            interpreter.set_tensor(entry, row[None])
            interpreter.invoke()
            outputs.append(interpreter.get_tensor(result)[0])
        return np.stack(outputs)

    operators = len(interpreter._get_ops_details())
    return _file_figures(model, x, run, size, operators)


def _file_figures(
    model: keras.Model, x: np.ndarray, run: Any, size: int, operators: int
) -> dict[str, Any]:
    deviation = np.abs(run(x) - _outputs(model, x)).max()
    return {
        "bytes": size,
        "operators": operators,
        "milliseconds": 1000 * _median_seconds(lambda: run(x[:1]), times=200),
        "deviation": float(deviation),
    }


def finetune() -> list[dict[str, Any]]:
    """Train a ReLU network, then train on as it is, or converted."""
    data = load("fashion_mnist")
    published = len(data.y) - 10_000  # the rows after it are the published test set
    train = np.random.default_rng(0).permutation(published)[:TRAINED_ON]
    test = np.arange(published, len(data.y))
    results = []
    for seed in range(SEEDS):
        model = _small_network(seed)
        _fit(model, data, train, seed, EPOCHS)
        start = _accuracy(model, data, test)
        arms = {"ReLU": keras.models.clone_model(model), "VAF": convert(model)}
        arms["ReLU"].set_weights(model.get_weights())
        scores = {}
        for name, arm in arms.items():
            _fit(arm, data, train, seed + 1000, EXTRA)
            scores[name] = _accuracy(arm, data, test)
        results.append({"seed": seed, "before": start, **scores})
        print(results[-1], flush=True)
    return results


def _fit(model: keras.Model, data: Any, rows: Any, seed: int, epochs: int) -> None:
    keras.utils.set_random_seed(seed)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(1e-3), loss)
    x = data.x[rows].reshape(-1, 28, 28, 1).astype("float32") / 255
    model.fit(x, data.y[rows], batch_size=64, epochs=epochs, verbose=0)


def _accuracy(model: keras.Model, data: Any, rows: Any) -> float:
    x = data.x[rows].reshape(-1, 28, 28, 1).astype("float32") / 255
    predicted = model.predict(x, batch_size=500, verbose=0).argmax(axis=1)
    return float(np.mean(predicted == data.y[rows]))

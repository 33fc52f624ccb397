"""`compile_arguments` and `score_of`, which read how a user's model was compiled."""

import inspect
import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import keras
import numpy as np

from keras_vaf.training.data import make_variables, take
from keras_vaf.training.history import metrics_of
from keras_vaf.utils import check_choice, require

# A class that defines these trains in another way than a copy of another class.
_OWN_TRAINING = ("train_step", "test_step", "compute_loss", "compute_metrics", "fit")
_ROWS_AT_ONCE = 256  # of a test


def compile_arguments(model: keras.Model) -> dict[str, Any]:
    """Return the arguments of `compile` of a model that has seen data, for a copy.

    Loss, metrics and optimizer are the objects of the model itself. A new one, made of
    a configuration, would lack what no configuration holds: plain functions, or the
    weights that an optimizer leaves out of its weight decay. The model must not be
    trained afterwards, because an optimizer serves one model.

    Raises:
        ValueError: If the loss or a metric is an object without a configuration.
    """
    try:
        kept = model.get_compile_config()
    except TypeError as error:
        raise ValueError(
            "The loss and the metrics of a model must be names, functions, or objects "
            f"of Keras's classes. Received: {error}"
        ) from error
    own = (each for each in model.metrics if each.name == "compile_metrics")
    made = (metric for each in own for metric in getattr(each, "metrics", ()))
    outputs = getattr(model, "output_names", [])
    for name in ("metrics", "weighted_metrics"):
        kept[name] = _with_objects(kept[name], iter(made), outputs)
    return kept | {"optimizer": model.optimizer, "loss": getattr(model, "loss", None)}


def _with_objects(given: Any, made: Iterator[Any], outputs: Sequence[str] = ()) -> Any:
    """Return metrics in the form of their configurations, output by output."""
    match given:
        case None:
            return None
        case list() | tuple():
            return [_with_objects(each, made) for each in given]
        case dict() if "class_name" not in given:
            names = [name for name in outputs or given if name in given]
            return {name: _with_objects(given[name], made) for name in names}
    return next(made)


def direction_of(model: keras.Model, name: str) -> str:
    """Return `"max"` or `"min"` for a metric of a model that has seen data, or `""`.

    `keras.callbacks.EarlyStopping` knows whether higher values are better.
    """
    if name == "loss":
        return "min"
    callback = keras.callbacks.EarlyStopping(watched := f"val_{name}", patience=9)
    callback.set_model(model)
    callback.on_train_begin()
    try:
        for epoch, value in enumerate((1.0, 2.0)):
            callback.on_epoch_end(epoch, {watched: value})
    except ValueError:  # Keras does not know
        return ""
    return "max" if callback.best == 2 else "min"


def check_model(model: Any, data: Any) -> None:
    """Raise a `ValueError` for a model that no arm could repeat, or not with the data.

    The model sees one row, with which Keras makes the objects of its metrics.
    """
    if not isinstance(model, keras.Model) or not model.compiled:
        raise ValueError(
            "`model` must be a compiled Keras model, the path of one, or a function "
            f"that returns one. Received: {model!r}, not compiled"
        )
    own = type(model)
    for name in _OWN_TRAINING:
        if getattr(own, name) is not getattr(keras.Model, name):
            raise ValueError(
                f"{own.__name__} defines `{name}`, which a copy with other activations "
                "would not have: express it as a loss, or train both models in a loop "
                f"of your own. Received: a model of class {own.__name__}"
            )
    try:
        make_variables(model, take(data, slice(1)))
    except Exception as error:  # Keras, losses and metrics raise errors of any class
        raise ValueError(
            "The model, its loss or a metric cannot use the data: "
            f"{' '.join(str(error).split()):.300}"
        ) from error


def rate_of(model: keras.Model) -> float:
    """Return the learning rate of a model, which must be a number."""
    settings = model.optimizer.get_config()
    if "inner_optimizer" in settings:  # that scales the loss
        settings = settings["inner_optimizer"]["config"]
    if not isinstance(rate := settings["learning_rate"], int | float):
        raise ValueError(
            "Each activation has its own learning rates, so the optimizer of "
            f"`model` must have a number, not a schedule. Received: {rate!r:.200}"
        )
    return float(rate)


def score_of(model: keras.Model, metric: str | None, mode: str | None) -> str:
    """Return the score: the chosen metric, or the first one with a direction."""
    known = {name: direction_of(model, name) for name in metrics_of(model)}
    names = [f"val_{name}" for name in known]
    if metric is not None:
        name = check_choice("metric", metric, names).removeprefix("val_")
        if (mode := mode or known[name]) not in ("max", "min"):
            raise ValueError(
                f"Keras does not know whether higher values of {metric} are better: "
                f"give `mode`, 'max' or 'min'. Received: mode={mode!r}"
            )
    elif len(getattr(model, "outputs", ())) > 1:
        raise ValueError(
            "A model with several outputs needs the metric that decides: `metric`, "
            f"one of {', '.join(names)}. Received: metric=None"
        )
    else:
        others = (each for each in known if known[each] and each != "loss")
        mode = known[name := next(others, "loss")]
    return f"{'maximize' if mode == 'max' else 'minimize'} {name}"


def evaluated(model: keras.Model, data: Any, rows: np.ndarray) -> dict[str, float]:
    """Return loss and metrics of some rows, with their weights if there are any."""
    x, y, *weights = take(data, rows)
    words = {"sample_weight": weights[0]} if weights else {}
    found = model.evaluate(x, y, _ROWS_AT_ONCE, 0, return_dict=True, **words)
    return {name: float(value) for name, value in found.items()}


def builder_of(model: Any, data: Any) -> Callable[..., keras.Model]:
    """Return a function that returns a new model, or a copy of a given one."""
    if hasattr(model, "state_dict") and not isinstance(model, keras.Model):
        raise ValueError(
            "A module of PyTorch has no compiled loss: train the module and the result "
            "of `keras_vaf.convert` in a loop of your own. Received: "
            f"{type(model).__name__}"
        )
    if not isinstance(model, keras.Model) and callable(model):
        return model
    check_model(model, data)
    arguments = compile_arguments(model)
    kind, settings = type(model.optimizer), model.optimizer.get_config()

    def copy() -> keras.Model:
        made = keras.models.clone_model(model)
        made.set_weights(model.get_weights())
        made.compile(**arguments | {"optimizer": kind.from_config(settings)})
        return made

    return copy


def takes_values(build: Any) -> bool:
    """Return whether a function needs an argument, the drawn values of a search."""
    if isinstance(build, keras.Model) or not callable(build):
        return False
    parameters = inspect.signature(build).parameters.values()
    return any(each.default is each.empty for each in parameters)


def built(
    build: Callable[..., Any], data: Any, seed: int, values: Any = None
) -> keras.Model:
    """Return a new compiled model that has seen a row, whose start is the seed's."""
    keras.utils.set_random_seed(seed)
    drawn = []
    if takes_values(build):
        drawn = [require("keras_tuner", extra="tune").HyperParameters()]
        drawn[0].values = dict(values or {})
    model = build(*drawn)
    check_model(model, data)
    return model


def text_of(model: keras.Model) -> str:
    """Return architecture and compile arguments, without the numbers of names."""
    text = json.dumps([json.loads(model.to_json()), model.get_compile_config()])
    names = dict.fromkeys(re.findall(r'"name": ("[^"]*")', text))
    for place, name in enumerate(names):
        text = re.sub(re.escape(name) + "(?!:)", f'"{place}"', text)  # no key
    return text

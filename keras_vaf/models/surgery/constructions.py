"""`Constructions`, which describes layers whose own configuration is not enough.

Without it, three of eight models of keras-hub (Llama, T5 and Whisper) cannot be frozen.
"""

import contextlib
import copy
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import keras

from keras_vaf.layers.keras_internals import inner_layers
from keras_vaf.models.analysis.graphs import is_graph, is_subclassed
from keras_vaf.models.analysis.held import walk
from keras_vaf.models.surgery.copies import Remake

_PLAIN = (str, int, float, bool, type(None))
# Keras raises these for arguments that cannot be serialised, such as classes.
_NOT_WRITTEN = (AttributeError, TypeError, ValueError)


class Constructions(Remake):
    """Makes layers again that only their subclassed model can create.

    In many third-party layers `get_config` is missing, incomplete or wrong, because
    only their model creates them. Therefore this class rebuilds the model from its own
    configuration, which is complete, and records the arguments of its layers.

    Args:
        model: A Sequential or Functional model.
        edit: Function that changes the configurations of all layers.
    """

    def __init__(self, model: keras.Model, edit: Callable[[Any], Any]) -> None:
        self._models, self._edit = _subclassed_models(model), edit
        self._recorded: set[int] = set()  # layers whose own configuration is not enough

    def describe(self, layer: Any) -> dict[str, Any]:
        """Return a configuration from which a layer can be made.

        Raises:
            Exception: The error of the layer, if its own configuration is not enough
                and no other is known.
        """
        try:
            config = layer.get_config()
            if self._models:
                type(layer).from_config(copy.deepcopy(config))
        except Exception:  # third-party layers may raise any error
            if id(layer) not in self._made_with:
                raise
            self._recorded.add(id(layer))
            config = copy.deepcopy(self._made_with[id(layer)])
        return config

    def make(self, layer: Any, config: dict[str, Any]) -> Any:
        """Return a new layer that is saved with the configuration that created it."""
        config = self._edit(config)
        described = copy.deepcopy(config)
        new = super().make(layer, config)
        if id(layer) in self._recorded:
            new.get_config = functools.partial(copy.deepcopy, described)
        if self._models and _builds_by_its_first_call(layer):
            new.get_build_config = dict
        return new

    @functools.cached_property
    def _made_with(self) -> dict[int, dict[str, Any]]:
        """Configurations of the layers of all subclassed models, by the layer's id."""
        found = (_constructions(model) for model in self._models)
        return {key: config for each in found for key, config in each.items()}


def _subclassed_models(model: keras.Model) -> list[keras.Model]:
    """Return the outermost subclassed models in a Sequential or Functional model."""
    if is_subclassed(model):
        return [model]
    inside = (part for part in model.layers if is_graph(part))
    return [found for part in inside for found in _subclassed_models(part)]


def _builds_by_its_first_call(layer: Any) -> bool:
    """Return whether inner layers are built only when the layer is called.

    When Keras loads such a layer, it treats the layer as built, and the weights of the
    inner layers cannot be loaded.
    """
    if not isinstance(layer, keras.layers.Layer) or isinstance(layer, keras.Model):
        return False
    return type(layer).build is keras.layers.Layer.build and bool(inner_layers(layer))


def _constructions(model: keras.Model) -> dict[int, dict[str, Any]]:
    """Return the configurations of the layers of a model, by the id of the layer."""
    found: dict[int, dict[str, Any]] = {}
    try:
        with _arguments() as made:
            twin = type(model).from_config(model.get_config())
        for (_, layer, *_), (_, other, *_) in zip(walk(model), walk(twin), strict=True):
            config = (
                _described(layer, made[id(other)][1]) if id(other) in made else None
            )
            if config is not None:
                found[id(layer)] = config
    except Exception:  # third-party classes may raise any error
        return {}
    return found


def _described(layer: keras.layers.Layer, given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a layer in a form that can be saved."""
    config = {}
    known = inspect.signature(type(layer).__init__).parameters.values()
    for each in known:
        if each.default is not each.empty and each.name not in given:
            with contextlib.suppress(*_NOT_WRITTEN):
                config[each.name] = _plain(each.default)
    config |= {key: keras.tree.map_structure(_plain, v) for key, v in given.items()}
    if any(each.name == "name" or each.kind is each.VAR_KEYWORD for each in known):
        config["name"] = layer.name
    return config


def _plain(value: Any) -> Any:
    if isinstance(value, _PLAIN):
        return value
    return keras.saving.serialize_keras_object(value)


@contextlib.contextmanager
def _arguments() -> Iterator[dict[int, tuple[Any, dict[str, Any]]]]:
    """Record all layers that are created: the layer and its arguments, by id."""
    made: dict[int, tuple[Any, dict[str, Any]]] = {}
    original = vars(keras.Operation)["__new__"]

    def new(kind: Any, *args: Any, **kwargs: Any) -> Any:
        instance = original.__func__(kind, *args, **kwargs)
        signature = inspect.signature(kind.__init__)
        with contextlib.suppress(TypeError):
            given = dict(signature.bind(instance, *args, **kwargs).arguments)
            kinds = {p.kind: name for name, p in signature.parameters.items()}
            given.pop(next(iter(signature.parameters)))
            given |= given.pop(kinds.get(inspect.Parameter.VAR_KEYWORD, ""), {})
            if kinds.get(inspect.Parameter.VAR_POSITIONAL) not in given:
                made[id(instance)] = instance, given
        return instance

    keras.Operation.__new__ = staticmethod(new)
    try:
        yield made
    finally:
        keras.Operation.__new__ = original

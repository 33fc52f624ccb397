"""Names that the help texts list, so that they can be shown without `keras_vaf`.

`tests/membership/test_commands.py` holds them equal to the tuples of the package.
"""

import ast
import importlib.util
from pathlib import Path

COMPARED = ("relu", "vaf-random", "vaf-relu")
"""Activations that `compare` trains by default: `keras_vaf.experiments.VARIANTS`."""


def _activations() -> tuple[list[str], list[str]]:
    """Return the names and the classes in `keras_vaf.layers.ACTIVATIONS`.

    They are read from the source, because importing it brings Keras.
    """
    package = importlib.util.find_spec("keras_vaf")
    source = Path(getattr(package, "origin", "")).parent / "layers" / "__init__.py"
    names: list[str] = []
    classes: list[str] = []
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Member":
            fields = {each.arg: each.value for each in node.keywords}
            if "name" in fields:
                variants = ast.literal_eval(fields.get("variants", ast.Tuple([])))
                names += [ast.literal_eval(fields["name"]), *(v[0] for v in variants)]
                classes.append(ast.unparse(node.args[0]))
    return names, classes


_NAMES, _CLASSES = _activations()

FAMILY = ("prelu", "elu", "swish", *_NAMES[2:])
"""Further activations that `compare` knows: `keras_vaf.experiments.FAMILY`."""

LAYERS = (_CLASSES[0], *sorted(_CLASSES[1:]))
"""Classes that `convert` can put into a model, the default first."""

OPTIMIZERS = ("careful", "paper")
"""Settings of Rprop: `keras_vaf.experiments.comparison_protocols.OPTIMIZERS`."""

EXPERIMENTS = (
    "sensorless",
    "regression",
    "classification",
    "curves",
    "choices-regression",
    "choices-classification",
    "convolution-a",
    "convolution-b",
)
"""The paper's experiments: `keras_vaf.paper.EXPERIMENTS`."""

TUNERS = ("random", "bayesian", "grid", "hyperband")
"""Ways in which `search` draws trials: `keras_vaf.tuners.search_settings.TUNERS`."""

"""Names for the help texts, available without importing `keras_vaf`.

`tests/membership/test_commands.py` compares them with the names in the package.
"""

import ast
from pathlib import Path

_PACKAGE = Path(__file__).parents[1] / "keras_vaf"


def _members() -> list[tuple[str, list[str]]]:
    """Return class and names of each compared `Member` in keras_vaf/layers/__init__.py.

    The function parses the file without importing it, so that a new activation needs
    only one entry.
    """
    source = (_PACKAGE / "layers" / "__init__.py").read_text(encoding="utf-8")
    members = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Member":
            layer, *row = node.args
            options = {option.arg: option.value for option in node.keywords}
            if row:
                variants = getattr(options.get("variants"), "elts", ())
                named = [row[0], *(variant.elts[0] for variant in variants)]
                names = [ast.literal_eval(name) for name in named]
                members.append((ast.unparse(layer), names))
    return members


_VAF, *_OTHERS = _members()

COMPARED = ("relu", "gelu", "silu", "tanh", "prelu", "vaf-relu", "vaf-silu")
"""Activations that `compare` trains: those of `keras_vaf.training.recipe`."""

LEARNING_RATES = (0.0003, 0.001, 0.003, 0.01)
"""Learning rates of the recipe."""

CONTROLS = ("prelu", "gelu", "silu", "tanh", "vaf-silu", "vaf-random-rescaled")
"""Control activations of comparisons: `keras_vaf.experiments.CONTROLS`."""

VARIANTS = ("relu", *_VAF[1])
"""ReLU, and the VAFs of the paper: `keras_vaf.experiments.VARIANTS`."""

FAMILY = ("elu", *(name for _, names in _OTHERS for name in names))
"""Other activations that `compare` can train: `keras_vaf.experiments.FAMILY`."""

LAYERS = (_VAF[0], *(layer for layer, _ in _OTHERS))
"""Classes that `convert` can put into a model, default first."""

EXPERIMENTS = ("regression", "classification", "convolution", "sensorless", "curves")
"""The paper's experiments: `keras_vaf.paper.reproduction.EXPERIMENTS`."""

TUNERS = ("random", "bayesian", "grid", "hyperband")
"""Tuners of `search`: `keras_vaf.tuners.table_search.TUNERS`."""

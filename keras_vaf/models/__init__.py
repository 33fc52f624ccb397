"""Convert, simplify and freeze whole models, and build a fully connected network.

Only functions with `inplace=True` change the given model. `report` lists the changes
that `convert`, `simplify` and `freeze` made.
"""

from keras_vaf.models.changes import Change, ConversionReport, report
from keras_vaf.models.conversion import convert
from keras_vaf.models.formulas.formula import KnownFunction, formula, nearest
from keras_vaf.models.freezing import freeze, train_only_activations
from keras_vaf.models.fully_connected import mlp
from keras_vaf.models.relu import to_relu
from keras_vaf.models.simplification import simplify
from keras_vaf.models.vaf_equivalent import gaussian, to_vaf

__all__ = [
    "Change",
    "ConversionReport",
    "KnownFunction",
    "convert",
    "formula",
    "freeze",
    "gaussian",
    "mlp",
    "nearest",
    "report",
    "simplify",
    "to_relu",
    "to_vaf",
    "train_only_activations",
]

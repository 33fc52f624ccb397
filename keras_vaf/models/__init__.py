"""Convert, simplify and freeze whole models, and build a fully connected network.

`convert` replaces the fixed activations of a model by trainable ones that start at the
same functions. `simplify` removes units that contribute little, and `freeze` returns a
model that needs only Keras. `report` lists the changes that these functions made.
`nearest` finds the known function nearest to a learned one, and `formula` writes a
learned function as text, LaTeX or Python. `to_vaf` returns an equivalent VAF for
another activation. `mlp` builds a fully connected network.
`train_only_activations` freezes all other weights.

Only functions with `inplace=True` change the given model.
"""

from keras_vaf.models.activations_alone import train_only_activations
from keras_vaf.models.changes import Change, ConversionReport, report
from keras_vaf.models.conversion import convert
from keras_vaf.models.formulas.formula import formula
from keras_vaf.models.formulas.nearest import KnownFunction, nearest
from keras_vaf.models.freezing import freeze
from keras_vaf.models.fully_connected import mlp
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
    "to_vaf",
    "train_only_activations",
]

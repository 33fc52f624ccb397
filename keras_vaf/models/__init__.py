"""Whole networks: any Keras model with trained activations, and the paper's own.

`convert` takes a model and replaces its fixed activations; `to_vaf` does it for one
layer. `grow` adds hidden units to VAFs. `mlp` makes the fully connected networks of the
paper.
"""

from keras_vaf.models.conversion import convert
from keras_vaf.models.growing import grow
from keras_vaf.models.inclusion import gaussian, to_vaf
from keras_vaf.models.networks import mlp
from keras_vaf.models.report import Change, Kept, Report

__all__ = ["Change", "Kept", "Report", "convert", "gaussian", "grow", "mlp", "to_vaf"]

"""Plots of what trainable activations learn.

`plot_activation` draws the function of one layer over a histogram of its inputs, and
`plot_activations` the functions of a whole model. `plot_epochs` shows how a function
changed during training. They need Matplotlib: `pip install 'keras-vaf[plot]'`.
"""

from keras_vaf.visualization.activation import plot_activation, plot_activations
from keras_vaf.visualization.epochs import ActivationRecord, plot_epochs

__all__ = ["ActivationRecord", "plot_activation", "plot_activations", "plot_epochs"]

"""Research with keras_vaf: the paper's experiments and the map of activations.

The rest of the package never imports it. `keras-vaf reproduce` and `keras-vaf map` are
its commands.
"""

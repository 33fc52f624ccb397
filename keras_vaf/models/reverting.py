"""`revert`, which replaces learned functions close to a known one by that one."""

import keras

from keras_vaf.layers import TrainableActivation
from keras_vaf.models.analysis.fixed_activations import label
from keras_vaf.models.analysis.nearest import nearest
from keras_vaf.models.surgery.changes import KeptError, NewActivation
from keras_vaf.models.surgery.replacement import replace_trainable
from keras_vaf.utils import check_positive


def revert(model: keras.Model, tolerance: float) -> keras.Model:
    """Replace learned functions that are close to a known function by that function.

    Args:
        model: A Sequential or Functional model with trainable activations.
        tolerance: Largest allowed difference between a learned function and a Keras
            activation on [-10, 10].

    Returns:
        A model in which `keras.layers.Activation` or `LeakyReLU` layers replace these
        functions. `keras_vaf.models.report` lists the replacements, and the known
        function nearest to each function that was kept.

    Raises:
        ValueError: If the model has no trainable activation, or if the tolerance is not
            a positive number.

    Example:

    >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8),
    ...     keras.layers.ReLU(name="act"), keras.layers.Dense(1)])
    >>> print(report(revert(convert(model), tolerance=0.01)))
    act: VAFActivation(k=3) -> relu, parameters -10, largest error 0
    1 replaced, 0 kept, parameters -10
    """
    check_positive("tolerance", tolerance)

    def make(layer: TrainableActivation, name: str) -> NewActivation:
        known = nearest(layer, scaled=False)
        if known.error > tolerance:
            raise KeptError(f"it is near to {nearest(layer)}")
        fixed = known.layer(name=name, dtype=layer.dtype_policy)
        return NewActivation(fixed, label(layer), known.function, known.error)

    return replace_trainable(model, make)

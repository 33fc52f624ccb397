"""`GStart`, which starts a VAF at its fixed function g."""

from collections.abc import Sequence

import keras

from keras_vaf.initializers.function_start import FunctionStart
from keras_vaf.initializers.start import Errors, Start, Values
from keras_vaf.ops.functions import Function


@keras.saving.register_keras_serializable(package="keras_vaf")
class GStart(Start):
    """Start at g itself: f = g, for every g and every k.

    Formula:

    ```
    f(a) = g(a)
    ```

    One hidden unit computes g. All others are spare units, which have beta = 0 and can
    learn. `initialization="g"` selects this start.

    Example:

    >>> layer = keras_vaf.layers.VAFActivation(g="relu6", initialization="g")
    >>> print(layer.function([-1, 3, 9]))
    [0. 3. 6.]
    """

    def __call__(self, unshared: Sequence[int], k: int, g: Function) -> Values:
        """Return the start values of every function of a layer (see `Start`)."""
        return self.known(g)(unshared, k, g)

    def known(self, g: str | Function) -> FunctionStart:
        """Return the start at g (see `Start`)."""
        return FunctionStart(g)

    def error(self, k: int, g: str | Function = "relu") -> Errors:
        """Return the error of f, which is 0 (see `KnownStart.error`)."""
        return self.known(g).error(k, g)

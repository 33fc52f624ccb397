"""Trainable activations as Keras layers.

Put one where a fixed activation layer stands:

```python
keras.layers.Dense(64),
keras_vaf.layers.VAFActivation(),
```

Those that a VAF is compared with stand on the same base, `TrainableActivation`, and are
used in the same way; only `Maxout` and `MLPConv` are no functions of one number.
"""

from keras_vaf.layers.abu import ABU
from keras_vaf.layers.activation_ensemble import ActivationEnsemble
from keras_vaf.layers.adaptive_sigmoid import AdaptiveSigmoid
from keras_vaf.layers.adaptive_tanh import AdaptiveTanh
from keras_vaf.layers.apl import APL
from keras_vaf.layers.kaf import KAF
from keras_vaf.layers.maxout import Maxout
from keras_vaf.layers.mixed_activation import MixedActivation
from keras_vaf.layers.mlpconv import MLPConv
from keras_vaf.layers.pelu import PELU
from keras_vaf.layers.polynomial_activation import PolynomialActivation
from keras_vaf.layers.spline_activation import SplineActivation
from keras_vaf.layers.srelu import SReLU
from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.layers.vaf_activation import VAFActivation

__all__ = [
    "ABU",
    "APL",
    "KAF",
    "PELU",
    "ActivationEnsemble",
    "AdaptiveSigmoid",
    "AdaptiveTanh",
    "MLPConv",
    "Maxout",
    "MixedActivation",
    "PolynomialActivation",
    "SReLU",
    "SplineActivation",
    "TrainableActivation",
    "VAFActivation",
]

"""Trainable activations as Keras layers.

Put one where a fixed activation layer stands:

```python
keras.layers.Dense(64),
keras_vaf.layers.VAFActivation(),
```

The layers that a VAF is compared with share its base class, `TrainableActivation`, and
are used in the same way. Only `Maxout` and `MLPConv` are not functions of one number.
"""

from keras_vaf.layers.family.abu import ABU
from keras_vaf.layers.family.activation_ensemble import ActivationEnsemble
from keras_vaf.layers.family.adaptive import AdaptiveSigmoid, AdaptiveTanh
from keras_vaf.layers.family.apl import APL
from keras_vaf.layers.family.kaf import KAF
from keras_vaf.layers.family.maxout import Maxout
from keras_vaf.layers.family.mixed_activation import MixedActivation
from keras_vaf.layers.family.mlpconv import MLPConv
from keras_vaf.layers.family.pelu import PELU
from keras_vaf.layers.family.polynomial_activation import PolynomialActivation
from keras_vaf.layers.family.spline_activation import SplineActivation
from keras_vaf.layers.family.srelu import SReLU
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

"""Trainable activations as Keras layers.

Use one in place of a fixed activation layer:

```python
keras.layers.Dense(64),
keras_vaf.layers.VAFActivation(),
```

`VAFActivation` is the VAF of the paper. The other trainable activations share its base
class, `TrainableActivation`, and are used in the same way. Two layers, `Maxout` and
`MLPConv`, are not element-wise functions and do not share it.
"""

from keras_vaf.layers.vaf_activation import VAFActivation  # first in the reference

# isort: split
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
from keras_vaf.layers.family.rational import Rational
from keras_vaf.layers.family.snake import Snake, SnakeBeta
from keras_vaf.layers.family.spline_activation import SplineActivation
from keras_vaf.layers.family.srelu import SReLU
from keras_vaf.layers.family.xielu import XIELU
from keras_vaf.layers.member import Member
from keras_vaf.layers.trainable_activation import TrainableActivation

__all__ = [
    "ABU",
    "APL",
    "KAF",
    "PELU",
    "XIELU",
    "ActivationEnsemble",
    "AdaptiveSigmoid",
    "AdaptiveTanh",
    "MLPConv",
    "Maxout",
    "MixedActivation",
    "PolynomialActivation",
    "Rational",
    "SReLU",
    "Snake",
    "SnakeBeta",
    "SplineActivation",
    "TrainableActivation",
    "VAFActivation",
]

# Comparisons, searches and conversions use these entries. `VAFActivation` comes first.
# Names are literals because the command line reads them from this file without
# importing it.
_PAPER = {"k": 3, "g": "relu"}
_DIFFERENT = "it is a sum of different functions, and a VAF has only one g"
_SEVERAL = "it is not a function of one number"

ACTIVATIONS = (
    Member(
        VAFActivation,
        "vaf-random",
        "VAF, random start",
        {**_PAPER, "initialization": "random"},
        variants=(
            ("vaf-relu", "VAF, ReLU start", {**_PAPER, "initialization": "relu"}),
        ),
    ),
    Member(KAF, "kaf", "KAF", {"seed": None}),
    Member(APL, "apl", "APL", {"seed": None}),
    Member(PELU, "pelu", "PELU"),
    Member(SReLU, "srelu", "SReLU"),
    Member(ABU, "abu", "ABU", not_a_vaf=_DIFFERENT),
    Member(ActivationEnsemble, "ensemble", "Activation ensemble", not_a_vaf=_DIFFERENT),
    Member(
        MixedActivation,
        "mixed",
        "Mixed activation",
        variants=(("gated", "Gated activation", {"gated": True}),),
        not_a_vaf=_DIFFERENT,
    ),
    Member(AdaptiveSigmoid, "adaptive-sigmoid", "Adaptive sigmoid"),
    Member(AdaptiveTanh, "adaptive-tanh", "Adaptive tanh"),
    Member(
        SplineActivation,
        "spline",
        "Spline",
        not_a_vaf="its pieces are cubic; to start a VAF near it, set `initialization` "
        "to a registered function with its values",
    ),
    Member(
        PolynomialActivation,
        "polynomial",
        "Polynomial",
        not_a_vaf="its powers are different functions, and a VAF has only one g",
    ),
    Member(
        Rational,
        "rational",
        "Rational",
        not_a_vaf="it is a quotient of polynomials, and a VAF is a sum of functions",
    ),
    Member(Snake, "snake", "Snake", not_a_vaf=_DIFFERENT),
    Member(SnakeBeta, "snake-beta", "SnakeBeta", not_a_vaf=_DIFFERENT),
    Member(XIELU, "xielu", "xIELU", not_a_vaf=_DIFFERENT),
    Member(Maxout, not_a_vaf=_SEVERAL),
    Member(MLPConv, not_a_vaf=_SEVERAL),
)

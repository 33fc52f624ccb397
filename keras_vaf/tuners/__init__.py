"""Search the hyperparameters of a VAF with KerasTuner.

`search` does it for a table, as the command `keras-vaf search` does. For a model of
your own, `activation(hp)` returns a VAF whose hyperparameters a tuner draws from a
`SearchSpace`:

```python
def build(hp):
    return keras.Sequential([keras.layers.Dense(64), keras_vaf.tuners.activation(hp)])
```

`CrossValidated` adds K-fold cross-validation to any tuner of KerasTuner. An interrupted
search can be resumed, and every finished trial is kept.
"""

from keras_vaf.tuners.cross_validated import CrossValidated
from keras_vaf.tuners.cross_validated_tuner import CrossValidatedTuner
from keras_vaf.tuners.figures import (
    best_so_far,
    marginal_effects,
    parallel_coordinates,
)
from keras_vaf.tuners.hypermodels import ACTIVATIONS, hypermodel
from keras_vaf.tuners.results import (
    TrialResult,
    ranked,
    read_trials,
    to_csv,
)
from keras_vaf.tuners.space import SearchSpace, activation
from keras_vaf.tuners.study import Search, search

__all__ = [
    "ACTIVATIONS",
    "CrossValidated",
    "CrossValidatedTuner",
    "Search",
    "SearchSpace",
    "TrialResult",
    "activation",
    "best_so_far",
    "hypermodel",
    "marginal_effects",
    "parallel_coordinates",
    "ranked",
    "read_trials",
    "search",
    "to_csv",
]

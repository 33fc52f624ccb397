"""Search the hyperparameters of a VAF with KerasTuner.

`search` does it for a table, as the command `keras-vaf search` does. For a model of
your own, `activation(hp)` returns a VAF whose hyperparameters a tuner draws from a
`SearchSpace`:

```python
def build(hp):
    return keras.Sequential([keras.layers.Dense(64), keras_vaf.tuners.activation(hp)])
```

`CrossValidated` adds K-fold cross-validation to any tuner of KerasTuner. Interrupted
searches go on.
"""

from keras_vaf.tuners.cross_validated import CrossValidated
from keras_vaf.tuners.space import SearchSpace, activation
from keras_vaf.tuners.table_search import Search, search

__all__ = ["CrossValidated", "Search", "SearchSpace", "activation", "search"]

"""Search the hyperparameters of a VAF with KerasTuner.

`search` does it for a table, as the command `keras-vaf search` does, or for a model of
your own, in cross-validation. It continues after an interruption. With any tuner of
KerasTuner, `activation(hp)` returns a VAF whose hyperparameters the tuner draws from a
`SearchSpace`:

```python
def build(hp):
    return keras.Sequential([keras.layers.Dense(64), keras_vaf.tuners.activation(hp)])
```
"""

from keras_vaf.tuners.space import SearchSpace, activation
from keras_vaf.tuners.table_search import Search, search

__all__ = ["Search", "SearchSpace", "activation", "search"]

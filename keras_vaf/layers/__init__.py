"""Trainable activations as Keras layers.

Put one where a fixed activation layer stands:

```python
keras.layers.Dense(64),
keras_vaf.layers.VAFActivation(),
```
"""

from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.layers.vaf_activation import VAFActivation

__all__ = ["TrainableActivation", "VAFActivation"]

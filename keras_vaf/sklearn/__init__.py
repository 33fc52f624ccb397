"""Networks with VAFs as scikit-learn estimators.

`VAFClassifier` and `VAFRegressor` are fully connected networks with a VAF after each
hidden layer, for pipelines, cross-validation and grid searches.
"""

from keras_vaf.sklearn.estimators import VAFClassifier, VAFRegressor

__all__ = ["VAFClassifier", "VAFRegressor"]

"""Networks of VAFs as estimators of scikit-learn.

`VAFClassifier` and `VAFRegressor` are fully connected networks with a VAF after each
hidden layer. They have the interface of scikit-learn's own estimators, and work in
pipelines, cross-validation and grid searches.
"""

from keras_vaf.sklearn.estimators import VAFClassifier, VAFRegressor

__all__ = ["VAFClassifier", "VAFRegressor"]

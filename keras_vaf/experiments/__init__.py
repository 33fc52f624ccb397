"""Compare activations on any table with `compare`, which trains them on the same folds.

Each finished training of an `Arm` by a `Recipe` is one line of a file. `records` reads
these lines as a pandas DataFrame, from which `select`, `table` and `refit` go on.
"""

from keras_vaf.utils import require

# Modules of this package and of `keras_vaf.paper` import them at the top.
for _package in ("matplotlib", "pandas"):
    require(_package, extra="experiments")

from keras_vaf.experiments.arms import Arm, find_arms
from keras_vaf.experiments.comparison import Comparison, compare
from keras_vaf.experiments.networks import refit
from keras_vaf.experiments.recipe import Recipe
from keras_vaf.experiments.results import select
from keras_vaf.experiments.significance import (
    corrected_interval,
    corrected_t_test,
    holm,
)
from keras_vaf.experiments.store import records
from keras_vaf.experiments.tables import table

__all__ = [
    "Arm",
    "Comparison",
    "Recipe",
    "compare",
    "corrected_interval",
    "corrected_t_test",
    "find_arms",
    "holm",
    "records",
    "refit",
    "select",
    "table",
]

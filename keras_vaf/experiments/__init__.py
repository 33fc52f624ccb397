"""Compare activations on any table with `compare`, which trains them on the same folds.

An `Arm` is an activation, and a `Recipe` says how all networks are trained. Each
finished training is one line of a file, so that an interrupted run can be continued.
`records` reads these lines as a pandas DataFrame, and everything else is made from it:
`select` selects the learning rates, `table` has the numbers of a comparison, and
`refit` trains the recommended network.
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

"""`EXPERIMENTS`, the experiments that `keras-vaf reproduce` can run."""

from keras_vaf.research.paper.convolution import CONVOLUTIONS_A, CONVOLUTIONS_B
from keras_vaf.research.paper.curves import CURVES
from keras_vaf.research.paper.experiment import Experiment
from keras_vaf.research.paper.fully_connected import CLASSIFICATIONS, REGRESSIONS
from keras_vaf.research.paper.sensorless import SENSORLESS
from keras_vaf.utils import check_choice

EXPERIMENTS = (
    SENSORLESS,
    REGRESSIONS,
    CLASSIFICATIONS,
    CURVES,
    CONVOLUTIONS_A,
    CONVOLUTIONS_B,
)
"""All experiments, those of the paper's tables and figures and those beyond them."""


def find_experiment(name: str) -> Experiment:
    """Return the experiment with a given name.

    Raises:
        ValueError: If no experiment has this name.

    Example:

    >>> find_experiment("regression").datasets[:2]
    ('cpu_small', 'delta_elevators')
    """
    known = {experiment.name: experiment for experiment in EXPERIMENTS}
    return known[check_choice("experiment", name, known)]

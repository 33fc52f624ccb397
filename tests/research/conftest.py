"""The small data of the experiments' tests serve the paper's as well."""

from tests.experiments.conftest import *  # noqa: F403

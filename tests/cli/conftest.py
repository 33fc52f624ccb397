"""The datasets of three rows, also for the commands."""

from tests.datasets.conftest import catalogue, folder  # noqa: F401

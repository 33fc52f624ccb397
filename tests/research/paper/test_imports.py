"""Importing the paper's experiments stays as light as importing Keras."""

import pytest

from tests.test_import import brought_by


@pytest.mark.backend("jax")
def test_no_other_backend_and_no_optional_package_is_imported():
    assert brought_by("import keras_vaf.research.paper") == {"keras_vaf"}

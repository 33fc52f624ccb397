"""Pictures look as they did when somebody last looked at them."""

import shutil

import pytest
from matplotlib.testing.compare import compare_images

from tests.visualization.make_reference import FOLDER, PICTURES, draw

pytestmark = pytest.mark.backend("tensorflow")

# Root mean square of the differences in grey, of 255: letters may move a little.
TOLERANCE = 6


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_looks_as_it_did(name, tmp_path):
    expected = shutil.copy(FOLDER / f"{name}.png", tmp_path / f"{name}-expected.png")
    drawn = draw(name, tmp_path)
    assert compare_images(str(expected), str(drawn), TOLERANCE) is None

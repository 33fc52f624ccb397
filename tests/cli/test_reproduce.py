"""`keras-vaf reproduce` shows the table."""

import re

import pytest

from keras_vaf.paper import reproduce

pytestmark = pytest.mark.backend("torch")


@pytest.mark.nightly
def test_the_screen_has_the_published_numbers_beside_ours(run):
    words = "classification --quick --datasets wine --activations relu,vaf-relu"
    code, output, errors = run(f"reproduce {words}")

    assert code == 0, errors
    words = {"quick": True, "verbose": False}
    done = reproduce("classification", ["wine"], ["relu", "vaf-relu"], **words)
    for row in done.table.itertuples():
        ours = f"{row.mean:.4f} ± {row.deviation:.4f} \\({row.hidden}\\)"
        published = f"{row.published:.4f} ± {row.published_deviation:.4f}"
        assert re.search(f"wine +{row.activation} .*{ours} +{published}", output)
    assert "p (Holm)" not in output
    assert f"Written to {done.path}" in output

"""`keras-vaf reproduce`: it shows the table, and says what is wrong."""

import re

import pytest

from keras_vaf.paper import reproduce

pytestmark = pytest.mark.backend("torch")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("figures", "`experiment` must be one of .*Received: experiment='figures'"),
        ("regression --selection none", "must be one of .*Received: selection='none'"),
        ("classification --data-dir nowhere --datasets liver", "nowhere"),
    ],
)
def test_what_is_wrong_is_one_sentence(words, said, refusal, tmp_path):
    assert re.match(f"keras-vaf: .*{said}", refusal(f"reproduce {words}"))
    assert not list(tmp_path.iterdir())


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

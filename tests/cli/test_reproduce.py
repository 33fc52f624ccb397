"""`keras-vaf reproduce`: it shows the table, and says what is wrong."""

import re

import pytest

from keras_vaf.paper import reproduce
from keras_vaf_cli import main

pytestmark = pytest.mark.backend("torch")

WORDS = ["reproduce", "classification", "--quick", "--datasets", "wine"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("figures", "`experiment` must be one of .*Received: experiment='figures'"),
        ("regression --datasets wine", "datasets of regression .*Received: wine"),
        ("regression --selection none", "must be one of .*Received: selection='none'"),
        ("regression --seeds 1,1", "`seeds` must differ .*Received: 1,1"),
        ("classification --data-dir nowhere --datasets liver", "nowhere"),
    ],
    ids=lambda text: text.split("[")[0][:50],
)
def test_what_is_wrong_is_one_sentence(words, said, capsys, tmp_path):
    arguments = ["reproduce", *words.split(), "--output", str(tmp_path)]

    assert main(arguments) == 2

    printed = capsys.readouterr().err
    assert re.match(f"keras-vaf: .*{said}", printed)
    assert printed.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.nightly
def test_the_screen_has_the_published_numbers_beside_ours(tmp_path, capsys):
    output = ["--output", str(tmp_path)]
    assert main([*WORDS, "--activations", "relu,vaf-relu", *output]) == 0

    shown = capsys.readouterr().out
    words = {"quick": True, "output": tmp_path, "verbose": False}
    done = reproduce("classification", ["wine"], ["relu", "vaf-relu"], **words)
    for row in done.table.itertuples():
        ours = f"{row.mean:.4f} ± {row.deviation:.4f} \\({row.hidden}\\)"
        published = f"{row.published:.4f} ± {row.published_deviation:.4f}"
        assert re.search(f"wine +{row.activation} .*{ours} +{published}", shown)
    assert "p (Holm)" not in shown
    assert f"Written to {done.path}" in shown

"""The other activations can be compared too, and ReLU with as many parameters."""

import numpy as np
import pytest

from keras_vaf.experiments import (
    CONTROLS,
    FAMILY,
    Protocol,
    as_wide,
    compare,
    find_variants,
)


def test_every_activation_is_a_variant_that_the_seed_decides():
    names = [variant.name for variant in (*CONTROLS, *FAMILY)]
    for variant in find_variants(",".join(names)):
        first, again = (variant.build(seed=7) for _ in range(2))
        for layer in (first, again):
            layer.build((None, 3))
        for a, b in zip(first.get_weights(), again.get_weights(), strict=True):
            np.testing.assert_array_equal(a, b)


def test_vaf_is_short_for_the_papers_own_start():
    assert find_variants("vaf") == find_variants("vaf-random")
    with pytest.raises(ValueError, match="different names"):
        find_variants("vaf,vaf-random")


@pytest.mark.parametrize("name", ["relu", "vaf", "kaf"])
def test_relu_is_widened_to_as_many_parameters_and_no_more(name, classes):
    protocol = Protocol.of(classes, find_variants(name)[0], hidden=(10, 5))
    wide = as_wide(protocol, classes)
    per_unit = {"relu": 0, "vaf": 0, "kaf": 20}[name]
    shared = {"relu": 0, "vaf": 2 * 10, "kaf": 0}[name]
    inputs = classes.x.shape[1]
    outputs = len(classes.class_names)

    def dense(first, second):
        return (inputs + 1) * first + (first + 1) * second + (second + 1) * outputs

    wanted = dense(10, 5) + per_unit * 15 + shared
    first, second = wide.hidden
    assert second == round(first / 2)
    assert dense(first, second) >= wanted
    assert first == 10 or dense(first - 1, round((first - 1) / 2)) < wanted
    assert wide.variant.layer == "ReLU"


@pytest.mark.backend("torch")  # which compiles nothing; layers are tested on all
def test_arms_of_all_kinds_are_compared(classes, tmp_path):
    names = "relu,kaf,ensemble,prelu,silu,spline"
    protocols = [
        Protocol.of(classes, variant, hidden=(4,), epochs=3, folds=2)
        for variant in find_variants(names)
    ]
    protocols.append(as_wide(protocols[1], classes))
    comparison = compare(classes, protocols, output=tmp_path)
    titles = [report.protocol.variant.title for report in comparison.reports[::2]]
    assert len(set(titles)) == 7
    assert all(np.isfinite(report.score) for report in comparison.reports)
    assert (comparison.folder / "comparison.png").stat().st_size > 0

"""The committed reports belong to the experiments, so that runs continue from them."""

import json
import lzma
from pathlib import Path

import pytest

from keras_vaf.datasets import load
from keras_vaf.research.paper import Form, find_experiment

pytestmark = pytest.mark.backend("tensorflow")

REPORTS = Path(__file__).parents[3] / "docs/reports/reproduction"
FILES = [
    *REPORTS.glob("regression-*-jax.json.xz"),
    *REPORTS.glob("classification-*-jax.json.xz"),
    *REPORTS.glob("choices-*-jax.json.xz"),
    *REPORTS.glob("sensorless-*-jax.json.xz"),
]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_activations_are_those_of_the_experiment(file):
    name, manner = file.name.removesuffix("-jax.json.xz").rsplit("-", 1)
    protocols = find_experiment(name).protocols(load("wine"), Form(manner))
    trained = [
        each
        for each in json.loads(lzma.decompress(file.read_bytes()))["shared"]
        if "variant" in each
    ]

    known = {text_of(each.variant.__dict__, each.optimizer.apart) for each in protocols}
    assert {
        text_of(each["variant"], each["optimizer"]["apart"]) for each in trained
    } == known


def text_of(variant, apart):
    return json.dumps([variant, apart], sort_keys=True)

"""A run that is killed at any moment goes on, and ends in the same table."""

import dataclasses
import multiprocessing
import random
import time
from pathlib import Path

import keras
import numpy as np
import pytest

from keras_vaf.experiments import Protocol, Store, compare, find_variants
from keras_vaf.experiments.runs.missing import train_missing

pytestmark = [pytest.mark.backend("jax"), pytest.mark.nightly]

KILLS = 3


def run(dataset, protocols, output):
    """Train what is missing, without the pictures: what a killed process does."""
    train_missing(protocols, [0], dataset, Store(Path(output) / "cells"))


def kill_after(seconds, *arguments):
    """Run in a separate process, and kill it."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["jax", "sklearn.model_selection", __name__])
    process = context.Process(target=run, args=arguments)
    process.start()
    process.join(seconds)
    process.kill()
    process.join()


def test_a_run_killed_at_random_moments_ends_in_the_same_table(classes, tmp_path):
    relu, vaf = find_variants("relu,vaf-random")
    protocol = Protocol.of(classes, relu, hidden=(3,), folds=9, epochs=3, replicas=2)
    protocols = [protocol, dataclasses.replace(protocol, variant=vaf)]
    expected = compare(classes, protocols, output=tmp_path / "undisturbed")
    moments = random.Random(time.time_ns())

    kept = 0
    for _ in range(KILLS):
        kill_after(moments.uniform(0, 4), classes, protocols, tmp_path / "killed")
        reports = list((tmp_path / "killed").rglob("seed-*.json"))
        assert len(reports) >= kept
        kept = len(reports)
    finished = compare(classes, protocols, output=tmp_path / "killed")

    assert finished.set_aside == ()
    assert [dataclasses.replace(each, seconds=0.0) for each in finished.reports] == [
        dataclasses.replace(each, seconds=0.0) for each in expected.reports
    ]
    best = [
        keras.saving.load_model(each.folder / "best.keras").get_weights()
        for each in (finished, expected)
    ]
    for left, right in zip(*best, strict=True):
        np.testing.assert_array_equal(left, right)

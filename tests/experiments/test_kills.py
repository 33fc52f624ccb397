"""A process that is killed loses, repeats and changes no training."""

import json
import multiprocessing
import random
import time

import pandas as pd
import pytest

from keras_vaf.experiments import Recipe, find_arms, records
from keras_vaf.experiments.arms import references
from keras_vaf.experiments.run import Study, train_missing

RECIPE = Recipe(hidden=(3,), learning_rates=(0.01, 0.1), folds=2, epochs=3)


def lines_of(folder):
    """Return all complete records of a folder, with those that are there twice."""
    lines = [
        line
        for path in folder.glob("*.jsonl")
        for line in path.read_bytes().split(b"\n")
    ]
    return [json.loads(line) for line in lines if line.endswith(b'"}')]


def outcome(found):
    return found.drop(columns=["seconds", "environment"])


def make_study(dataset, folder):
    arms = (*find_arms("relu,vaf-random"), *references(dataset.task))
    return Study(dataset, arms, RECIPE, (0,), folder)


def ends_before(seconds, study):
    """Train in a separate process, kill it after a time, and tell whether it ended."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch", "sklearn.ensemble", "pandas", __name__])
    process = context.Process(target=train_missing, args=(study, False))
    process.start()
    process.join(seconds)
    process.kill()
    process.join()
    return process.exitcode == 0


@pytest.mark.backend("torch")
@pytest.mark.nightly
def test_thirty_killed_processes_lose_repeat_and_change_nothing(numbers, tmp_path):
    expected = train_missing(make_study(numbers, tmp_path / "whole"), verbose=False)
    moments, kills, between, studies = random.Random(time.time_ns()), 0, 0, 0
    while kills < 30:
        studies, kept = studies + 1, 0
        study = make_study(numbers, tmp_path / str(studies))
        while not ends_before(moments.uniform(0.2, 2), study):
            found = records(study.folder)
            assert len(found) >= kept
            kills, between = kills + 1, between + (kept < len(found) < len(expected))
            kept = len(found)
        assert len(lines_of(study.folder)) == len(expected) == 12
        found = train_missing(study, verbose=False)
        pd.testing.assert_frame_equal(outcome(found), outcome(expected))
    assert between

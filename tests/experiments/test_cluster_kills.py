"""Runs on a Dask cluster go on after kills of the driver and of a worker."""

import dataclasses
import multiprocessing
import time

import keras
import numpy as np
import pytest

from keras_vaf.experiments import Protocol, compare, find_variants
from keras_vaf.tuners import CrossValidated, read_trials
from tests.clusters import cluster

pytest.importorskip("distributed")
keras_tuner = pytest.importorskip("keras_tuner")

pytestmark = [pytest.mark.backend("jax"), pytest.mark.nightly]

TRIALS = 6


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """Give an engine of three workers; each test may kill one."""
    with cluster(tmp_path_factory.mktemp("cluster"), workers=3) as (name, _, workers):
        yield name, workers


def kill_the_driver(done, target, *arguments):
    """Run a function in another process, and kill it once `done()` is true."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["jax", "distributed", __name__])
    process = context.Process(target=target, args=arguments)
    process.start()
    while process.is_alive() and not done():
        time.sleep(0.02)
    assert process.is_alive()
    process.kill()
    process.join()


def run_compare(dataset, protocols, folder, engine):
    """Compare: what a killed driver does."""
    compare(dataset, protocols, output=folder, engine=engine)


def test_a_comparison_ends_in_the_same_table(classes, tmp_path, running):
    engine, workers = running
    variant = find_variants("relu")[0]
    protocol = Protocol.of(classes, variant, hidden=(3,), folds=9, epochs=3, replicas=1)
    there = tmp_path / "there"

    def reports():
        return set(there.rglob("seed-*.json"))

    kill_the_driver(reports, run_compare, classes, [protocol], there, engine)
    kept = {path: path.stat().st_mtime_ns for path in reports()}

    def kill_a_worker(items, total):
        for item in items:
            yield item
            workers[0].kill()

    found = compare(
        classes, [protocol], output=there, engine=engine, track=kill_a_worker
    )
    expected = compare(classes, [protocol], output=tmp_path / "here")

    assert workers[0].wait() < 0
    assert kept.items() <= {p: p.stat().st_mtime_ns for p in reports()}.items()
    assert [dataclasses.replace(each, seconds=0.0) for each in found.reports] == [
        dataclasses.replace(each, seconds=0.0) for each in expected.reports
    ]


def search(folder, engine, ended=None, kind="RandomSearch"):
    """Search the learning rate of a linear model; `ended` is called after a trial."""

    def build(hp):
        model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
        model.compile(keras.optimizers.SGD(hp.Float("rate", 0.01, 0.2)), "mse")
        return model

    class Tuner(CrossValidated(getattr(keras_tuner, kind))):
        def on_trial_end(self, trial):
            super().on_trial_end(trial)
            if ended is not None:
                ended()

    budget = {"max_trials": TRIALS}
    if kind == "Hyperband":
        budget = {"max_epochs": 3, "factor": 3}
    options = {"objective": "val_loss", "seed": 3, "folds": 2, "stratify": False}
    tuner = Tuner(build, **options, **budget, directory=folder, project_name="p")
    x = np.random.default_rng(0).normal(size=(12, 2)).astype("float32")
    tuner.search(x, x @ np.array([1.0, -2.0], "float32"), epochs=6, engine=engine)
    return tuner


def completed(folder):
    """Return the files of the completed trials, and their content."""
    if not any(folder.glob("p/trial_*/trial.json")):
        return {}
    names = [r.trial for r in read_trials(folder / "p") if r.status == "COMPLETED"]
    paths = [folder / "p" / f"trial_{name}" / "trial.json" for name in names]
    return {path: path.read_bytes() for path in paths}


def outcome(folder):
    """Return values and scores of the trials."""
    return [(r.values, pytest.approx(r.score)) for r in read_trials(folder / "p")]


def test_a_search_loses_and_repeats_no_finished_trial(tmp_path, running):
    engine, workers = running
    there = tmp_path / "there"
    kill_the_driver(lambda: completed(there), search, there, engine)
    kept = completed(there)

    search(there, engine, ended=workers[1].kill)
    search(tmp_path / "here", "here")

    assert workers[1].wait() < 0
    assert kept.items() <= completed(there).items()
    assert len(completed(there)) == TRIALS
    assert outcome(there) == outcome(tmp_path / "here")


def test_hyperband_continues_from_earlier_weights(tmp_path, running):
    engine, _ = running
    search(tmp_path / "there", engine, kind="Hyperband")
    results = read_trials(tmp_path / "there" / "p")
    by_name = {result.trial: result for result in results}

    continued = [r for r in results if "tuner/trial_id" in r.values]
    assert {r.status for r in results} == {"COMPLETED"}
    assert continued
    for result in continued:
        earlier = by_name[result.values["tuner/trial_id"]]
        # Linear least squares: more steps from the same weights are lower steps.
        assert result.score < earlier.score
        assert (earlier.fold_epochs, result.fold_epochs) == ((2, 2), (6, 6))

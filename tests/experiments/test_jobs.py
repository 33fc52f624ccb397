"""Records are equal with one process, with two, on Dask and on Ray."""

import os
import signal
import threading
import time
from dataclasses import fields

import joblib
import pandas as pd
import pytest
from joblib.externals.loky import get_reusable_executor

from keras_vaf.datasets import Dataset
from keras_vaf.experiments import Recipe, compare, find_arms, run
from keras_vaf.experiments.run import Study, train_missing
from tests.reference_training import recorded

pytestmark = pytest.mark.backend("torch")

NAMES = "vaf-random,relu"
RECIPE = Recipe(hidden=(4,), learning_rates=(0.01, 0.1), folds=2, epochs=20)


@pytest.fixture(autouse=True)
def plain_workers(monkeypatch):
    """Start workers without native kernels, which this process does not use."""
    monkeypatch.setenv("KERAS_VAF_KERNELS", "0")
    get_reusable_executor(kill_workers=True).shutdown()


def records_of(dataset, folder, **words):
    found = compare(dataset, NAMES, RECIPE, output=folder, verbose=False, **words)
    return found.records.drop(columns=["seconds", "environment"])


@pytest.mark.backend("jax", "torch")
def test_records_are_equal_with_two_processes_and_three_threads(classes, tmp_path):
    one = records_of(classes, tmp_path / "one")
    two = records_of(classes, tmp_path / "two", jobs=2)
    pd.testing.assert_frame_equal(one, two)
    with joblib.parallel_config(backend="threading", n_jobs=3):
        pd.testing.assert_frame_equal(one, records_of(classes, tmp_path / "threads"))
    with joblib.parallel_config(n_jobs=2):
        pd.testing.assert_frame_equal(one, records_of(classes, tmp_path / "config"))
    assert not [*(tmp_path / "config").glob(f"*-{os.getpid()}.jsonl")]


@pytest.mark.nightly
@pytest.mark.needs("distributed")
def test_a_study_on_dask_survives_the_loss_of_a_worker(classes, tmp_path):
    from dask.distributed import Client, LocalCluster

    sizes = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**sizes) as cluster, Client(cluster) as client:
        pids = [*client.run(os.getpid).values()]
        kill = threading.Timer(5, os.kill, (pids[0], signal.SIGKILL))
        kill.start()
        with joblib.parallel_config(backend="dask"):
            found = records_of(classes, tmp_path / "dask")
        kill.join()

    pd.testing.assert_frame_equal(found, records_of(classes, tmp_path / "here"))
    lines = [
        path.read_bytes().split(b"\n") for path in (tmp_path / "dask").glob("*.jsonl")
    ]
    assert sum(len([each for each in own if each]) for own in lines) == len(found)


def test_threads_train_one_after_another(classes, tmp_path, monkeypatch):
    busy = threading.Lock()

    def train(*arguments):
        assert busy.acquire(blocking=False)
        time.sleep(0.05)
        busy.release()
        yield from recorded(lambda *_: 1)(*arguments)

    monkeypatch.setattr(run, "train_networks", train)
    study = Study(classes, find_arms(NAMES), RECIPE, (0, 1, 2), tmp_path)
    with joblib.parallel_config(backend="threading", n_jobs=3):
        assert len(train_missing(study, verbose=False)) == 24


@pytest.mark.nightly
@pytest.mark.needs("ray")
def test_a_study_on_ray_goes_on_after_the_loss_of_a_worker(classes, tmp_path):
    import ray
    from ray.util.joblib import register_ray

    def kill():
        while not (files := [*tmp_path.glob("ray/*.jsonl")]):
            time.sleep(0.01)
        os.kill(int(files[0].stem.rpartition("-")[2]), signal.SIGKILL)

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    register_ray()
    threading.Thread(target=kill, daemon=True).start()
    with joblib.parallel_config(backend="ray", n_jobs=2):
        with pytest.raises(ChildProcessError, match="Every finished training is kept"):
            records_of(classes, tmp_path / "ray")
        found = records_of(classes, tmp_path / "ray")
    ray.shutdown()

    pd.testing.assert_frame_equal(found, records_of(classes, tmp_path / "here"))


class Deadly(Dataset):
    """Data that end the process that reads them."""

    def __reduce__(self):
        return os._exit, (1,)


@pytest.mark.nightly
def test_a_process_that_was_killed_is_named(classes, tmp_path):
    data = Deadly(
        **{each.name: getattr(classes, each.name) for each in fields(Dataset)}
    )
    with pytest.raises(ChildProcessError, match="fewer `jobs`"):
        records_of(data, tmp_path, jobs=2)

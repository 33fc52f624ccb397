"""Cells trained on a Dask cluster of this machine, one worker of which is killed."""

import contextlib
import dataclasses
import json
import os
import subprocess
import sys
import time

import pytest

from keras_vaf.experiments import Protocol, compare, comparison_table, find_variants
from keras_vaf.experiments.runs import engines
from keras_vaf.experiments.runs.engines import _check_backend, train_batch
from tests.experiments.fakes import make_report

distributed = pytest.importorskip("distributed")


@contextlib.contextmanager
def process(*words, **options):
    """Run a module of Dask for a while."""
    command = [sys.executable, "-m", *words]
    running = subprocess.Popen(command, stderr=subprocess.DEVNULL, **options)
    try:
        yield running
    finally:
        running.kill()
        running.wait()


@pytest.fixture
def cluster(tmp_path, request):
    """Give the address of a scheduler on loopback, and its workers: two, or as asked.

    The scheduler is the last of the processes.
    """
    file = tmp_path / "scheduler.json"
    with contextlib.ExitStack() as stack:
        words = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
        words += ["--scheduler-file", str(file)]
        scheduler = process("distributed.cli.dask_scheduler", *words)
        scheduler = stack.enter_context(scheduler)
        while not file.exists() or not file.read_text():
            time.sleep(0.05)
        address = json.loads(file.read_text())["address"]
        words = [address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        workers = [
            stack.enter_context(process("distributed.cli.dask_worker", *words))
            for _ in range(getattr(request, "param", 2))
        ]
        yield address, [*workers, scheduler]


def without_seconds(comparison):
    return [dataclasses.replace(each, seconds=0.0) for each in comparison.reports]


@pytest.mark.backend("jax")
def test_a_cluster_that_loses_a_worker_makes_the_same_table(classes, cluster, tmp_path):
    address, workers = cluster
    variant = find_variants("relu")[0]
    protocol = Protocol.of(classes, variant, hidden=(3,), folds=8, epochs=3, replicas=2)

    def kill_one(items, total):
        for done, item in enumerate(items):
            if done == 1:
                workers[0].kill()
            yield item

    here = compare(classes, [protocol], output=tmp_path / "here")
    there = compare(
        classes,
        [protocol],
        output=tmp_path / "there",
        engine=f"dask://{address.removeprefix('tcp://')}",
        track=kill_one,
    )

    assert workers[0].wait() < 0
    assert workers[1].poll() is None
    assert without_seconds(there) == without_seconds(here)
    tables = [comparison_table(without_seconds(each)) for each in (here, there)]
    assert tables[0] == tables[1]


@pytest.mark.backend("jax")
@pytest.mark.parametrize("cluster", [1], indirect=True)
def test_a_single_worker_trains_and_what_is_lost_is_named(
    classes, cluster, tmp_path, monkeypatch
):
    address, (worker, scheduler) = cluster
    monkeypatch.setattr(engines, "_SECONDS_WITHOUT_WORKERS", 1)
    monkeypatch.setattr(engines, "train_batch", trained_elsewhere(os.getpid()))
    protocol = Protocol.of(classes, find_variants("relu")[0], hidden=(3,), epochs=3)

    def run(stopped):
        def stop(items, total):
            for item in items:
                yield item
                if stopped is not None:
                    stopped.kill()

        engine = f"dask://{address.removeprefix('tcp://')}"
        arguments = {"output": tmp_path, "engine": engine, "track": stop}
        return compare(classes, [protocol], **arguments)

    wait_for_a_worker(address)
    with pytest.raises(OSError, match="no worker for 1 seconds"):
        run(worker)
    kept = len(list(tmp_path.rglob("seed-*.json")))
    assert kept >= 1
    words = [address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    with process("distributed.cli.dask_worker", *words):
        wait_for_a_worker(address)
        with pytest.raises(OSError, match=r"scheduler at .* was lost"):
            run(scheduler)
    assert len(list(tmp_path.rglob("seed-*.json"))) > kept


def wait_for_a_worker(address):
    """Wait until the scheduler knows a worker."""
    with distributed.Client(address) as client:
        client.wait_for_workers(1)


def trained_elsewhere(client):
    """Return `train_batch`, which refuses to run in the client's process."""

    def train(batch, dataset, networks):
        assert os.getpid() != client
        time.sleep(0.3)
        return train_batch(batch, dataset, networks)

    return train


@pytest.mark.backend("tensorflow")
def test_a_scheduler_that_does_not_answer_is_named(
    classes, arms, tmp_path, monkeypatch
):
    monkeypatch.setattr(engines, "_SECONDS_TO_CONNECT", 0.5)
    with pytest.raises(OSError, match=r"No Dask scheduler answers at '127.0.0.1:1'"):
        compare(classes, arms, output=tmp_path, engine="dask://127.0.0.1:1")


@pytest.mark.backend("tensorflow")
def test_workers_on_another_backend_are_refused():
    with pytest.raises(ValueError, match=r"KERAS_BACKEND=\w+\. Received: .* jax"):
        _check_backend(make_report(environment={"backend": "jax"}))

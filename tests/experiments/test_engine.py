"""Cells trained on a Dask cluster of this machine, one worker of which is killed."""

import contextlib
import dataclasses
import json
import subprocess
import sys
import time

import pytest

from keras_vaf.experiments import Protocol, compare, comparison_table, find_variants
from keras_vaf.experiments.runs import engines
from keras_vaf.experiments.runs.engines import _check_backend
from tests.experiments.fakes import make_report


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
def cluster(tmp_path):
    """Give the address of a scheduler on loopback, and its two workers."""
    file = tmp_path / "scheduler.json"
    with contextlib.ExitStack() as stack:
        words = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
        words += ["--scheduler-file", str(file)]
        stack.enter_context(process("distributed.cli.dask_scheduler", *words))
        while not file.exists() or not file.read_text():
            time.sleep(0.05)
        address = json.loads(file.read_text())["address"]
        words = [address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        workers = [
            stack.enter_context(process("distributed.cli.dask_worker", *words))
            for _ in range(2)
        ]
        yield address, workers


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

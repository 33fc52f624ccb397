"""Functions run in this process, in processes of this machine and on a cluster."""

import importlib.util
import logging
import logging.handlers
import operator
import os
import queue
import signal
import sys
import time

import keras
import pytest

from keras_vaf.utils import engines
from keras_vaf.utils.engines import check_engine, open_engine
from keras_vaf.utils.extras import hide_tensorflow
from keras_vaf.utils.worker_calls import keras_settings, with_keras_settings
from tests.clusters import cluster

pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
pytestmark = pytest.mark.backend("jax")


def results(engine, tasks):
    """Return the results of tasks, in the order in which they end."""
    found = []
    while tasks:
        for task in engine.wait(tasks):
            tasks.remove(task)
            found.append(task.result())
    return found


@pytest.fixture
def logged():
    """Collect what Dask logs in this process."""
    records = queue.SimpleQueue()
    handler = logging.handlers.QueueHandler(records)
    loggers = [logging.getLogger(f"distributed{part}") for part in ("", ".client")]
    for each in loggers:
        each.addHandler(handler)
    yield records
    for each in loggers:
        each.removeHandler(handler)


def test_here_runs_in_order_and_only_what_is_asked_for():
    with open_engine("here") as engine:
        data = engine.share([1, 2])
        tasks = [engine.submit(data.append, number) for number in (3, 4)]
        first, _ = tasks
        assert engine.wait(tasks) == [first]
        first.result()
        assert engine.width == 1

    assert data == [1, 2, 3]


def test_processes_share_a_value_and_outlive_a_kill():
    with open_engine("processes:2") as engine:
        assert engine.width == 2
        value = engine.share(20)
        assert results(engine, [engine.submit(operator.add, value, 1)]) == [21]
        [failed] = engine.wait([engine.submit(operator.truediv, 1, 0)])
        with pytest.raises(ZeroDivisionError):
            failed.result()
        workers = engine._client.run(os.getpid)
        assert os.getpid() not in workers.values()
        assert all(
            address.split("://")[1].startswith("127.0.0.1:") for address in workers
        )

        tasks = [engine.submit(time.sleep, 0.2) for _ in range(4)]
        os.kill(next(iter(workers.values())), signal.SIGKILL)

        assert results(engine, tasks) == [None] * 4


def test_processes_of_two_commands_do_not_disturb_each_other():
    """Dask warns if both want the same port, and pytest turns this into an error."""
    with open_engine("processes:1") as one, open_engine("processes:1") as other:
        assert results(one, [one.submit(int)]) == [0]
        assert results(other, [other.submit(int)]) == [0]


def test_the_scheduler_imports_no_backend(tmp_path):
    """Such an import would block it for seconds, and need the package there."""
    with cluster(tmp_path, workers=1) as (name, _, _), open_engine(name) as engine:
        value = engine.share(keras.activations.relu)
        [result] = results(engine, [engine.submit(operator.call, value, -1.0)])
        assert result == 0
        modules = engine._client.run_on_scheduler(lambda: {*sys.modules})
    assert not {"keras", "keras_vaf"} & modules


def test_a_task_that_kills_its_worker_is_an_error():
    once = dask.config.set({"distributed.scheduler.allowed-failures": 0})
    with once, open_engine("processes:1") as engine:
        task = engine.submit(os._exit, 1)
        with pytest.raises(OSError, match="'processes:1' lost the workers of a"):
            engine.wait([task])


class _WritesWhenImported:
    """An object whose class is imported by a package that writes to descriptor 2."""

    def __reduce__(self):
        return eval, ("__import__('os').write(2, b'a line of TensorFlow') and 1",)


def test_imports_in_own_processes_write_nothing(capfd):
    with open_engine("processes:1") as engine:
        task = engine.submit(operator.neg, _WritesWhenImported())
        assert results(engine, [task]) == [-1]
        shown = engine.submit(os.write, 2, b"shown")
        assert results(engine, [shown]) == [5]
    assert capfd.readouterr().err == "shown"


def test_own_processes_import_tensorflow_only_if_the_driver_can(monkeypatch):
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    with open_engine("processes:1") as engine:
        tasks = [engine.submit(importlib.util.find_spec, "colorsys")]
        hide_tensorflow()
        tasks.append(engine.submit(importlib.util.find_spec, "tensorflow"))
        found, hidden = results(engine, tasks)
    assert (found.name, hidden) == ("colorsys", None)


def test_workers_are_set_as_the_driver_is():
    settings = keras_settings()
    try:
        changed = settings | {"floatx": "float16", "dtype_policy": "mixed_bfloat16"}
        found = with_keras_settings(changed, keras.config.dtype_policy)
        assert (found.name, keras.config.floatx()) == ("mixed_bfloat16", "float16")
    finally:
        with_keras_settings(settings, int)
    with pytest.raises(ValueError, match=r"KERAS_BACKEND=mlx\. Received: .* jax"):
        with_keras_settings(settings | {"backend": "mlx"}, int)


def test_a_lost_cluster_is_named_by_one_error_alone(tmp_path, monkeypatch, logged):
    monkeypatch.setattr(engines, "_SECONDS_TO_CONNECT", 1)
    monkeypatch.setattr(engines, "_SECONDS_WITHOUT_WORKERS", 0.3)
    alone = cluster(tmp_path, workers=0)
    with alone as (name, scheduler, _), open_engine(name) as engine:
        task = engine.submit(os.getpid)
        with pytest.raises(OSError, match=r"no worker for 0.3 seconds\. Every"):
            engine.wait([task])
        scheduler.kill()
        with pytest.raises(OSError, match=r"was lost\. Every finished"):
            engine.wait([task])
        # Dask logs this only if the scheduler is away for longer.
        logging.getLogger("distributed.client").error("Failed to reconnect")
    assert logged.empty()
    logging.getLogger("distributed.client").error("The log is back")
    assert not logged.empty()


def test_an_error_of_a_task_is_raised_and_nothing_else_is_said(capfd):
    with open_engine("processes:1") as engine:
        task = engine.submit(operator.truediv, 1, 0)
        engine.wait([task])
        with pytest.raises(ZeroDivisionError):
            task.result()
    assert capfd.readouterr().err == ""


def test_results_that_were_lost_with_their_worker_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "_SECONDS_WITHOUT_WORKERS", 0.3)
    alone = cluster(tmp_path, workers=1)
    with alone as (name, _, [worker]), open_engine(name) as engine:
        tasks = [engine.submit(os.getpid) for _ in range(2)]
        while not all(task.future.done() for task in tasks):
            time.sleep(0.05)
        worker.kill()
        worker.wait()
        with pytest.raises(OSError, match=r"Every finished"):
            results(engine, tasks)


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch):
    monkeypatch.setattr(engines, "_SECONDS_TO_CONNECT", 0.5)
    with (
        open_engine("dask://127.0.0.1:1") as engine,
        pytest.raises(OSError, match=r"No Dask scheduler answers at '127.0.0.1:1'"),
    ):
        engine.submit(os.getpid)


@pytest.mark.parametrize("name", ["there", "processes:", "processes:0", "processes:-1"])
def test_an_unknown_engine_is_refused(name):
    with pytest.raises(ValueError, match=f"`engine` must be 'here'.*{name!r}"):
        check_engine(name)


def test_a_worker_with_another_version_is_refused_by_name_at_the_start(
    tmp_path, monkeypatch
):
    package = tmp_path / "older" / "keras_vaf"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('__version__ = "0.1.0"\n')
    monkeypatch.chdir(package.parent)  # first in the path of the worker
    with cluster(tmp_path, workers=1) as (name, _, _), open_engine(name) as engine:
        scheduler = engines.require("distributed", extra="dask").Client(
            name.removeprefix("dask://")
        )
        with scheduler:
            scheduler.wait_for_workers(1)
        with pytest.raises(ValueError, match=r"tcp://.* with keras-vaf 0\.1\.0"):
            engine.submit(operator.add, 1, 2)


def test_a_worker_that_joins_with_another_version_refuses_to_work():
    settings = {**keras_settings(), "version": "0.1.0"}
    with pytest.raises(ValueError, match="The workers must have keras-vaf"):
        with_keras_settings(settings, operator.add, 1, 2)

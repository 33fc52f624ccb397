"""A chief and workers: in threads for what they say, in processes that are killed."""

import os
import socket
import sys
import threading
import time

import keras_tuner
import numpy as np
import pytest

from benchmarks.kills import search as search_kills
from keras_vaf.tuners import CrossValidated, Workers, read_trials

pytestmark = pytest.mark.backend("jax")

TRIALS = 4


class Interrupted(BaseException):
    """What ends a worker, as far as its tuner can see."""


class Toy(CrossValidated(keras_tuner.RandomSearch)):
    """Its trials take no time; `ended` is called in each."""

    ended = staticmethod(lambda trial: None)

    def run_trial(self, trial):
        self.ended(trial)
        return {"val_loss": trial.hyperparameters.get("x")}


@pytest.fixture
def port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


@pytest.fixture
def member(tmp_path, port, monkeypatch):
    """Make a chief or a worker of one search."""

    def make(name, **options):
        monkeypatch.setenv("KERASTUNER_TUNER_ID", name)
        monkeypatch.setenv("KERASTUNER_ORACLE_IP", "127.0.0.1")
        monkeypatch.setenv("KERASTUNER_ORACLE_PORT", str(port))
        tuner = Toy(
            lambda hp: hp.Float("x", 0.0, 1.0),
            objective="val_loss",
            max_trials=TRIALS,
            seed=1,
            folds=2,
            stratify=False,
            directory=tmp_path,
            project_name="p",
            **options,
        )
        if name == "chief":
            tuner.oracle.verbose = 0
        return tuner

    return make


def search(tuner):
    tuner.search(np.zeros((4, 1)), np.zeros(4), epochs=1)


def in_thread(tuner):
    thread = threading.Thread(target=search, args=(tuner,), daemon=True)
    thread.start()
    return thread


def test_chief_and_workers_end_when_the_work_ends(member, tmp_path):
    chief = in_thread(member("chief"))
    workers = [in_thread(member(f"worker-{i}")) for i in range(2)]

    for thread in (*workers, chief):
        thread.join(timeout=30)
        assert not thread.is_alive()
    results = read_trials(tmp_path / "p")
    assert [result.status for result in results] == ["COMPLETED"] * TRIALS


def test_the_trial_of_a_worker_that_never_comes_back_is_run(member, tmp_path):
    def end(trial):
        raise Interrupted

    chief = in_thread(member("chief", lease=0.5))
    dying = member("worker-0", lease=0.5)
    dying.ended = end
    with pytest.raises(Interrupted):
        search(dying)
    dying._heartbeat.stop()  # A process takes its threads with it.
    search(member("worker-1", lease=0.5))
    chief.join(timeout=30)

    results = read_trials(tmp_path / "p")
    assert [result.status for result in results] == ["COMPLETED"] * TRIALS


def test_why_a_trial_failed_is_read_from_its_worker(member, tmp_path):
    def fail(trial):
        if trial.trial_id == "0":
            raise FloatingPointError("fold 1 went astray")

    chief = in_thread(member("chief"))
    worker = member("worker-0")
    worker.ended = fail
    search(worker)
    chief.join(timeout=30)

    failed, *_ = read_trials(tmp_path / "p")
    assert failed.status == "FAILED"
    assert "fold 1 went astray" in failed.message


def test_a_worker_without_a_chief_gives_up(member):
    worker = member("worker-0", patience=0.5)
    started = time.monotonic()

    with pytest.raises(ConnectionError, match=r"did not answer for 0\.5 seconds"):
        search(worker)

    assert time.monotonic() - started < 20


def test_a_chief_without_workers_gives_up(member):
    chief = member("chief", patience=0.02)

    with pytest.raises(RuntimeError, match=r"No worker was heard of for 0\.2 seconds"):
        search(chief)


def test_a_port_in_use_is_refused(member, port):
    chief = member("chief")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()

        with pytest.raises(OSError, match=f"127.0.0.1:{port}: the port is in use"):
            search(chief)


def test_an_environment_that_says_half_is_refused(member, monkeypatch):
    member("chief")
    monkeypatch.delenv("KERASTUNER_TUNER_ID")

    with pytest.raises(ValueError, match="Received: no KERASTUNER_TUNER_ID"):
        Toy(objective="val_loss")


def test_a_second_chief_cannot_listen_at_the_same_port(member):
    first = member("chief", patience=0.2)
    with pytest.raises(RuntimeError, match="No worker"):  # after 2 seconds
        thread = threading.Thread(target=_expect_port_in_use, args=(member("chief"),))
        thread.start()
        search(first)
    thread.join()


def _expect_port_in_use(chief):
    time.sleep(0.7)
    with pytest.raises(OSError, match="the port is in use"):
        search(chief)


class TestWorkers:
    """Processes that are started again."""

    def test_they_are_told_where_the_chief_is(self, tmp_path):
        program = "import os; print(os.environ['KERASTUNER_TUNER_ID'], end=' '); "
        program += "print(os.environ['KERASTUNER_ORACLE_PORT'], os.getppid())"
        workers = Workers([sys.executable, "-c", program], 1, tmp_path)

        workers.start(port=77)
        _wait_for(lambda: not workers.alive)

        assert workers.last_words().endswith(f"worker-0 77 {os.getpid()}")
        assert workers.restart_dead() == ["worker-0"]

    def test_the_dead_are_started_again_so_often(self, tmp_path):
        program = "import sys; print('oh'); sys.exit(3)"
        workers = Workers([sys.executable, "-c", program], 1, tmp_path, restarts=2)

        workers.start(port=77)
        gone = []
        while not gone:
            _wait_for(lambda: not workers.alive)
            gone = workers.restart_dead()

        assert gone == ["worker-0"]
        assert (tmp_path / "worker-0.log").read_text() == "oh\n" * 3
        assert workers.alive == []

    def test_they_are_stopped(self, tmp_path):
        workers = Workers([sys.executable, "-c", "input()"], 2, tmp_path)
        workers._command = ["sleep", "60"]
        workers.start(port=77)
        assert workers.alive == ["worker-0", "worker-1"]

        workers.stop()

        assert workers.alive == []

    @pytest.mark.parametrize("count", [0, -1, True, 1.5])
    def test_a_count_that_is_none_is_refused(self, count):
        with pytest.raises(ValueError, match=f"Received: {count}"):
            Workers(["true"], count, "runs")


def _wait_for(happened):
    deadline = time.monotonic() + 30
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_kill_loses_nothing(tmp_path):
    # `python -m benchmarks.kills.search` kills workers and chiefs too, more often.
    counted = search_kills.kill_often(tmp_path / "search", "alone", kills=1)

    assert (counted["hung"], counted["lost"], counted["counted_twice"]) == (0, 0, 0)
    assert counted["run_again"] <= counted["may_run_again"]

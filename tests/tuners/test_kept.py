"""No trial is lost or counted twice, whatever is torn, killed or late."""

import json
import time
from pathlib import Path

import keras_tuner
import numpy as np
import pytest

from keras_vaf.tuners import CrossValidated, read_trials

pytestmark = pytest.mark.backend("jax")

TRIALS = 5


class Interrupted(BaseException):
    """What ends a process, as far as a tuner can see."""


def make(folder, kind=keras_tuner.RandomSearch, ended=None, **options):
    """Return a tuner whose trials are over at once; `ended` is called before each."""

    class Toy(CrossValidated(kind)):
        ran = ()

        def run_trial(self, trial):
            self.ran = (*self.ran, trial.trial_id)
            if ended is not None:
                ended(trial)
            return {"val_loss": trial.hyperparameters.get("x")}

    def build(hp):
        hp.Choice("x", [float(value) for value in range(9)])

    limit = {"max_trials": TRIALS}
    if kind is keras_tuner.Hyperband:
        limit = {"max_epochs": 3, "factor": 3}
    options = {"objective": "val_loss", "seed": 4} | limit | options
    tuner = Toy(
        build, folds=2, stratify=False, directory=folder, project_name="p", **options
    )
    tuner.oracle.verbose = 0
    return tuner


def search(tuner):
    tuner.search(np.zeros((4, 1)), np.zeros(4), epochs=1)


def interrupt_at(number):
    """Return what ends the process in a trial."""

    def ended(trial):
        if int(trial.trial_id) == number:
            raise Interrupted

    return ended


def values(folder):
    return [result.values["x"] for result in read_trials(folder / "p")]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Values of the trials of a search that nothing happened to."""
    folder = tmp_path_factory.mktemp("undisturbed")
    search(make(folder))
    return values(folder)


@pytest.mark.parametrize("number", [0, 2, TRIALS - 1])
def test_an_interrupted_search_goes_on(tmp_path, undisturbed, number):
    with pytest.raises(Interrupted):
        search(make(tmp_path, ended=interrupt_at(number)))

    tuner = make(tmp_path)
    search(tuner)

    assert tuner.ran == tuple(str(n) for n in range(number, TRIALS))
    assert values(tmp_path) == undisturbed
    assert {r.status for r in tuner.results()} == {"COMPLETED"}


@pytest.mark.parametrize("kind", ["GridSearch", "BayesianOptimization"])
def test_other_searches_go_on(tmp_path, kind):
    kind = getattr(keras_tuner, kind)
    with pytest.raises(Interrupted):
        search(make(tmp_path, kind, ended=interrupt_at(2)))

    tuner = make(tmp_path, kind)
    search(tuner)

    assert tuner.ran == ("2", "3", "4")
    assert len(values(tmp_path)) == TRIALS


def test_hyperband_goes_on(tmp_path):
    search(make(tmp_path / "undisturbed", keras_tuner.Hyperband))
    expected = read_trials(tmp_path / "undisturbed" / "p")
    for number in range(len(expected)):
        folder = tmp_path / str(number)
        with pytest.raises(Interrupted):
            search(make(folder, keras_tuner.Hyperband, interrupt_at(number)))

        tuner = make(folder, keras_tuner.Hyperband)
        search(tuner)

        assert [*map(int, tuner.ran)] == [*range(number, len(expected))]
        assert [r.values for r in tuner.results()] == [r.values for r in expected]


def test_a_finished_search_runs_nothing(tmp_path):
    search(make(tmp_path))

    tuner = make(tmp_path)
    search(tuner)

    assert tuner.ran == ()
    assert len(tuner.results()) == TRIALS


def test_trials_are_in_order_after_a_reload(tmp_path):
    search(make(tmp_path, max_trials=12, kind=keras_tuner.RandomSearch))

    tuner = make(tmp_path, max_trials=12)

    assert [r.trial for r in tuner.results()] == [
        f"{n:02d}" for n in range(len(tuner.results()))
    ]


def tear(path):
    """Leave half of a file, as a killed writer does."""
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


@pytest.mark.parametrize("whole", [b"", b"{", b"[]", b"\x00\x01"])
def test_a_torn_state_is_set_aside_and_made_again(tmp_path, capsys, whole):
    with pytest.raises(Interrupted):
        search(make(tmp_path, ended=interrupt_at(3)))
    (tmp_path / "p" / "oracle.json").write_bytes(whole)

    tuner = make(tmp_path)
    search(tuner)

    assert tuner.ran == ("3", "4")
    assert (tmp_path / "p" / "oracle.json.aside-1").read_bytes() == whole
    assert "oracle.json was torn and is now oracle.json.aside-1" in (
        capsys.readouterr().out
    )
    assert len(set(values(tmp_path))) == TRIALS


@pytest.mark.parametrize("kind", ["RandomSearch", "GridSearch"])
def test_a_torn_trial_is_drawn_anew(tmp_path, capsys, kind):
    kind = getattr(keras_tuner, kind)
    search(make(tmp_path, kind))
    tear(tmp_path / "p" / "trial_1" / "trial.json")
    (tmp_path / "p" / "trial_3" / "trial.json").unlink()

    tuner = make(tmp_path, kind)
    search(tuner)

    assert tuner.ran == ("1", "3")
    said = capsys.readouterr().out
    assert "trial 1 was torn and is now trial.json.aside-1" in said
    assert "trial 3 was torn and is now gone" in said
    assert len(set(values(tmp_path))) == TRIALS


def test_everything_torn_at_once(tmp_path):
    search(make(tmp_path))
    for path in (tmp_path / "p").rglob("*.json"):
        if path.name != "protocol.json":
            tear(path)

    tuner = make(tmp_path)
    search(tuner)

    assert len(tuner.ran) == TRIALS
    assert {r.status for r in tuner.results()} == {"COMPLETED"}


def test_a_kill_between_two_files_loses_nothing(tmp_path, undisturbed):
    """After each write of a file of the search, the process ends."""
    writes = 0
    while True:
        folder = tmp_path / str(writes)
        if not _killed_after(folder, writes):
            break
        ended = [
            r.trial
            for r in (
                read_trials(folder / "p") if any(folder.rglob("trial.json")) else ()
            )
            if r.status == "COMPLETED"
        ]
        tuner = make(folder)
        search(tuner)
        assert set(tuner.ran).isdisjoint(ended)
        assert values(folder) == undisturbed
        assert {r.status for r in tuner.results()} == {"COMPLETED"}
        writes += 1
    assert writes > 4 * TRIALS


def _killed_after(folder, writes):
    """Run a search that ends after so many writes; false if it was over before."""
    from keras_vaf.tuners import kept_tuner, oracle

    left = writes
    original = oracle.write_atomically

    def write(path, data):
        nonlocal left
        if left == 0:
            raise Interrupted
        left -= 1
        return original(path, data)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(oracle, "write_atomically", write)
        patch.setattr(kept_tuner, "write_atomically", write)
        try:
            search(make(folder))
        except Interrupted:
            return True
    return False


class TestLease:
    """What the oracle does with workers that die, stall and come back."""

    @pytest.fixture
    def oracle(self, tmp_path):
        oracle = make(tmp_path, max_trials=2).oracle
        oracle.keep(lease=0.1, shared=True)
        return oracle

    @staticmethod
    def complete(oracle, trial, value=1.0):
        oracle.update_trial(trial.trial_id, {"val_loss": value})
        trial.status = "COMPLETED"
        oracle.end_trial(trial)

    def test_the_trial_of_a_dead_worker_goes_to_another(self, oracle):
        lost = oracle.create_trial("a")
        time.sleep(0.15)

        again = oracle.create_trial("b")

        assert again.trial_id == lost.trial_id
        assert again.hyperparameters.values == lost.hyperparameters.values

    def test_a_worker_that_is_heard_of_keeps_its_trial(self, oracle):
        kept = oracle.create_trial("a")
        for _ in range(3):
            time.sleep(0.06)
            oracle.get_trial(kept.trial_id)

        assert oracle.create_trial("b").trial_id != kept.trial_id

    def test_a_worker_that_is_started_again_gets_its_trial_again(self, oracle):
        assert oracle.create_trial("a").trial_id == oracle.create_trial("a").trial_id

    def test_a_late_answer_is_not_counted_twice(self, oracle):
        first = oracle.create_trial("a")
        time.sleep(0.15)
        second = oracle.create_trial("b")
        self.complete(oracle, second, value=1.0)
        self.complete(oracle, first, value=7.0)

        trial = oracle.trials[first.trial_id]
        assert trial.score == 1.0
        assert oracle.end_order == [trial.trial_id]

    def test_the_first_answer_counts_also_from_a_late_worker(self, oracle):
        first = oracle.create_trial("a")
        time.sleep(0.15)
        second = oracle.create_trial("b")
        self.complete(oracle, first, value=7.0)
        self.complete(oracle, second, value=1.0)

        assert oracle.trials[first.trial_id].score == 7.0
        assert oracle.create_trial("b").trial_id != first.trial_id

    def test_an_idle_worker_waits_for_a_trial_that_may_come_back(self, oracle):
        self.complete(oracle, oracle.create_trial("a"))
        lost = oracle.create_trial("a")
        assert oracle.create_trial("b").status == "IDLE"
        assert not oracle.finished
        time.sleep(0.15)

        again = oracle.create_trial("b")
        assert again.trial_id == lost.trial_id
        self.complete(oracle, again)

        assert oracle.finished
        assert oracle.create_trial("b").status == "STOPPED"

    def test_a_chief_that_is_started_again_runs_nothing_twice(self, oracle, tmp_path):
        running = oracle.create_trial("a")
        restarted = make(tmp_path, max_trials=2).oracle
        restarted.keep(lease=60, shared=True)
        restarted.reload()

        other = restarted.create_trial("b")
        self.complete(restarted, running)

        assert other.trial_id != running.trial_id
        assert restarted.trials[running.trial_id].status == "COMPLETED"
        assert restarted.create_trial("a").status == "IDLE"


def test_a_worker_leaves_the_folder_of_all_others_alone(tmp_path, monkeypatch):
    search(make(tmp_path))
    monkeypatch.setenv("KERASTUNER_ORACLE_IP", "127.0.0.1")
    monkeypatch.setenv("KERASTUNER_ORACLE_PORT", "1")
    monkeypatch.setenv("KERASTUNER_TUNER_ID", "worker-0")
    before = {path: path.read_bytes() for path in files(tmp_path)}

    make(tmp_path, overwrite=True)

    assert {path: path.read_bytes() for path in files(tmp_path)} == before


def files(folder: Path):
    return [path for path in folder.rglob("*") if path.is_file()]


def test_state_files_are_json(tmp_path):
    search(make(tmp_path))
    state = json.loads((tmp_path / "p" / "oracle.json").read_bytes())
    assert state["end_order"] == [str(n) for n in range(TRIALS)]

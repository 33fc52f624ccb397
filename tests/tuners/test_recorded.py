"""A search that is interrupted at any moment is resumed, and no trial is lost."""

import keras_tuner
import numpy as np
import pytest

from keras_vaf.tuners import CrossValidated, read_trials
from keras_vaf.tuners.recorded import tuner
from tests.tuners import search_kills

pytestmark = pytest.mark.backend("tensorflow")

TRIALS = 5


class Interrupted(BaseException):
    """The end of a process, as a tuner sees it."""


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
    made = Toy(
        build, folds=2, stratify=False, directory=folder, project_name="p", **options
    )
    made.oracle.verbose = 0
    return made


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

    resumed = make(tmp_path)
    search(resumed)

    assert resumed.ran == tuple(str(n) for n in range(number, TRIALS))
    assert values(tmp_path) == undisturbed
    assert {r.status for r in resumed.results()} == {"COMPLETED"}


@pytest.mark.parametrize("kind", ["GridSearch", "BayesianOptimization"])
def test_other_searches_go_on(tmp_path, kind):
    kind = getattr(keras_tuner, kind)
    with pytest.raises(Interrupted):
        search(make(tmp_path, kind, ended=interrupt_at(2)))

    resumed = make(tmp_path, kind)
    search(resumed)

    assert resumed.ran == ("2", "3", "4")
    assert len(values(tmp_path)) == TRIALS


def test_hyperband_goes_on(tmp_path):
    search(make(tmp_path / "undisturbed", keras_tuner.Hyperband))
    expected = read_trials(tmp_path / "undisturbed" / "p")
    for number in range(len(expected)):
        folder = tmp_path / str(number)
        with pytest.raises(Interrupted):
            search(make(folder, keras_tuner.Hyperband, interrupt_at(number)))

        resumed = make(folder, keras_tuner.Hyperband)
        search(resumed)

        assert [*map(int, resumed.ran)] == [*range(number, len(expected))]
        assert [r.values for r in resumed.results()] == [r.values for r in expected]


def test_a_finished_search_runs_nothing(tmp_path):
    search(make(tmp_path))

    resumed = make(tmp_path)
    search(resumed)

    assert resumed.ran == ()
    assert len(resumed.results()) == TRIALS


def test_trials_are_in_order_after_a_reload(tmp_path):
    search(make(tmp_path, max_trials=12, kind=keras_tuner.RandomSearch))

    resumed = make(tmp_path, max_trials=12)

    assert [r.trial for r in resumed.results()] == [
        f"{n:02d}" for n in range(len(resumed.results()))
    ]


def cut(path):
    """Leave half of a file, as a killed writer does."""
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


@pytest.mark.parametrize("kind", ["RandomSearch", "GridSearch"])
def test_an_incomplete_trial_runs_again(tmp_path, capsys, kind):
    kind = getattr(keras_tuner, kind)
    search(make(tmp_path, kind))
    before = values(tmp_path)
    cut(tmp_path / "p" / "trial_1" / "trial.json")
    (tmp_path / "p" / "trial_3" / "trial.json").unlink()

    resumed = make(tmp_path, kind)
    search(resumed)

    assert resumed.ran == ("1", "3")
    said = capsys.readouterr().out
    assert "trial 1 was incomplete and is now trial.json.aside-1" in said
    assert values(tmp_path) == before


def test_every_file_incomplete_at_once(tmp_path):
    search(make(tmp_path))
    for path in (tmp_path / "p").rglob("*.json"):
        if path.name != "protocol.json":
            cut(path)

    resumed = make(tmp_path)
    search(resumed)

    assert len(resumed.ran) == TRIALS
    assert {r.status for r in resumed.results()} == {"COMPLETED"}


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
                read_trials(folder / "p")
                if any((folder / "p").glob("trial_*/trial.json"))
                else ()
            )
            if r.status == "COMPLETED"
        ]
        resumed = make(folder)
        search(resumed)
        assert set(resumed.ran).isdisjoint(ended)
        assert values(folder) == undisturbed
        assert {r.status for r in resumed.results()} == {"COMPLETED"}
        writes += 1
    assert writes == TRIALS


def _killed_after(folder, writes):
    """Run a search that ends after `writes` writes; return false if it was over."""
    left = writes
    original = tuner.write_atomically

    def write(path, data):
        nonlocal left
        if left == 0:
            raise Interrupted
        left -= 1
        return original(path, data)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuner, "write_atomically", write)
        try:
            search(make(folder))
        except Interrupted:
            return True
    return False


@pytest.mark.backend("jax")
def test_a_kill_loses_nothing(tmp_path):
    counted = search_kills.kill_often(tmp_path / "search", kills=1)

    assert (counted["hung"], counted["lost"], counted["counted_twice"]) == (0, 0, 0)
    assert counted["run_again"] <= counted["may_run_again"]


def test_a_distributed_search_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("KERASTUNER_ORACLE_IP", "127.0.0.1")

    with pytest.raises(ValueError, match="Received: KERASTUNER_ORACLE_IP=127"):
        make(tmp_path)


def play(folder, most, kind):
    """Run trials until `most` ended, and return their values."""
    made = (
        make(folder, kind, max_trials=12)
        if kind != keras_tuner.Hyperband
        else (make(folder, kind, max_epochs=9))
    )
    ended = 0
    while ended < most and (trial := made.next_trial()) is not None:
        made.end(trial)
        ended += 1
    return [trial.hyperparameters.values for trial in made.oracle.trials.values()]


@pytest.mark.parametrize("kind", ["RandomSearch", "GridSearch", "Hyperband"])
def test_a_search_that_stops_after_any_trial_draws_the_same_values(tmp_path, kind):
    kind = getattr(keras_tuner, kind)
    expected = play(tmp_path / "undisturbed", 100, kind)
    assert len(expected) > 8
    for _ in expected:
        play(tmp_path / "stopped", 1, kind)

    assert play(tmp_path / "stopped", 100, kind) == expected


def test_a_replay_does_not_fit_the_gaussian_process_again(tmp_path, monkeypatch):
    oracle = keras_tuner.oracles.BayesianOptimizationOracle
    kind = keras_tuner.BayesianOptimization
    search(make(tmp_path, kind, max_trials=6, num_initial_points=3))
    monkeypatch.setattr(oracle, "_vectorize_trials", None)

    resumed = make(tmp_path, kind, max_trials=6, num_initial_points=3)

    assert len(resumed.results()) == 6


def test_a_search_can_be_extended(tmp_path):
    search(make(tmp_path))
    first = values(tmp_path)

    extended = make(tmp_path, max_trials=TRIALS + 3)
    search(extended)

    assert values(tmp_path)[:TRIALS] == first
    assert len(extended.ran) == 3


def test_a_search_without_a_seed_keeps_the_drawn_one(tmp_path):
    with pytest.raises(Interrupted):
        search(make(tmp_path, ended=interrupt_at(2), seed=None))

    assert (
        make(tmp_path, seed=None).oracle.seed == make(tmp_path, seed=None).oracle.seed
    )

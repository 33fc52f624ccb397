"""`--engine` of `compare` and `search`: lost clusters and signals."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import keras_vaf_cli.compare
from keras_vaf.experiments import Store
from keras_vaf.utils import engines
from keras_vaf_cli import main
from keras_vaf_cli.progress import Progress
from tests.cli.test_careless_tables import csv
from tests.clusters import cluster

pytest.importorskip("distributed")
pytest.importorskip("keras_tuner")
pytestmark = pytest.mark.backend("torch")  # which compiles nothing

ROOT = Path(__file__).parents[2]
TIMEOUT = 300
TRAINING = "table.csv --target t --epochs 2 --hidden 3 --output out"
COMPARE = f"compare {TRAINING} --activations relu"
SEARCH = f"search {TRAINING} --folds 2 --baselines none"


@pytest.fixture(autouse=True)
def table(tmp_path, monkeypatch):
    """A folder with a table."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(engines, "_SECONDS_TO_CONNECT", 3)
    (tmp_path / "table.csv").write_text(csv())


def finished(folder=Path()):
    """Return the files of the finished trainings, and their content."""
    out = folder / "out"
    return {path: path.read_bytes() for path in out.rglob("seed-*.json")}


def check_loss_and_continue(line, name, said):
    """Check a run on a cluster that is lost, and the run that continues."""
    assert main(f"{line} --engine {name}".split()) == 2
    *_, sentence = said().err.splitlines()
    assert sentence.startswith(f"keras-vaf: The cluster '{name}' ")
    assert sentence.endswith("run this again.")
    kept = finished()
    assert len(kept) == 1

    assert main(line.split()) == 0

    assert kept.items() <= finished().items()


def test_a_comparison_that_loses_its_workers_continues(tmp_path, monkeypatch, capfd):
    class KillAfterTheFirst(Progress):
        def __call__(self, items, total):
            for item in items:
                yield item
                worker.kill()
                worker.wait()
                monkeypatch.setattr(engines, "_SECONDS_WITHOUT_WORKERS", 0.5)

    with (
        cluster(tmp_path, workers=1) as (name, _, [worker]),
        monkeypatch.context() as m,
    ):
        m.setattr(keras_vaf_cli.compare, "Progress", KillAfterTheFirst)
        check_loss_and_continue(f"{COMPARE} --folds 3", name, capfd.readouterr)


def test_a_search_that_loses_its_scheduler_continues(tmp_path, monkeypatch, capfd):
    write = Store.write

    def kill_after_the_first(store, *report):
        write(store, *report)
        scheduler.kill()
        scheduler.wait()

    with (
        cluster(tmp_path, workers=1) as (name, scheduler, _),
        monkeypatch.context() as m,
    ):
        m.setattr(Store, "write", kill_after_the_first)
        check_loss_and_continue(f"{SEARCH} --trials 2", name, capfd.readouterr)


SIGNALS = {
    f"{COMPARE} --folds 10 --seeds 0,1,2,3,4,5,6,7,8,9": (signal.SIGTERM, 143),
    f"{SEARCH} --trials 100": (signal.SIGINT, 130),
}


def start(line, folder):
    """Start a command with one worker process, in a new folder."""
    folder.mkdir()
    shutil.copy("table.csv", folder)
    return subprocess.Popen(
        [sys.executable, "-m", "keras_vaf_cli", *line.split(), "--engine=processes:1"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        # Background processes of a shell ignore SIGINT.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def test_a_signal_ends_a_command_and_its_processes(tmp_path, request):
    folders = [tmp_path / str(number) for number in range(len(SIGNALS))]
    # The commands run at the same time, because both spend most of it on imports.
    processes = list(map(start, SIGNALS, folders))
    request.addfinalizer(lambda: [process.kill() for process in processes])
    for process, folder, (number, code) in zip(
        processes, folders, SIGNALS.values(), strict=True
    ):
        deadline = time.monotonic() + TIMEOUT
        while (
            not finished(folder)
            and process.poll() is None
            and time.monotonic() < deadline
        ):
            time.sleep(0.02)
        process.send_signal(number)
        _, said = process.communicate(timeout=TIMEOUT)  # waits for its processes too
        assert process.returncode == code, said
        assert said.splitlines()[-1].startswith("keras-vaf: ")
        assert "Traceback" not in said
        assert finished(folder)
        assert not any(folder.rglob(".tmp-*"))

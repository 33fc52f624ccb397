"""A map that is killed at any moment repeats no finished cell, and loses none."""

import multiprocessing
import random
import time

import pytest

from keras_vaf.research.map.report import MapStore
from keras_vaf.research.map.running import MapRun
from keras_vaf.research.map.task import Settings, Task
from tests.research.map.test_activation_map import ARMS, FakeRun

pytestmark = [pytest.mark.backend("jax"), pytest.mark.nightly]

KILLS = 6
SECONDS = 0.05  # of a cell


class SlowRun(FakeRun):
    """A dataset whose cells take a moment, and are noted in a file when they begin."""

    def _train(self, arm, steps, rates, seeds):
        with open(self.store.root / "begun.txt", "a") as file:
            file.write(f"{arm.name} {steps} {rates} {seeds}\n")
        time.sleep(SECONDS)
        return super()._train(arm, steps, rates, seeds)

    def _measure(self, arms):
        time.sleep(SECONDS)
        return {"relu": 1.0, "gelu": 2.0, "vaf-relu": 4.0}, {}

    times = MapRun.times


def play(folder):
    """Train what is missing: what a killed process does."""
    task = Task("fake", "Fake", ("one",), ARMS, Settings(100), Settings(2), None)
    store = MapStore(folder)
    SlowRun(task, "one", task.settings, ARMS, store, say=lambda line: None).run()


def kill_after(seconds, folder):
    """Run in a separate process, and kill it."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["jax", __name__])
    process = context.Process(target=play, args=(folder,))
    process.start()
    process.join(seconds)
    process.kill()
    process.join()


def stamps(folder):
    """Return when each report was written."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*.json")}


def contents(folder):
    """Return the reports, without the times, which contain the load."""
    found = {path.relative_to(folder): path.read_text() for path in stamps(folder)}
    return {path: text for path, text in found.items() if path.name != "times.json"}


def test_a_map_killed_at_random_moments_repeats_no_finished_cell(tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    killed.mkdir()
    play(whole)
    moments = random.Random(time.time_ns())

    finished = {}
    for _ in range(KILLS):
        kill_after(moments.uniform(0, 16 * SECONDS), killed)
        assert finished.items() <= stamps(killed).items()
        finished = stamps(killed)
    play(killed)

    assert finished.items() <= stamps(killed).items()
    assert contents(killed) == contents(whole)
    begun = [
        (folder / "begun.txt").read_text().splitlines() for folder in (killed, whole)
    ]
    assert {*begun[0]} == {*begun[1]}
    assert len(begun[0]) <= len(begun[1]) + KILLS

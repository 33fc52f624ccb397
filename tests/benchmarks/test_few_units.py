"""The trainings of `docs/records/registered_0_4.md` are those that it registers."""

import pytest

from benchmarks import few_units
from benchmarks.few_units import FEW, QUESTIONS, SEEDS, Cell
from keras_vaf.models import mlp

pytestmark = pytest.mark.backend("tensorflow")


def test_there_are_as_many_trainings_as_registered():
    numbers = dict.fromkeys(QUESTIONS, 0)
    for cell in few_units.cells():
        rates = QUESTIONS[cell.question][cell.activation]
        numbers[cell.question] += len(rates) * len(SEEDS)
    assert numbers == {0: 750, 2: 2400, 4: 2400, 8: 2400, 16: 2400}


@pytest.mark.parametrize("inputs", [4, 8, 9, 100])
@pytest.mark.parametrize("units", [2, 16])
def test_rivals_have_the_fewest_units_with_at_least_as_many_parameters(inputs, units):
    def size(name, less=0):
        cell = Cell(units, "any", name)
        [width] = cell.hidden(inputs)
        return mlp(inputs, [width - less], 1, cell.layer).count_params()

    for rival in set(FEW) - {"vaf-silu"}:
        assert size(rival, less=1) < size("vaf-silu") <= size(rival)


def test_finished_cells_are_not_trained_again(tmp_path, monkeypatch):
    trained, cells = [], [Cell(0, "a", "relu"), Cell(2, "a", "tanh")]
    monkeypatch.setattr(few_units, "load", lambda name: name)
    monkeypatch.setattr(
        few_units, "train", lambda cell, _: trained.append(cell) or [cell]
    )
    for todo in (cells[:1], cells):
        monkeypatch.setattr(few_units, "cells", lambda todo=todo: todo)
        few_units.main(tmp_path / "runs.csv")
    assert trained == cells
    lines = (tmp_path / "runs.csv").read_text(encoding="utf-8").splitlines()
    assert lines[1:] == ["0,a,relu", "2,a,tanh"]

"""The picture of the map has one panel for each task, and tasks are tested together."""

import dataclasses
import math

import numpy as np
import pytest
from scipy import stats

from keras_vaf.research.map.figure import map_figure
from keras_vaf.research.map.results import Gain, MapRow, gains_of_tasks
from keras_vaf.research.map.task import Settings, Task
from tests.research.map.test_activation_map import ARMS

pytestmark = pytest.mark.backend("tensorflow")

RELU, VAF = (next(arm for arm in ARMS if arm.kind == kind) for kind in ("fixed", "vaf"))


def make_task(name, **fields):
    settings = Settings(1), Settings(1)
    return Task(name, name.title(), ("one", "two"), ARMS, *settings, None, **fields)


def make_row(task, dataset, arm, *errors):
    return MapRow(
        *(task, dataset, "steps", arm, errors, 0.1, 0.01, 4, 10, 100),
        ratio=None,
        compilation=None,
        load=None,
        more={},
    )


def make_rows(task, *errors):
    return [
        make_row(task, dataset, arm, *values)
        for dataset in ("one", "two")
        for arm, values in ((RELU, (1.0, 1.0, 1.0)), (VAF, errors))
    ]


def test_each_task_with_results_has_a_panel_with_its_arms():
    tasks = [make_task("first"), make_task("second"), make_task("third")]
    rows = [*make_rows("third", 0.5, 0.51, 0.49), make_row("first", "one", RELU, 1.0)]
    first, third = map_figure(rows, tasks).axes
    assert [ax.get_title(loc="left") for ax in (first, third)] == ["First", "Third"]
    labels = [
        [text.get_text() for text in ax.get_xticklabels()] for ax in (first, third)
    ]
    assert labels == [[RELU.title], [RELU.title, VAF.title]]
    assert [text.get_text() for text in third.get_yticklabels()] == ["one", "two"]
    cells = {text.get_text(): text.get_weight() for text in third.texts}
    assert cells == {"+0.00": "normal", "+1.00": "bold"}


def test_the_interval_of_a_ratio_is_that_of_the_logarithms():
    errors = np.array([0.5, 0.7, 0.4])
    [found] = gains_of_tasks(make_rows("first", *errors), [make_task("first")]).values()
    logs = np.log(errors)
    expected = stats.t.interval(0.95, 2, logs.mean(), stats.sem(logs))
    low, high = np.exp(expected)
    assert found.gain.interval == pytest.approx((low, high))
    mean = stats.gmean(errors)
    assert found.gain.ratio_text == f"{mean:.3g} ({low:.3g} to {high:.3g})"


def test_a_single_seed_has_a_ratio_without_interval():
    found = Gain((1.0,))
    assert found.ratio_text == "0.5"
    assert found.interval == (0, math.inf)


def test_p_values_are_corrected_for_the_tasks_that_count():
    tasks = [make_task("first"), make_task("second", counts=False), make_task("third")]
    tasks.append(make_task("missing"))
    rows = [
        *make_rows("first", 0.5, 0.51, 0.49),
        *make_rows("second", 0.5, 0.51, 0.49),
        *make_rows("third", 2.0, 0.5, 1.0),
    ]
    found = gains_of_tasks(rows, tasks)
    assert list(found) == ["first", "second", "third"]
    assert found["first"].p_value == pytest.approx(2 * found["first"].gain.p_value)
    assert found["first"].is_significant and not found["third"].is_significant
    assert found["second"].p_value is None and not found["second"].is_significant
    assert found["first"].gain.ratio == pytest.approx(0.5, rel=0.01)
    alone = gains_of_tasks(rows, tasks[:1])
    assert alone["first"].p_value == found["first"].gain.p_value
    assert dataclasses.replace(found["first"], p_value=0.05).is_significant is False

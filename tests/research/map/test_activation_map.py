"""The map: its selections, its trainings and its table."""

import dataclasses
import math

import keras
import numpy as np
import pytest

from keras_vaf.experiments.reports.report_files import write_reports
from keras_vaf.research.map.arm import EVERYWHERE, FIXED, VAFS
from keras_vaf.research.map.making import make_map
from keras_vaf.research.map.own import find_arms, find_tasks
from keras_vaf.research.map.report import (
    LaneResult,
    MapReport,
    MapStore,
    Times,
    pack,
    unpack,
)
from keras_vaf.research.map.results import (
    Gain,
    best_of,
    gain_of_task,
    map_rows,
)
from keras_vaf.research.map.running import MapRun
from keras_vaf.research.map.tables import map_table
from keras_vaf.research.map.tabular import (
    tabular_reports,
    tabular_rows,
    tabular_tasks,
)
from keras_vaf.research.map.task import Settings, Task
from keras_vaf.research.map.tasks import TASKS, images
from keras_vaf.research.map.tasks.networks import make_network
from keras_vaf.research.map.tasks.physics import EQUATIONS
from tests.experiments.fakes import make_arm

any_backend = pytest.mark.backend("tensorflow")
on_jax = pytest.mark.skipif(keras.backend.backend() != "jax", reason="needs JAX")

ARMS = (*FIXED[:2], VAFS[0])
BEST = {"relu": 0.003, "gelu": 0.03, "vaf-relu": 0.001}


class FakeRun(MapRun):
    """A dataset whose error is known: (log10(rate / best))^2 + 0.1."""

    def _train(self, arm, steps, rates, seeds):
        lanes = tuple(
            LaneResult(seed, rate, error, error + 0.01 * seed)
            for rate in rates
            for seed in seeds
            for error in [math.log10(rate / BEST[arm.name]) ** 2 + 0.1]
        )
        return MapReport(
            *("fake", self.dataset, arm.name, dataclasses.asdict(arm), self.settings),
            *(steps, lanes, 7, 1.0, {}),
        )

    def times(self):
        seconds = {"relu": 1.0, "gelu": 2.0, "vaf-relu": 4.0}
        return Times("fake", self.dataset, self.settings, seconds, seconds, 0.0, {})


@pytest.fixture
def run(tmp_path):
    task = Task("fake", "Fake", ("one",), ARMS, Settings(100), Settings(2), None)
    store = MapStore(tmp_path)
    return FakeRun(task, "one", task.settings, ARMS, store, say=lambda line: None)


@any_backend
def test_the_grid_grows_for_all_arms_where_one_is_best_at_an_edge(run):
    best, grid = run.rates("steps")
    assert best == BEST
    assert grid == (0.0003, 0.001, 0.003, 0.01, 0.03, 0.09)
    for arm in ARMS:
        assert len(run.validation(arm, "steps", grid)) == len(grid)


@any_backend
def test_equal_time_gives_slow_arms_fewer_steps(run):
    assert [run.steps(arm, "time") for arm in ARMS] == [100, 50, 25]
    assert {run.steps(arm, "steps") for arm in ARMS} == {100}


@any_backend
def test_nothing_is_trained_twice_and_a_broken_file_is_trained_again(run, tmp_path):
    run.run()
    files = sorted(tmp_path.rglob("*.json"))
    stamps = [file.stat().st_mtime_ns for file in files]
    files[0].write_text('{"format": 1')
    run.run()
    assert sorted(tmp_path.rglob("*.json")) == files
    changed = [f.stat().st_mtime_ns != s for f, s in zip(files, stamps, strict=True)]
    assert changed == [True] + [False] * (len(files) - 1)
    assert len(list(tmp_path.rglob("*.aside-1"))) == 1


@any_backend
def test_other_settings_have_other_files(run, tmp_path):
    run.run()
    before = len(list(tmp_path.rglob("*.json")))
    dataclasses.replace(run, settings=Settings(100, batch=8)).run()
    assert len(list(tmp_path.rglob("*.json"))) == 2 * before


@any_backend
def test_rows_come_from_reports_alone(run, tmp_path):
    reader = dataclasses.replace(run, train=False)
    assert map_rows(reader, "time") == []
    run.run()
    rows = map_rows(reader, "time")
    assert [row.arm.name for row in rows] == ["relu", "gelu", "vaf-relu"]
    assert {row.tries for row in rows} == {12}
    assert [row.ratio for row in rows] == [1.0, 2.0, 4.0]
    assert best_of(rows, "vaf").arm.name == "vaf-relu"
    assert pack(tmp_path, tmp_path / "all.json.gz") == len(
        list(tmp_path.rglob("*.json"))
    )
    unpack(tmp_path / "all.json.gz", tmp_path / "copy")
    other = dataclasses.replace(reader, store=MapStore(tmp_path / "copy"))
    assert map_rows(other, "time") == rows


@any_backend
def test_the_table_has_a_verdict_for_each_task(run):
    run.run()
    table = map_table(map_rows(run, "steps"), [run.task])
    assert len(table.lines) == 3
    assert "1 (1 to 1) times the error" in table.notes[0]
    assert gain_of_task(map_rows(run, "steps")).mean == 0


@any_backend
def test_a_gain_is_a_paired_test():
    better = Gain((1.0, 1.1, 0.9, 1.0, 1.0))
    assert better.p_value < 0.001
    assert better.half_width < 0.1
    assert Gain((1.0, -1.0, 0.5, -0.5)).p_value == 1
    assert Gain((-math.inf, 1.0)).p_value == 1
    assert Gain((1.0,)).p_value == 1  # a single seed


@any_backend
def test_fixed_functions_and_vafs_are_equally_many_in_every_task():
    for task in TASKS:
        kinds = [arm.kind for arm in task.arms]
        assert kinds.count("fixed") == kinds.count("vaf"), task.name
        assert len({arm.name for arm in task.arms}) == len(kinds)
        assert task.settings.digest != task.quick.digest
        assert not {*task.settings.seeds} & {*task.settings.choice_seeds}
    assert len(TASKS) == 7
    assert len(EVERYWHERE) == 13


@any_backend
def test_an_added_arm_changes_the_time_of_no_other_one(run, monkeypatch):
    times = {"relu": 1.0, "gelu": 2.0}
    monkeypatch.setattr(
        MapRun, "_measure", lambda self, arms: ({a: times[a] for a in arms}, {})
    )
    small = dataclasses.replace(run, arms=ARMS[:2])
    assert MapRun.times(small).seconds == times
    times |= {"relu": 3.0, "gelu": 1.0, "vaf-relu": 12.0}  # now all is slower
    found = MapRun.times(run).seconds
    assert found == {"relu": 1.0, "gelu": 2.0, "vaf-relu": 4.0}


def uniform(values, limit):
    largest = np.abs(values).max()
    return 0.8 * limit < largest <= limit


@any_backend
@pytest.mark.parametrize(
    "name", ["sin-siren", "vaf-sin-siren", "finer", "staf", "staf-code"]
)
def test_networks_of_sines_start_as_published(name):
    """SIREN, FINER and STAF, written again from their papers and code."""
    arm = next(arm for arm in images.TASK.arms if arm.name == name)
    model = make_network(2, (48, 48), 3)(arm, 5)
    x = np.random.default_rng(0).uniform(-1, 1, (7, 2))
    hidden = x
    denses = [layer for layer in model.layers if hasattr(layer, "kernel")]
    for place, dense in enumerate(denses):
        kernel, bias = map(keras.ops.convert_to_numpy, (dense.kernel, dense.bias))
        inputs = len(kernel)
        plain = inputs**-0.5
        siren = 0.5 if place == 0 else (6 / inputs) ** 0.5 / 30
        assert uniform(kernel, plain if name.startswith("staf") else siren)
        assert len(bias) < 9 or uniform(bias, plain)
        hidden = hidden @ kernel.astype("float64") + bias
        if name.endswith("sin-siren") and place < 2:
            hidden = np.sin(30 * hidden)
        if name == "finer" and place < 2:
            hidden = np.sin(30 * (np.abs(hidden) + 1) * hidden)
        if name.startswith("staf") and place < 2:
            layer = model.layers[2 * place + 1]
            w, p, c, zero = map(keras.ops.convert_to_numpy, layer.vaf.weights)
            sines = (c * np.sin(w * hidden[..., None] + p)).sum(-1)
            code = name == "staf-code"
            assert 0 <= w.min() <= w.max() <= (60 if code and place == 0 else 30)
            assert w.max() > 10 and np.abs(p).max() <= np.pi and zero == 0
            hidden = sines + hidden if code and place else sines
    found = keras.ops.convert_to_numpy(model(x.astype("float32")))
    np.testing.assert_allclose(found, hidden, atol=2e-4)


@any_backend
@pytest.mark.nightly  # 17 seconds: it makes 800 layers
def test_outputs_of_staf_have_a_variance_of_one():
    """Over many starts; its code has a quarter of it."""
    x = np.random.default_rng(0).uniform(-1, 1, 500)
    for power, variance in ((0.4, 1.0), (0.1, 0.25)):
        each = [images.Staf(power=power, seed=s).vaf.function(x) for s in range(400)]
        assert abs(np.var(each) / variance - 1) < 0.15


@any_backend
def test_tabular_tasks_are_read_from_reports_of_cross_validations(tmp_path):
    """Two datasets, of which one has a perfect classifier in every fold."""
    fields = {"protocol": {"folds": 4}, "task": "classification"}
    better = {"relu": 0.8, "gelu": 0.85, "vaf-relu": 1.0, "prelu": 0.9}
    reports = [
        report
        for name, score in better.items()
        for report in make_arm(name, [score] * 4, validation=[score] * 4, **fields)
    ]
    write_reports(tmp_path / "some.json.xz", reports)
    rows = tabular_rows(tabular_reports([tmp_path]))
    assert [row.arm.kind for row in rows] == ["fixed", "fixed", "vaf", "rival"]
    assert best_of(rows, "fixed").arm.name == "gelu"
    assert all(row.error > 0 and row.overlap == 0.25 for row in rows)
    (task,) = tabular_tasks(rows)
    assert (task.name, task.datasets) == ("classification", ("toy",))
    assert gain_of_task(rows).mean > 0 > gain_of_task(rows, "rival", "vaf").mean
    table = map_table(rows, [task])
    assert "times the rival's" in table.notes[0]
    with pytest.raises(ValueError, match="--protocol ours"):
        task.make("toy", task.settings)


@any_backend
def test_folds_that_share_rows_have_larger_p_values():
    values = (0.1, 0.3, 0.2, 0.4)
    assert Gain(values, 0.25).p_value > Gain(values).p_value
    assert Gain(values, 0.25).half_width > Gain(values).half_width


@any_backend
def test_seeds_that_choose_are_not_scored():
    with pytest.raises(ValueError, match="must not be scored"):
        Settings(10, seeds=(100, 1))


@any_backend
@pytest.mark.parametrize("name", ["seeds", "choice_seeds", "rates"])
def test_equal_values_do_not_count_as_repetitions(name):
    with pytest.raises(ValueError, match=f"`{name}` must differ"):
        Settings(10, **{name: (1, 1, 1)})


@any_backend
def test_equal_tasks_and_activations_are_refused():
    with pytest.raises(ValueError, match="`tasks` must differ"):
        find_tasks(["special", "special"])
    with pytest.raises(ValueError, match="`activations` must differ"):
        find_arms(*find_tasks(["special"]), ["relu", "relu"])


@any_backend
@pytest.mark.parametrize("name", EQUATIONS)
def test_the_solution_of_an_equation_has_the_boundary_values_of_the_network(name):
    equation = EQUATIONS[name]
    points, values = equation.solution()
    assert points.shape == (len(values), equation.inputs)
    assert np.isfinite(values).all()
    edge = np.abs(points[:, 0]) == 1
    flat = equation.field(lambda x: keras.ops.ones_like(x[..., :1]), points[edge])
    np.testing.assert_allclose(
        keras.ops.convert_to_numpy(flat), values[edge], atol=1e-6
    )


@on_jax
@pytest.mark.parametrize("name", EQUATIONS)
def test_the_solution_leaves_no_residual(name):
    """The residual of the solution, which is interpolated as a smooth function."""
    import jax.numpy as jnp

    exact = {
        "poisson": lambda x: jnp.sin(2 * jnp.pi * x) + 0.1 * jnp.sin(16 * jnp.pi * x),
        "helmholtz": lambda x: (
            jnp.sin(jnp.pi * x[..., :1]) * jnp.sin(4 * jnp.pi * x[..., 1:])
        ),
    }
    if name not in exact:
        pytest.skip("its solution has no closed form without quadrature")
    equation = EQUATIONS[name]
    points = np.random.default_rng(0).uniform(-1, 1, (50, equation.inputs))
    rest = equation.residual(exact[name], jnp.asarray(points, "float32"))
    assert np.abs(np.asarray(rest)).max() < 1e-3


@any_backend
def test_names_of_tasks_and_activations(tmp_path):
    (task,) = find_tasks(["special"])
    assert task.name == "special"
    assert [a.name for a in find_arms(task, ["vaf-relu", "maxmin"])] == ["vaf-relu"]
    for names in (["spezial"], [f"{tmp_path}/none.py:f"]):
        with pytest.raises((ValueError, FileNotFoundError)):
            find_tasks(names)
    with pytest.raises(ValueError, match="or FILE"):
        find_arms(task, ["vaf-rely"])


@any_backend
@pytest.mark.parametrize(
    "text, message",
    [
        ("def my_task(:", "cannot be run: SyntaxError"),
        ("import no_such_package", "cannot be run: ModuleNotFoundError"),
        ("x = 1", "does not define 'my_task'"),
        ("my_task = 1", "a function that returns a Task"),
        (
            "def my_task(x):\n    return x",
            "TypeError: .* 1 required positional argument",
        ),
        ("def my_task():\n    return 1", "a function that returns a Task"),
        ("def my_task():\n    return 1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_a_file_without_a_task_is_refused_with_its_reason(tmp_path, text, message):
    path = tmp_path / "mine.py"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        find_tasks([f"{path}:my_task"])


@any_backend
@pytest.mark.parametrize("text", ["Mine = 1", "def Mine():\n    return 1"])
def test_a_file_without_a_class_of_layers_is_refused(tmp_path, text):
    path = tmp_path / "mine.py"
    path.write_text(text)
    (task,) = find_tasks(["special"])
    with pytest.raises(ValueError, match="Expected a class of layers"):
        find_arms(task, [f"{path}:Mine"])


OWN = """
import keras

from keras_vaf.research.map.tasks import oscillating
import dataclasses

class Cubed(keras.layers.Layer):
    def call(self, inputs):
        return inputs ** 3

def my_task():
    return dataclasses.replace(oscillating.TASK, name="mine", datasets=("chirp",))
"""


@on_jax
def test_ones_own_activation_and_task_from_a_file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(OWN)
    tasks = find_tasks([f"{path}:my_task"])
    names = ["relu", "vaf-relu", f"{path}:Cubed"]
    lines = []
    tables = make_map(tasks, names, quick=True, output=tmp_path, say=lines.append)
    assert [line[2] for line in tables["time"].lines] == [
        *("ReLU (chosen)", "VAF from ReLU (chosen)", "Cubed")
    ]
    assert (tmp_path / "map-steps.png").stat().st_size > 1000
    count = len(lines)
    make_map(tasks, names, quick=True, output=tmp_path, say=lines.append)
    assert len(lines) == count


UNFIT = """
import keras

class Summed(keras.layers.Layer):
    def call(self, inputs):
        return keras.ops.sum(inputs, axis=-1)

class Sized(keras.layers.Layer):
    def __init__(self, size, **arguments):
        super().__init__(**arguments)
"""


@on_jax
@pytest.mark.parametrize("name", ["Summed", "Sized"])
def test_an_activation_that_does_not_fit_is_refused_by_name(tmp_path, name):
    path = tmp_path / "mine.py"
    path.write_text(UNFIT)
    names = ["relu", "vaf-relu", f"{path}:{name}"]
    with pytest.raises(ValueError, match=f"can be built .* Received: {name}"):
        make_map(find_tasks(["oscillating"]), names, quick=True, output=tmp_path)

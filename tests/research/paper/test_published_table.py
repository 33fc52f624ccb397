"""Tables of experiments, from reports whose scores were written by hand."""

import dataclasses
import math
from pathlib import Path

import pytest

from keras_vaf.experiments.results.result import selected_results
from keras_vaf.research.paper import (
    Form,
    Reproduction,
    find_experiment,
    read_reproduction,
)
from keras_vaf.research.paper.published import REGRESSION
from keras_vaf.research.paper.tables.gains_figure import gains_figure
from keras_vaf.research.paper.tables.published_table import published_table, rows_of
from keras_vaf.research.paper.tables.summaries import (
    holm_over_datasets,
    over_datasets,
    summaries_of,
)
from keras_vaf.visualization import style
from tests.experiments.fakes import make_arm, make_protocol, make_report, make_trial

pytestmark = pytest.mark.backend("tensorflow")


def on_servo(variant, scores, **fields):
    """Return reports of a regression."""
    fields = {"protocol": {"dataset": "servo", **fields}}
    return make_arm(variant, scores, "regression", **fields)


def cells(table, activation):
    """Return a line of a table by the titles of its columns."""
    [line] = (
        named
        for line in table.lines
        if (named := dict(zip(table.columns, line, strict=True)))["activation"]
        == activation
    )
    return line


def table_of(reports, name="classification", selection="validation"):
    experiment = dataclasses.replace(
        find_experiment(name), metric=reports[0].protocol.metric
    )
    done = Reproduction(experiment, Form(), tuple(reports))
    return published_table(done, selection)


def test_results_hold_our_numbers_beside_the_published_ones():
    reports = on_servo("relu", [0.3, 0.2, 0.4]) + on_servo("vaf-relu", [0.2, 0.2, 0.5])

    found = selected_results(reports, "rmse", REGRESSION)

    relu, vaf = found["servo", "relu"], found["servo", "vaf-relu"]
    assert (relu.reference, relu.gains, relu.p) == (None, (), None)
    assert vaf.gains == pytest.approx((0.1, 0.0, -0.1))
    assert vaf.p == pytest.approx(1)
    assert (vaf.mean, vaf.baseline) == (pytest.approx(0.3), (0.5, 0.5, 0.5))
    assert (vaf.published.mean, relu.published.mean) == (0.0961, 0.0946)
    constant, _, line = rows_of(found)
    assert (constant["activation"], constant["mean"]) == ("constant", "0.5000")
    assert (line["activation"], line["hidden"]) == ("vaf-relu", "5-3")
    assert (line["mean"], line["rows"]) == ("0.3000", "40")
    assert line["published"] == "0.0961 ± 0.0271 (25)"
    assert line["wins/ties/losses"] == "1/1/1"
    [sentence] = over_datasets(found)
    assert "vaf-relu against relu over 1 datasets" in sentence


def test_every_row_says_how_it_was_made():
    table = table_of(on_servo("relu", [0.3, 0.2]), "regression")

    line = cells(table, "relu")
    assert {name: line[name] for name in ("rows", "folds", "epochs", "device")} == {
        "rows": "40",
        "folds": "2",
        "epochs": "3",
        "device": "cpu",
    }
    assert (line["parameters"], line["seconds"]) == ("41", "2.5")
    assert "balanced" not in table.columns  # of a regression


def test_the_gain_has_its_interval():
    reports = make_arm("relu", [0.5, 0.6, 0.7]) + make_arm("vaf-relu", [0.6, 0.8, 1.0])

    line = cells(table_of(reports), "vaf-relu")

    # t = 4.3027 with 2 degrees of freedom; variance 0.01; 1/3 + 0.5 / 0.5
    assert line["gain"] == "+0.2000 ± 0.4968"
    assert float(line["p"]) > 0.05


def test_balanced_accuracy_stands_beside_accuracy():
    reports = [
        dataclasses.replace(
            report,
            trials=tuple(
                dataclasses.replace(trial, scores={**trial.scores, **balanced})
                for trial in report.trials
            ),
            baseline={"accuracy": 0.9, "balanced_accuracy": 0.5},
        )
        for report, balanced in zip(
            make_arm("relu", [0.9, 0.92]),
            ({"balanced_accuracy": 0.6}, {"balanced_accuracy": 0.7}),
            strict=True,
        )
    ]

    table = table_of(reports)

    assert cells(table, "relu")["balanced"] == "0.6500"
    assert cells(table, "constant")["balanced"] == "0.5000"


def test_optimism_is_what_picking_by_test_scores_adds():
    small = make_arm("relu", [0.6, 0.7])
    large = make_arm("relu", [0.9, 0.8], protocol={"hidden": (9,)})
    for report in large:
        report.trials[0].validation["accuracy"] = 0.5
    reports = [*small, *large]

    by_selection = {
        selection: cells(table_of(reports, selection=selection), "relu")
        for selection in ("validation", "paper")
    }

    assert by_selection["validation"]["hidden"] == "5-3"
    assert by_selection["paper"]["hidden"] == "9"
    assert {line["optimism"] for line in by_selection.values()} == {"0.2000"}


def test_an_architecture_for_each_fold_is_said():
    reports = make_arm("relu", [0.6, 0.9])
    reports += make_arm("relu", [0.8, 0.7], protocol={"hidden": (9,)}, parameters=99)

    line = cells(table_of(reports, selection="literal"), "relu")

    assert (line["hidden"], line["parameters"]) == ("varies", "varies")
    assert (line["mean"], line["optimism"]) == ("0.8500", "0.1000")


def test_without_relu_nothing_is_held_against_it():
    table = table_of(make_arm("vaf-relu", [0.6, 0.7]))

    assert "gain" not in table.columns
    assert "gain" not in table.shown


def test_each_activation_is_held_against_its_own_reference_over_the_data():
    reports = make_arm("relu", [0.5, 0.5]) + make_arm("silu", [0.6, 0.6])
    reports += make_arm("vaf-random", [0.7, 0.7]) + make_arm("vaf-relu", [0.4, 0.4])
    reports += make_arm("vaf-silu", [0.7, 0.6])

    sentences = over_datasets(selected_results(reports, "accuracy"))

    assert [sentence.partition(" over")[0] for sentence in sentences] == [
        "silu against relu",
        "vaf-random against relu",
        "vaf-relu against relu",
        "vaf-silu against silu",
    ]


def test_the_lines_of_a_dataset_stand_together():
    reports = [
        report
        for dataset in ("liver", "wine")
        for name in ("relu", "vaf-random", "vaf-relu")
        for report in make_arm(name, [0.5, 0.6], protocol={"dataset": dataset})
    ]
    lines = rows_of(selected_results(reports, "accuracy"))
    arms = ["constant", "relu", "vaf-random", "vaf-relu"]
    assert [line["dataset"] for line in lines] == ["liver"] * 4 + ["wine"] * 4
    assert sorted(line["activation"] for line in lines[:4]) == sorted(arms)
    assert lines[0]["activation"] == lines[4]["activation"] == "constant"


def test_the_committed_table_of_curves_says_what_its_reports_say():
    folder = Path(__file__).parents[3] / "docs/reports/reproduction/curves"
    experiment = find_experiment("curves")
    reports = [folder / "curves-paper-jax.json.xz"]
    done = read_reproduction(experiment, Form(), reports)
    table = experiment.table(done, "validation").markdown
    text = (folder / "curves-paper-validation-jax.md").read_text(encoding="utf-8")
    assert text.partition("\n")[2] == table.partition("\n")[2]


def test_p_values_are_corrected_for_the_datasets_of_each_pair():
    reports = [
        report
        for dataset, gains in (
            ("liver", [0.1, 0.11, 0.1]),
            ("wine", [0.1, -0.2, 0.3]),
        )
        for name, scores in (
            ("relu", [0.5, 0.5, 0.5]),
            ("vaf-relu", [0.5 + gain for gain in gains]),
            ("prelu", [0.5 - gain for gain in gains]),
        )
        for report in make_arm(name, scores, protocol={"dataset": dataset, "folds": 3})
    ]
    found = selected_results(reports, "accuracy")
    liver, wine = (found[dataset, "vaf-relu"].p for dataset in ("liver", "wine"))

    corrected = holm_over_datasets(found)
    lines = {(line["dataset"], line["activation"]): line for line in rows_of(found)}

    assert corrected["liver", "vaf-relu", "relu"] == pytest.approx(2 * liver)
    assert corrected["wine", "vaf-relu", "relu"] == pytest.approx(wine)
    assert len(corrected) == 4
    assert lines["liver", "vaf-relu"]["direction"] == "better*"
    assert lines["liver", "prelu"]["direction"] == "worse*"
    assert lines["wine", "vaf-relu"]["direction"] == "(better)"
    assert "direction" not in lines["liver", "relu"]


def test_mean_epochs_are_those_of_the_selected_trainings_if_they_may_stop_early():
    slow, fast = (
        make_trial(rate=rate, epochs=epochs, validation={"loss": 1, "accuracy": 0.5})
        for rate, epochs in ((0.1, 40), (0.01, 10))
    )
    better = {"loss": 1, "accuracy": 0.6}
    fields = {"rates": (0.1, 0.01), "epochs": 50}
    stopping = make_protocol(**fields, patience=5)
    report = make_report(
        protocol=stopping, trials=(slow, dataclasses.replace(fast, validation=better))
    )
    later = make_report(
        protocol=stopping,
        fold=1,
        trials=(dataclasses.replace(slow, validation=better), fast),
    )

    assert cells(table_of([report, later]), "relu")["mean epochs"] == "25"
    full = dataclasses.replace(report, protocol=make_protocol(**fields))
    assert "mean epochs" not in table_of([full]).columns


def test_the_picture_has_a_dot_for_each_vaf_and_dataset_better_to_the_right():
    arms = [("relu", [0.5, 0.5]), ("vaf-relu", [0.7, 0.7]), ("prelu", [0.4, 0.4])]
    reports = [
        report
        for dataset in ("liver", "wine")
        for name, scores in arms
        for report in make_arm(name, scores, protocol={"dataset": dataset})
    ]

    [ax] = gains_figure(selected_results(reports, "accuracy")).axes

    assert ax.get_title(loc="left") == "VAF, ReLU start\nagainst ReLU"
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    assert [dot.get_xdata()[0] for dot in dots] == pytest.approx([40, 40])
    assert [text.get_text() for text in ax.get_yticklabels()] == ["liver", "wine"]
    bottom, top = ax.get_ylim()
    assert bottom > top  # the first dataset is the highest


@pytest.mark.parametrize(
    ("task", "relu", "vaf", "ratio"),
    [
        ("regression", [[0.4, 0.2], [8.0, 8.0]], [[0.2, 0.1], [4.0, 28.0]], 1.0),
        ("classification", [[0.8, 0.6], [0.5, 0.5]], [[0.9, 0.8], [0.0, 0.0]], 1.0),
        ("classification", [[0.8, 0.6], [1.0, 1.0]], [[0.9, 0.8], [0.5, 0.5]], 0.5),
        (
            "classification",
            [[1.0, 1.0], [1.0, 1.0]],
            [[1.0, 1.0], [1.0, 1.0]],
            math.nan,
        ),
    ],
    ids=["errors", "accuracies", "one without an error", "none with an error"],
)
def test_errors_of_several_datasets_are_compared_by_their_geometric_mean(
    task, relu, vaf, ratio
):
    reports = [
        report
        for dataset, *arms in zip(("servo", "yacht"), relu, vaf, strict=True)
        for arm, scores in zip(("relu", "vaf-relu"), arms, strict=True)
        for report in make_arm(arm, scores, task, protocol={"dataset": dataset})
    ]
    metric = "rmse" if task == "regression" else "accuracy"

    found = selected_results(reports, metric)

    [summary] = summaries_of(found)
    assert summary.ratio.mean == pytest.approx(ratio, nan_ok=True)
    assert f"; {ratio:.3f}" in over_datasets(found)[0]


def test_a_dot_is_filled_if_the_gain_is_significant_after_the_correction():
    gains = {
        "liver": [0.1, 0.11, 0.1],  # significant among three datasets
        "wine": [-0.1, -0.14, -0.12],  # only if it were the only one
        "yeast": [0.1, -0.2, 0.3],
    }
    reports = [
        report
        for dataset, own in gains.items()
        for name, scores in (
            ("relu", [0.5, 0.5, 0.5]),
            ("vaf-relu", [0.5 + gain for gain in own]),
        )
        for report in make_arm(name, scores, protocol={"dataset": dataset, "folds": 3})
    ]
    found = selected_results(reports, "accuracy")
    assert found["wine", "vaf-relu"].p < 0.05
    assert holm_over_datasets(found)["wine", "vaf-relu", "relu"] > 0.05

    [ax] = gains_figure(found).axes
    dots = [line for line in ax.lines if line.get_marker() == "o"]

    colors = [style.BLUE, style.ORANGE, style.GREY]
    assert [dot.get_color() for dot in dots] == colors
    assert [dot.get_markerfacecolor() for dot in dots] == [style.BLUE, "white", "white"]

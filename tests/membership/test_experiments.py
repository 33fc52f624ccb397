"""Each experiment in `EXPERIMENTS` has a page, a place in the help, and a test."""

import re
from pathlib import Path

import pytest

from keras_vaf.datasets import CATALOGUE
from keras_vaf.research.paper import EXPERIMENTS
from keras_vaf_cli import main
from tests.research.paper.test_quick_forms import QUICK

pytestmark = pytest.mark.backend("tensorflow")

PAGE = Path(__file__).parents[2] / "docs" / "reproduction.md"

# Experiments whose results the paper does not print as numbers.
NOTHING_PUBLISHED = {"sensorless", "curves"}

each_experiment = pytest.mark.parametrize(
    "experiment", EXPERIMENTS, ids=lambda experiment: experiment.name
)


def test_names_are_unique():
    names = [experiment.name for experiment in EXPERIMENTS]

    assert len(set(names)) == len(names)


@each_experiment
def test_published_numbers_are_there_or_there_are_none(experiment):
    name = experiment.name
    assert bool(experiment.published) != (name in NOTHING_PUBLISHED), (
        f'Set `published=` of {name}, or add "{name}" to NOTHING_PUBLISHED in '
        "tests/membership/test_experiments.py."
    )
    assert {each.dataset for each in experiment.published} <= set(experiment.datasets)


@each_experiment
def test_its_data_are_in_the_catalogue(experiment):
    assert set(experiment.datasets) <= {entry.name for entry in CATALOGUE}


@each_experiment
def test_the_page_says_what_is_trained(experiment):
    rows = re.findall(r"^\| (`.*?) \|", PAGE.read_text(encoding="utf-8"), re.M)
    named = {name for row in rows for name in re.findall(r"`(.*?)`", row)}

    assert experiment.name in named, (
        f"Add to the first table of docs/reproduction.md the row:\n"
        f"| `{experiment.name}` | what is trained |"
    )


@each_experiment
def test_the_quick_form_is_tested(experiment):
    name, dataset = experiment.name, experiment.datasets[0]
    assert name in QUICK, (
        "Add to QUICK in tests/research/paper/test_quick_forms.py the line:\n"
        f'"{name}": ("{dataset}", ("relu", "vaf-relu"), ()),'
    )


@each_experiment
def test_the_help_of_the_command_lists_the_name(experiment, capsys):
    with pytest.raises(SystemExit):
        main(["reproduce", "--help"])

    text = re.sub(r"-\s+", "-", capsys.readouterr().out)  # names that were wrapped
    assert experiment.name in re.split(r"[\s,:]+", text), (
        f"Add {experiment.name} to EXPERIMENTS in keras_vaf_cli/choices.py."
    )

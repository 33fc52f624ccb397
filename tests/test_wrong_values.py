"""Files with valid JSON and wrong values are refused with one `ValueError`."""

import contextlib
import dataclasses
import json
import warnings

import keras
import numpy as np
import pytest

from keras_vaf.experiments import Report, comparison_table, find_variants, read_reports
from keras_vaf.experiments.reports.report_files import write_reports
from keras_vaf.experiments.results.learned import learned_layers
from keras_vaf.experiments.runs.learned import learned_activations
from keras_vaf.layers import VAFActivation
from keras_vaf.utils import parse_json
from tests.experiments.fakes import make_protocol, make_report
from tests.faults.mutations import DEEP, mutations

pytestmark = pytest.mark.backend("tensorflow")


@pytest.fixture
def report():
    """A report with a learned activation."""
    dense = keras.layers.Dense(3)
    model = keras.Sequential([keras.Input((2,)), dense, VAFActivation(name="act")])
    x = np.ones((4, 2), "float32")
    protocol = make_protocol(variant=find_variants("vaf-relu")[0], folds=10)
    return make_report(protocol=protocol, activations=learned_activations(model, x))


def use(report):
    """Do with a report what a comparison does."""
    comparison_table([report, dataclasses.replace(report, fold=1)])
    learned_layers(report)
    json.dumps(report.to_dict())


def test_reports(report):
    refused = 0
    for _, text in mutations(report.to_dict(), most=1):
        try:
            use(Report.from_dict(parse_json(text)))
        except ValueError:
            refused += 1
    assert refused > 500


def test_a_wrong_report_among_others_is_named_and_left_out(tmp_path, report):
    path = tmp_path / "reports.json"
    write_reports(path, [report, dataclasses.replace(report, fold=1)])
    document = json.loads(path.read_bytes())
    document["reports"][0]["seconds"] = "long"
    path.write_text(json.dumps(document))
    with pytest.warns(UserWarning, match=r"report 1 of .*seconds.*finite number"):
        (left,) = read_reports(path)
    assert left.fold == 1


def test_files_of_reports(tmp_path, report):
    path = tmp_path / "reports.json"
    write_reports(path, [report, dataclasses.replace(report, fold=1)], curves=False)
    document = json.loads(path.read_bytes())
    for _, text in mutations(document, most=1):
        path.write_text(text)
        with contextlib.suppress(ValueError), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            for each in read_reports(path):
                use(each)


def test_deep_nesting_is_refused():
    with pytest.raises(ValueError, match="nested too deeply"):
        parse_json(DEEP)

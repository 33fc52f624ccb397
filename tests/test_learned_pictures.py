"""The picture of learned functions has those of the committed records."""

import learned_pictures
import numpy as np
import pytest

from keras_vaf.experiments.reports.report import validation_loss
from keras_vaf.research.paper.curves import DATASETS

pytestmark = pytest.mark.backend("tensorflow")


def formula(weights, x):
    """Return f(x) of a VAF with g = relu, in float64."""
    alpha, alpha_bias, beta, beta_bias = (
        np.asarray(weights[name], "float64").ravel()
        for name in ("alpha", "alpha_bias", "beta", "beta_bias")
    )
    hidden = np.maximum(np.multiply.outer(x, alpha) + alpha_bias, 0)
    return hidden @ beta + beta_bias


def test_every_dataset_has_a_panel_with_its_functions():
    reports = learned_pictures.reports_by_dataset()
    assert tuple(reports) == DATASETS
    figure = learned_pictures.picture(reports)
    panels = [ax for ax in figure.axes if ax.axison]
    for ax, (name, own) in zip(panels, reports.items(), strict=True):
        assert ax.get_title() + ax.get_title(loc="left") == name
        best = min(own, key=validation_loss)
        for place, activation in enumerate(best.activations):
            [line] = [
                each
                for each in ax.lines
                if each.get_label() == f"hidden layer {place + 1}"
            ]
            x, y = line.get_data()
            expected = formula(activation["weights"], x)
            np.testing.assert_allclose(y, expected, atol=1e-5)
            assert sum(each.get_color() == line.get_color() for each in ax.lines) == (
                len(own) + 1
            )

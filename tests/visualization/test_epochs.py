"""The strip of what a function was at several epochs."""

import numpy as np

from keras_vaf.visualization import ActivationRecord, plot_epochs

X = np.linspace(-2, 2, 5)


def record(epoch):
    """A record of the line of slope `epoch`, over data that spread with it."""
    return ActivationRecord(
        epoch=epoch,
        x=X,
        curves=epoch * X[:, None],
        counts=np.array([1, 3]),
        edges=np.array([-1, 0, 1 + epoch]),
        dead=0.0,
    )


def lines(ax):
    return {line.get_label(): line for line in ax.get_lines()}


def test_shows_f_beside_its_start_over_the_data():
    first, second = plot_epochs([record(0), record(3)])
    assert first.get_title(loc="left") == "start"
    assert second.get_title(loc="left") == "epoch 3"
    np.testing.assert_allclose(lines(second)["f"].get_ydata(), 3 * X)
    np.testing.assert_allclose(lines(second)["start"].get_ydata(), 0 * X)
    (histogram,) = second.patches
    assert list(histogram.get_data().edges) == [-1, 0, 4]


def test_all_panels_show_the_same_range():
    first, second = plot_epochs([record(0), record(3)])
    assert first.get_ylim() == second.get_ylim()
    assert first.get_xlim() == second.get_xlim()
    assert first.get_ylim()[1] >= 6
    assert first.get_xlim()[1] >= 4


def test_shows_six_of_many_epochs_the_first_and_the_last_among_them():
    titles = [
        ax.get_title(loc="left") for ax in plot_epochs(list(map(record, range(11))))
    ]
    assert titles == ["start", *(f"epoch {n}" for n in (2, 4, 6, 8, 10))]

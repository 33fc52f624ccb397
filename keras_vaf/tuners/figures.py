"""`parallel_coordinates` and other figures of a search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from keras_vaf.tuners.results import TrialResult, names_of, ranked
from keras_vaf.utils import require
from keras_vaf.visualization import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DRAWS = 1000
_FEWEST_POINTS = 5
_INTERVAL = (0.05, 0.95)
# Height of the band over which trials with equal values are spread.
_SPREAD = 0.12


@style.styled
def parallel_coordinates(results: Sequence[TrialResult], direction: str) -> Figure:
    """Draw each trial as a line through its hyperparameters and its score.

    Darker lines are better trials. The best trial is drawn on top.

    Args:
        results: The trials of a search.
        direction: `"min"` if lower scores are better, `"max"` if higher scores are
            better.

    Returns:
        The figure.

    Raises:
        ValueError: If no trial was completed.
        ImportError: If Matplotlib is not installed.
    """
    trials = _completed(results, direction)
    names = names_of(trials)
    columns = [_places(trials, name) for name in names]
    figure, (ax,) = _figure(1, (1.6 * len(names) + 3.2, 4.2))
    scores = np.array([trial.score for trial in trials])
    low, high = scores.min(), scores.max()
    heights = (scores - low) / ((high - low) or 1.0)
    # Lines with equal values are separated, better trials above.
    shift = _SPREAD * (0.5 - np.linspace(0, 1, len(trials)))
    colors = require("matplotlib.colors", extra="plot")
    shades = colors.LinearSegmentedColormap.from_list("rank", [style.BLUE, style.PALE])
    for rank in reversed(range(len(trials))):
        line = [places[rank] + shift[rank] for places, _ in columns]
        ax.plot(
            [*line, heights[rank]],
            color=style.ORANGE if rank == 0 else shades(rank / len(trials)),
            lw=2.4 if rank == 0 else 1.0,
            zorder=3 if rank == 0 else 2,
            label="best trial" if rank == 0 else None,
        )
    for place, (_, ticks) in enumerate(columns):
        for height, value in ticks:
            ax.text(place + 0.04, height, value, va="center", fontsize=9, zorder=4)
    for height, score in ((0.0, low), (1.0, high)):
        ax.text(len(names) + 0.04, height, f"{score:.4g}", va="center", fontsize=9)
    ax.set_xticks(range(len(names) + 1), [*names, "score"])
    ax.set_yticks([])
    ax.grid(axis="y", visible=False)
    ax.spines["left"].set_visible(False)
    ax.set_title(f"{len(trials)} trials, darker is better")
    style.legend_below(figure, [ax])
    return figure


@style.styled
def best_so_far(results: Sequence[TrialResult], direction: str) -> Figure:
    """Draw the score and deviation of each trial, and the best score so far.

    Args:
        results: As in `parallel_coordinates`.
        direction: As in `parallel_coordinates`.

    Returns:
        The figure.

    Raises:
        ValueError: As in `parallel_coordinates`.
        ImportError: As in `parallel_coordinates`.
    """
    _completed(results, direction)
    figure, (ax,) = _figure(1, (7.0, 4.0))
    trials = [(n, t) for n, t in enumerate(results, start=1) if t.score is not None]
    numbers = [number for number, _ in trials]
    scores = np.array([trial.score for _, trial in trials])
    ax.errorbar(
        numbers,
        scores,
        [trial.deviation or 0.0 for _, trial in trials],
        fmt="o",
        color=style.GREY,
        ecolor=style.PALE,
        label="trial, deviation of its folds",
    )
    best = np.minimum if direction == "min" else np.maximum
    ax.step(
        numbers,
        best.accumulate(scores),
        where="post",
        color=style.BLUE,
        zorder=3,
        label="best so far",
    )
    _leave_out_far_ones(ax, scores)
    ax.set_xlabel("trial")
    ax.set_ylabel("score")
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


@style.styled
def marginal_effects(results: Sequence[TrialResult], direction: str) -> Figure:
    """Draw the dependence of the score on each hyperparameter.

    The figure shows the median score of the trials with each value, with its 90 %
    bootstrap interval. A value with fewer than five trials has no interval. Adaptive
    tuners try good regions more often, which biases these medians.

    Args:
        results: As in `parallel_coordinates`.
        direction: As in `parallel_coordinates`.

    Returns:
        The figure.

    Raises:
        ValueError: As in `parallel_coordinates`.
        ImportError: As in `parallel_coordinates`.
    """
    trials = _completed(results, direction)
    names = names_of(trials)
    figure, panels = _figure(len(names), (2.6 * len(names) + 1.0, 3.4))
    scores = np.array([trial.score for trial in trials])
    for name, ax in zip(names, panels, strict=True):
        values = _values(trials, name)
        for place, value in enumerate(values):
            own = scores[[trial.values.get(name) == value for trial in trials]]
            _draw_effect(own, place, ax)
        _leave_out_far_ones(ax, scores)
        ax.set_xticks(range(len(values)), [str(value) for value in values])
        ax.set_xlim(-0.5, len(values) - 0.5)
        ax.set_title(name)
    panels[0].set_ylabel("score")
    style.legend_below(figure, panels)
    return figure


def _draw_effect(scores: np.ndarray, place: int, ax: Axes) -> None:
    ax.plot([place] * len(scores), scores, "o", color=style.PALE, label="trial")
    draws = np.random.default_rng(0).choice(scores, (_DRAWS, len(scores)))
    median = np.median(scores)
    low, high = np.quantile(np.median(draws, axis=1), _INTERVAL)
    if len(scores) >= _FEWEST_POINTS:
        ax.vlines(place, low, high, color=style.BLUE, zorder=3, label="90% interval")
    ax.plot(place, median, "o", color=style.BLUE, zorder=3, label="median")


def _leave_out_far_ones(ax: Axes, scores: np.ndarray) -> None:
    """Leave out trials with extreme scores, which would hide the other trials."""
    low, middle, high = np.quantile(scores, (0.1, 0.5, 0.9))
    reach = 3.0 * max(high - middle, middle - low)
    inside = scores[np.abs(scores - middle) <= reach] if reach else scores
    margin = 0.1 * np.ptp(inside) or 0.1 * abs(middle) or 0.1
    ax.set_ylim(inside.min() - margin, inside.max() + margin)
    left_out = len(scores) - len(inside)
    if left_out:
        ax.set_title(f"{left_out} out of range not shown", fontsize=9, loc="right")


def _completed(results: Sequence[TrialResult], direction: str) -> list[TrialResult]:
    """Return the trials that have a score, best first."""
    trials = [r for r in ranked(results, direction) if r.score is not None]
    if not trials:
        raise ValueError(
            f"A figure of a search needs a completed trial. Received: {len(results)} "
            "trials, none of them completed"
        )
    return trials


def _values(trials: Sequence[TrialResult], name: str) -> list[Any]:
    values = {trial.values[name] for trial in trials if name in trial.values}
    return sorted(values, key=lambda value: (isinstance(value, str), value))


def _places(
    trials: Sequence[TrialResult], name: str
) -> tuple[list[float], list[tuple[float, str]]]:
    """Return the position of each trial on the axis of a hyperparameter, and labels."""
    values = _values(trials, name)
    heights = np.linspace(0, 1, len(values)) if len(values) > 1 else np.array([0.5])
    known = dict(zip(values, heights.tolist(), strict=True))
    # The line of a trial without this hyperparameter passes below its values.
    places = [known.get(trial.values.get(name), -0.2) for trial in trials]
    labels = (f"{v:.3g}" if isinstance(v, float) else str(v) for v in values)
    return places, list(zip(known.values(), labels, strict=True))


def _figure(panels: int, size: tuple[float, float]) -> tuple[Figure, list[Axes]]:
    figure = require("matplotlib.figure", extra="plot").Figure(figsize=size)
    grid = figure.subplots(1, panels, squeeze=False, sharey=panels > 1)
    return figure, list(grid.flat)

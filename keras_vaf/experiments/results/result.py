"""`Result`, the scores of an activation on a dataset, compared with a reference."""

from __future__ import annotations

import functools
import itertools
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from keras_vaf.experiments.protocol import Protocol
from keras_vaf.experiments.reports.report import TIE, Report, error
from keras_vaf.experiments.results.selection import (
    Selected,
    Selection,
    by_protocol,
    networks_of,
    references_of,
    select,
)
from keras_vaf.experiments.results.significance import (
    LEVEL,
    corrected_interval,
    corrected_t_test,
)
from keras_vaf.utils import check_choice, check_kinds, deviation

REFERENCE = "relu"
"""The activation with which others are compared by default."""

_BEST_FIXED = "best-fixed"

REFERENCES: dict[str, tuple[str, ...]] = {
    "vaf-relu": (REFERENCE, _BEST_FIXED),
    "vaf-random": (REFERENCE, _BEST_FIXED),
    "vaf-silu": ("silu", _BEST_FIXED),
    "vaf-best": (_BEST_FIXED,),
}
"""The references of activations that are not compared with `REFERENCE` alone."""


@dataclass(frozen=True)
class Published:
    """One published number.

    Attributes:
        dataset: Name of the dataset, as in the catalogue.
        variant: Name of the activation, as in `VARIANTS`.
        mean: Mean over the folds.
        deviation: Standard deviation over the folds; `None` for a single training.
        hidden: Widths of the hidden layers of the best architecture.

    Example:

    >>> Published("wine", "relu", mean=0.97, deviation=0.02, hidden=(25, 10)).mean
    0.97
    """

    dataset: str
    variant: str
    mean: float
    deviation: float | None
    hidden: tuple[int, ...]


@dataclass(frozen=True)
class Result:
    """One activation on one dataset, compared with a reference activation.

    Attributes:
        selected: The reports of the activation, with their selected trials.
        metric: Name of the score.
        reference: The activation with which it is compared; `None` for the reference
            itself.
        optimism: Improvement of the mean if the selection uses test scores.
        published: The published number.
        further: The same activation, compared with other references.
    """

    selected: Selected
    metric: str
    reference: Selected | None = None
    optimism: float = 0.0
    published: Published | None = None
    further: tuple[Result, ...] = ()

    @property
    def protocol(self) -> Protocol:
        """Protocol of the first report."""
        return self.selected.protocol

    @property
    def title(self) -> str:
        """Name of the activation in tables and pictures."""
        return self.protocol.variant.title

    @property
    def against(self) -> str:
        """Name of the reference, or an empty string if there is none."""
        return self.reference.name if self.reference else ""

    @property
    def comparisons(self) -> tuple[Result, ...]:
        """This result, compared with each of its references."""
        return tuple(each for each in (self, *self.further) if each.reference)

    @property
    def scores(self) -> tuple[float, ...]:
        """Test scores by seed and fold."""
        return self.selected.scores(self.metric)

    @property
    def mean(self) -> float:
        """Mean of the scores."""
        return statistics.fmean(self.scores)

    @property
    def deviation(self) -> float:
        """Standard deviation of the scores (n - 1), or 0 for a single score."""
        return deviation(self.scores)

    @property
    def baseline(self) -> tuple[float, ...]:
        """Scores of the constant predictor, by seed and fold."""
        return tuple(report.baseline[self.metric] for report in self.selected.reports)

    @cached_property
    def gains(self) -> tuple[float, ...]:
        """Differences from the reference by seed and fold. Positive is better.

        Raises:
            ValueError: If the reference has other seeds or folds.
        """
        if self.reference is None:
            return ()
        ours, theirs = self.selected.folds, self.reference.folds
        if ours.keys() != theirs.keys():
            raise ValueError(
                "Activations must have the same seeds and folds to be compared. "
                f"Received: {len(ours)} and {len(theirs)} reports on "
                f"{self.protocol.dataset}"
            )
        name = self.metric
        return tuple(
            error(name, theirs[key].scores[name]) - error(name, ours[key].scores[name])
            for key in ours
        )

    @property
    def gain(self) -> float:
        """Mean of the gains, or 0 if the means differ by rounding alone."""
        mean = statistics.fmean(self.gains)
        return 0.0 if abs(mean) <= TIE * abs(self.mean) else mean

    @property
    def direction(self) -> str:
        """`"better"`, `"worse"` or `"equal"`, by the mean of the gains."""
        return "equal" if self.gain == 0 else "better" if self.gain > 0 else "worse"

    @property
    def p(self) -> float | None:
        """p-value of the corrected t-test of the gains, or `None` for a single gain."""
        return self._tested(corrected_t_test)

    @property
    def interval(self) -> float | None:
        """Half the width of the corrected 95% interval of the mean gain."""
        return self._tested(corrected_interval)

    def smallest_gain(self, tests: int) -> float | None:
        """Return the mean gain above which the folds would show a difference.

        Args:
            tests: Number of tests, for Bonferroni's correction: the strictest step of
                Holm's.
        """
        level = functools.partial(corrected_interval, confidence=1 - LEVEL / tests)
        return self._tested(level)

    def _tested(self, test: Callable[[Sequence[float], float], float]) -> float | None:
        rows = self.selected.reports[0].rows
        fraction = rows["test"] / sum(rows.values())
        return test(self.gains, fraction) if len(self.gains) > 1 else None


def results_of(reports: Sequence[Report]) -> list[Result]:
    """Return the result of each network's protocol, compared with the first one.

    Args:
        reports: Reports of one dataset. All protocols must have the same seeds and
            folds.

    Raises:
        ValueError: If `reports` has no report of a network.
    """
    networks = networks_of(reports)
    if not networks:
        raise ValueError("A comparison needs reports. Received: no report")
    metric = networks[0].protocol.metric
    first, *others = map(Selected.of, by_protocol(networks).values())
    return [Result(first, metric), *(Result(each, metric, first) for each in others)]


def reference_results(reports: Sequence[Report]) -> list[Result]:
    """Return the result of each reference, which takes no part in any test.

    Args:
        reports: As for `results_of`.
    """
    found = by_protocol(references_of(reports)).values()
    return [Result(Selected.of(own), own[0].protocol.metric) for own in found]


def selected_results(
    reports: Sequence[Report],
    metric: str,
    published: Sequence[Published] = (),
    selection: Selection = "validation",
    references: Mapping[str, Sequence[str]] = REFERENCES,
) -> dict[tuple[str, str], Result]:
    """Return the result of every activation on every dataset after selection.

    A VAF is compared with the function at which it starts, and with the best fixed
    function by validation, if these were trained. Other activations are compared with
    ReLU.

    Args:
        reports: Reports of any datasets, activations and architectures.
        metric: The score that is compared with the published numbers.
        published: The published numbers.
        selection: As in `select`.
        references: Names of the reference activations, by activation. Missing
            references are ignored. A team in `TEAMS` has a result only if it is named
            here.

    Returns:
        A dictionary from the names of dataset and activation to the result.

    Raises:
        ValueError: If an activation lacks folds of its reference, or if the reports do
            not contain the metric.
    """
    check_kinds("reports", reports, Report)
    chosen = select(reports, selection)
    for each in chosen.values():
        check_choice("metric", metric, each.trials[0].scores)
    honest = select(reports, "validation")
    by_test = select(reports, "paper") if selection == "validation" else chosen
    known = {(each.dataset, each.variant): each for each in published}
    compared = {*references, *itertools.chain(*references.values())}
    found = {}
    for key, selected in chosen.items():
        if selected.team and selected.team not in compared:
            continue
        names = references.get(key[1], (REFERENCE,))
        others = [chosen.get((key[0], each)) for each in names]
        known_others = [each for each in others if each not in (None, selected)]
        means = (statistics.fmean(s[key].scores(metric)) for s in (honest, by_test))
        fair, picked = (error(metric, mean) for mean in means)
        found[key] = Result(
            selected,
            metric,
            known_others[0] if known_others else None,
            fair - picked,
            known.get(key),
            tuple(Result(selected, metric, each) for each in known_others[1:]),
        )
    return found

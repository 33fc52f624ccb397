"""Equivalence, counts and cells of a `Ratio`."""

from __future__ import annotations

from keras_vaf.experiments.results.ratio import Ratio


def is_within(ratio: Ratio, bound: float) -> bool:
    """Tell whether the means are equivalent: the 90 % interval is within a bound.

    Args:
        ratio: Ratios of two errors.
        bound: The bound, such as 0.03 for 3 %.
    """
    low, high = ratio.interval(0.9)
    return 1 - bound <= low and high <= 1 + bound


def counts(ratio: Ratio) -> tuple[int, int, int]:
    """Return numbers of datasets with a smaller error, a larger error and a tie."""
    better, worse = int((ratio.logs < 0).sum()), int((ratio.logs > 0).sum())
    return better, worse, len(ratio.logs) - better - worse


def cells(ratio: Ratio) -> list[str]:
    """Return mean, interval, counts and p-value as cells of a table."""
    low, high = ratio.interval()
    better, worse, ties = counts(ratio)
    text = f"{better} : {worse}" + (f", {ties} tied" if ties else "")
    return [f"{ratio.mean:.3f}", f"{low:.3f} to {high:.3f}", text, f"{ratio.p:.4f}"]

"""`follow`, which prints a line for each finished batch, and shows a bar."""

from __future__ import annotations

import time
from collections.abc import Iterable

from keras_vaf.utils import require, visible

_KNOWN = 0.1  # share of the trainings after which the time left is estimated


def follow(
    batches: Iterable[tuple[str, int]], phase: str, total: int, verbose: bool
) -> None:
    """Show on standard error how many of `total` trainings of a phase are finished.

    `batches` yields the name and the number of trainings of each finished batch.
    """
    console = require("rich.console", extra="experiments").Console(
        stderr=True, quiet=not verbose, markup=False, highlight=False, soft_wrap=True
    )
    hidden = not (verbose and console.is_terminal)
    rich = require("rich.progress", extra="experiments")
    done, started = 0, time.monotonic()
    console.print(f"{phase}: {total} models.")
    with rich.Progress(console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task(phase, total=total)
        for name, count in batches:
            bar.advance(task, count)
            done += count
            seconds = time.monotonic() - started
            text = f"{name}: {done} of {total} in {_duration(seconds)}"
            if _KNOWN <= done / total < 1:
                text += f", about {_duration(seconds * (total / done - 1))} left"
            console.print(visible(f"{text}."))


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes:,} min {seconds} s" if minutes else f"{seconds} s"

"""`Progress`, which shows how far trainings are and how long they still take."""

import contextlib
import sys
import threading
import time
from collections.abc import Generator, Iterable, Iterator
from typing import Self, TypeVar

T = TypeVar("T")

_SECONDS_PER_LINE = 5
_LONG = 300  # seconds after which the short form is worth a hint


class Progress:
    """Yields items, and shows a progress bar, or lines outside a terminal.

    The time left is estimated from the epochs of the first trainings.

    Args:
        hint: Sentence to show if the trainings will take more than five minutes.
    """

    def __init__(self, hint: str = "") -> None:
        self._hint = hint
        self._total = self._done = 0
        self._part = 0.0
        self._started = 0.0
        self._shown = False
        self._stop = contextlib.ExitStack()

    def __call__(self, items: Iterable[T], total: int) -> Iterator[T]:
        """Yield the items, of which there are `total`."""
        with self:
            self.show(0, total)
            for number, item in enumerate(items, start=1):
                self.show(number, total)
                yield item

    def __enter__(self) -> Self:
        """Return this object."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the display."""
        self._stop.close()
        self._shown = False

    def show(self, done: float, total: int) -> None:
        """Show how much is finished. The first call begins the display.

        Args:
            done: Number of finished items, with a part of those in training.
            total: Number of all items.
        """
        self._total, self._done, self._part = total, int(done), done - int(done)
        if total and not self._shown:
            self._begin()

    def train(self, part: float) -> None:
        """Note that a part of the items in training is finished."""
        self._part = part

    def _begin(self) -> None:
        self._shown, self._started = True, time.monotonic()
        show = self._lines() if not sys.stderr.isatty() else self._bar()
        self._stop.callback(show.close)
        next(show)
        ended = threading.Event()
        clock = threading.Thread(target=self._tick, args=(show, ended), daemon=True)
        self._stop.callback(clock.join)
        self._stop.callback(ended.set)
        clock.start()

    @property
    def text(self) -> str:
        """The state as a sentence."""
        seconds = time.monotonic() - self._started
        text = f"Trained {self._done} of {self._total} in {duration(seconds)}"
        left = self._left(seconds)
        if left is None or self._done == self._total:
            return f"{text}."
        about = "about" if self._done else "at most"
        return f"{text}, {about} {duration(left)} left."

    def _left(self, seconds: float) -> float | None:
        """Return the estimated number of seconds until the end."""
        done = min(self._done + self._part, self._total)
        return seconds / done * (self._total - done) if done else None

    def _tick(self, show: Generator[None, None, None], ended: threading.Event) -> None:
        """Show the state when the first item is finished, and then every 5 seconds."""
        first = True
        waited = 0.0
        while not ended.wait(0.2):
            waited += 0.2
            if (first and self._done) or waited >= _SECONDS_PER_LINE:
                first, waited = first and not self._done, 0.0
                next(show)

    def _lines(self) -> Generator[None, None, None]:
        """Print a line for each `next`, and a last one at the end."""
        _print(f"Training {self._total} models.")
        try:
            yield
            while True:
                _print(self.text)
                self._print_hint()
                yield
        finally:
            if self._done == self._total:
                _print(self.text)

    def _bar(self) -> Generator[None, None, None]:
        """Show a bar for each `next`, and remove it at the end."""
        from keras_vaf.utils import require

        console = require("rich.console", extra="experiments").Console(stderr=True)
        with console.status("Training") as status:
            while True:
                status.update(self.text)
                self._print_hint()
                yield

    def _print_hint(self) -> None:
        seconds = time.monotonic() - self._started
        if self._hint and (self._left(seconds) or 0) > _LONG:
            _print(self._hint)
            self._hint = ""


def duration(seconds: float) -> str:
    """Return a number of seconds as text, such as "42 s" or "3 min 20 s".

    Args:
        seconds: The number.
    """
    minutes, seconds = divmod(round(seconds), 60)
    if not minutes:
        return f"{seconds} s"
    return f"{minutes} min {seconds} s" if minutes < 60 else f"{minutes:,} min"


def _print(text: str) -> None:
    print(text, file=sys.stderr, flush=True)

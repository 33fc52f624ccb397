"""How a worker speaks with the chief: patiently, but not for ever."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any

PARENT = "KERAS_VAF_PARENT"
"""Environment variable: the process without which a worker ends."""


class PatientStub:
    """What KerasTuner calls the chief through, with an end to its patience.

    A chief that is restarted within this time is not noticed.

    Args:
        stub: KerasTuner's own.
        seconds: How long to wait for a chief that does not answer.
    """

    def __init__(self, stub: Any, seconds: float) -> None:
        self._stub = stub
        self._seconds = seconds
        self._gone = False

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return a call to the chief that waits for its answer."""
        call = getattr(self._stub, name)

        def patient(request: Any, **_: Any) -> Any:
            return self._call(call, request)

        return patient

    def _call(self, call: Callable[..., Any], request: Any) -> Any:
        import grpc

        deadline = time.monotonic() + (0.0 if self._gone else self._seconds)
        while True:
            left = max(deadline - time.monotonic(), 0.1)
            try:
                return call(request, wait_for_ready=True, timeout=left)
            except grpc.RpcError as error:
                silent = (
                    grpc.StatusCode.UNAVAILABLE,
                    grpc.StatusCode.DEADLINE_EXCEEDED,
                )
                if error.code() not in silent:
                    raise RuntimeError(f"The chief failed: {error.details()}") from None
            if time.monotonic() >= deadline:
                self._gone = True
                raise ConnectionError(
                    f"The chief did not answer for {self._seconds:g} seconds. Start it "
                    "again with its own command, and then this worker: nothing that "
                    "was finished is lost."
                )
            time.sleep(0.2)


class Heartbeat:
    """Tells the chief that a trial is being worked on, until it ends.

    Args:
        beat: Called every so often, in a thread of its own.
        seconds: Time between two calls.
    """

    def __init__(self, beat: Callable[[], Any], seconds: float) -> None:
        self._beat = beat
        self._seconds = seconds
        self._stop = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    def stop(self) -> None:
        """End the calls."""
        self._stop.set()

    def _run(self) -> None:
        while not self._stop.wait(self._seconds):
            try:
                self._beat()
            except (ConnectionError, RuntimeError):
                return  # The worker itself says so when it has a result.


def end_with_parent() -> None:
    """End this process when the one that started it is gone."""
    parent = os.environ.get(PARENT)
    if parent is not None:

        def check() -> None:
            if os.getppid() != int(parent):
                os._exit(1)

        Heartbeat(check, seconds=0.5)

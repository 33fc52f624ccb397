"""`open_engine`, which runs functions here, in other processes or on Dask."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import functools
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from keras_vaf.utils.extras import is_tensorflow_hidden, require
from keras_vaf.utils.local_cluster import local_cluster, no_messages_of_dask
from keras_vaf.utils.worker_calls import (
    check_version,
    keras_settings,
    return_value,
    unpacking_call,
    version_call,
    with_keras_settings,
)

HERE = "here"
_PROCESSES = "processes:"
_DASK = "dask://"
_SECONDS_TO_CONNECT = 10
_SECONDS_WITHOUT_WORKERS = 60
_SECONDS_TO_POLL = 0.1


class Task(Protocol):
    """A function call that was submitted to an engine."""

    def result(self) -> Any:
        """Return the result of the function, or raise its exception."""


class Engine:
    """Runs functions in this process, each when its result is requested."""

    @property
    def width(self) -> int:
        """Number of tasks that run at the same time."""
        return 1

    def share(self, value: Any) -> Any:
        """Return a handle to a large value, for use as an argument of tasks.

        Args:
            value: The value, which is sent to the workers only once.
        """
        return value

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Task:
        """Return a task that calls a function.

        Args:
            function: The function. It must not depend on the memory of this process,
                because workers may run it.
            *arguments: Arguments of the function, which may be results of `share`.
        """
        return _Call(function, arguments)

    def wait(self, tasks: Collection[Task]) -> list[Task]:
        """Wait until at least one task has ended, and return the ended tasks.

        Args:
            tasks: At least one task.

        Raises:
            OSError: If the connection to the workers is lost.
        """
        return [next(iter(tasks))]


@contextlib.contextmanager
def open_engine(name: str | Engine) -> Iterator[Engine]:
    """Return an engine as a context; its processes start with the first task.

    Args:
        name: `"here"` for this process, `"processes:N"` for N processes of this
            machine, or `"dask://HOST:PORT"` with the address of a Dask scheduler. An
            open engine is also accepted, and is not closed.

    Raises:
        ValueError: If the name is unknown.

    Example:

    >>> with open_engine("here") as engine:
    ...     task = engine.submit(max, 1, 2)
    ...     [done] = engine.wait([task])
    >>> done.result()
    2
    """
    check_engine(name)
    if isinstance(name, Engine):
        yield name
        return
    with contextlib.ExitStack() as resources:
        yield Engine() if name == HERE else _DaskEngine(name, resources)


def check_engine(name: str | Engine) -> None:
    """Raise a `ValueError` if the name of an engine is unknown."""
    if isinstance(name, Engine):
        return
    text = name if isinstance(name, str) else ""
    number = text.removeprefix(_PROCESSES)
    local = text.startswith(_PROCESSES) and number.isdecimal() and int(number) > 0
    if text != HERE and not local and not text.startswith(_DASK):
        raise ValueError(
            f"`engine` must be {HERE!r}, {_PROCESSES}N with a number of processes of "
            f"this machine, or {_DASK}HOST:PORT with the address of a Dask scheduler. "
            f"Received: {name!r}"
        )


@dataclass(frozen=True, eq=False)
class _Call:
    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    def result(self) -> Any:
        return self.function(*self.arguments)


class _DaskTask:
    """A task on a cluster. Its result stays with its worker until it is fetched."""

    def __init__(self, future: Any) -> None:
        self.future = future
        self._outcome: concurrent.futures.Future[Any] = concurrent.futures.Future()

    def result(self) -> Any:
        return self._outcome.result()

    def fetch(self) -> bool:
        """Fetch the result of a task that has ended, unless its worker is lost."""
        try:
            result = self.future.result(timeout=_SECONDS_WITHOUT_WORKERS)
        except (Exception, asyncio.CancelledError) as error:
            if self.future.status != "error":
                return False
            self._outcome.set_exception(error)
        else:
            self._outcome.set_result(result)
        return True


class _DaskEngine(Engine):
    """Sends tasks to a Dask cluster, which reassigns the tasks of a lost worker."""

    def __init__(self, name: str, resources: contextlib.ExitStack) -> None:
        self._name = name
        self._is_local = name.startswith(_PROCESSES)
        self._resources = resources

    @property
    def width(self) -> int:
        return self._workers() or 1

    def share(self, value: Any) -> Any:
        # Unlike scattered data, the result of a task is recomputed if its worker is
        # lost.
        return self._send(return_value, value)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Task:
        settings = keras_settings()
        if self._is_local and is_tensorflow_hidden():
            settings["tensorflow"] = "hidden"
        future = self._send(with_keras_settings, settings, function, *arguments)
        return _DaskTask(future)

    def wait(self, tasks: Collection[Any]) -> list[Task]:
        since = time.monotonic()
        while True:
            done = [task for task in tasks if task.future.done()]
            workers = self._workers()
            if workers is None:
                raise self._lost("was lost", "start the cluster")
            self._check_kept(done)
            for task in done:
                if task.fetch():
                    return [task]
            if workers:
                since = time.monotonic()
            elif time.monotonic() - since > _SECONDS_WITHOUT_WORKERS:
                words = f"has had no worker for {_SECONDS_WITHOUT_WORKERS} seconds"
                raise self._lost(words, "start workers")
            time.sleep(_SECONDS_TO_POLL)

    def _send(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Submit a call as bytes, so that the scheduler imports nothing for it."""
        distributed = require("distributed", extra="dask")
        shared = {
            place: each
            for place, each in enumerate(arguments)
            if isinstance(each, distributed.Future)
        }
        own = [None if n in shared else each for n, each in enumerate(arguments)]
        packed = distributed.protocol.pickle.dumps((function, own, list(shared)))
        return self._client.submit(
            unpacking_call(), packed, *shared.values(), pure=False
        )

    @functools.cached_property
    def _client(self) -> Any:
        distributed = require("distributed", extra="dask")
        self._resources.enter_context(no_messages_of_dask())
        if self._is_local:
            cluster = local_cluster(int(self._name.removeprefix(_PROCESSES)))
            client = distributed.Client(self._resources.enter_context(cluster))
            return self._resources.enter_context(client)
        address = self._name.removeprefix(_DASK)
        try:
            client = distributed.Client(address, timeout=_SECONDS_TO_CONNECT)
        except OSError as error:
            raise OSError(f"No Dask scheduler answers at {address!r}.") from error
        self._resources.enter_context(client)
        for worker, version in client.run(version_call()).items():
            check_version(version_call()(), version, f"the worker {worker}")
        return client

    def _workers(self) -> int | None:
        """Return the number of workers, or `None` if the scheduler does not answer."""
        try:
            workers = len(self._client.nthreads())
        except OSError:
            return None
        return workers if self._client.status == "running" else None

    def _check_kept(self, done: list[_DaskTask]) -> None:
        killed = require("distributed", extra="dask").KilledWorker
        for future in (task.future for task in done):
            failed = future.status == "error" and isinstance(future.exception(), killed)
            if failed or future.status in ("cancelled", "lost"):
                raise self._lost("lost the workers of a training", "start the cluster")

    def _lost(self, event: str, remedy: str) -> OSError:
        return OSError(
            f"The cluster {self._name!r} {event}. Every finished training is kept; "
            f"{remedy} and run this again."
        )

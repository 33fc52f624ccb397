"""The chief of a search: the process that hands out trials to workers."""

from __future__ import annotations

import os
import time
from concurrent import futures
from typing import Any

from keras_vaf.tuners.resumable.oracle import KeptOracle
from keras_vaf.tuners.resumable.workers import Workers

_TICK = 0.2
# For workers that still have to be told that the search is over.
_FAREWELL = 5.0


def serve(oracle: KeptOracle, workers: Workers | None, patience: float) -> None:
    """Hand out trials until the search is over.

    Args:
        oracle: The oracle.
        workers: Processes that are to be started, and started again if they die.
        patience: Seconds without a sign of any worker after which the chief gives up.

    Raises:
        OSError: If the port is in use.
        RuntimeError: If there is no worker any more.
    """
    server, port = _listen(oracle)
    server.start()
    try:
        if workers is not None:
            workers.start(port)
        while not oracle.finished and not oracle.failure:
            _watch(oracle, workers, patience)
            time.sleep(_TICK)
        deadline = time.monotonic() + _FAREWELL
        while oracle.workers and time.monotonic() < deadline:
            time.sleep(_TICK)
    finally:
        if workers is not None:
            workers.stop()
        server.stop(grace=1).wait()


def _watch(oracle: KeptOracle, workers: Workers | None, patience: float) -> None:
    oracle.expire()
    if workers is not None:
        for tuner_id in workers.restart_dead():
            oracle.release(tuner_id)
        if not workers.alive:
            raise RuntimeError(
                f"All workers ended before the search was over. {workers.last_words()}"
            )
    if time.monotonic() - oracle.heard > patience:
        raise RuntimeError(
            f"No worker was heard of for {patience:g} seconds. Start the workers, then "
            "the chief with the same command: nothing that was finished is lost."
        )


def _listen(oracle: KeptOracle) -> tuple[Any, int]:
    """Return a server that is bound to its port, and the number of the port."""
    import grpc
    from keras_tuner.src import protos
    from keras_tuner.src.distribute.oracle_chief import OracleServicer

    address = os.environ["KERASTUNER_ORACLE_IP"]
    port = os.environ["KERASTUNER_ORACLE_PORT"]
    # Without the option, two chiefs may share a port and each gets half of the calls.
    server = grpc.server(
        futures.ThreadPoolExecutor(max_workers=1), options=[("grpc.so_reuseport", 0)]
    )
    service = protos.get_service_grpc()
    service.add_OracleServicer_to_server(OracleServicer(oracle), server)
    try:
        bound = server.add_insecure_port(f"{address}:{port}")
    except RuntimeError:
        bound = 0
    if not bound:
        raise OSError(
            f"The chief cannot listen at {address}:{port}: the port is in use, or the "
            "address is not one of this machine. Set KERASTUNER_ORACLE_PORT to another "
            "port, for the workers too."
        )
    return server, bound

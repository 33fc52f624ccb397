"""`local_cluster`, Dask workers on this machine, and `no_messages_of_dask`."""

import contextlib
import importlib.util
import logging
from collections.abc import Iterator
from typing import Any

from keras_vaf.utils.extras import require


@contextlib.contextmanager
def no_messages_of_dask() -> Iterator[None]:
    """Hide what Dask logs in this process, because our errors say what happened."""
    loggers = [
        logging.getLogger(name)
        for name in list(logging.root.manager.loggerDict)
        if name.partition(".")[0] == "distributed"
    ]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def local_cluster(processes: int) -> Any:
    """Return worker processes that accept connections only from this machine.

    Args:
        processes: Number of worker processes, each with one thread.
    """
    distributed = require("distributed", extra="dask")
    # With `cryptography`, only this process and its workers have the keys.
    encrypted = importlib.util.find_spec("cryptography") is not None
    return distributed.LocalCluster(
        n_workers=processes,
        threads_per_worker=1,
        host="tls://127.0.0.1" if encrypted else "tcp://127.0.0.1",
        security=encrypted or None,
        memory_limit=0,
        silence_logs=logging.CRITICAL,
        dashboard_address=None,
        # A free port instead of 8787, which another command may have.
        scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
    )

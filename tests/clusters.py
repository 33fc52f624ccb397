"""A Dask cluster on loopback, whose processes a test may kill."""

import contextlib
import json
import subprocess
import sys
import time


@contextlib.contextmanager
def process(*words):
    """Run a module of Dask for a while."""
    command = [sys.executable, "-m", *words]
    running = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        yield running
    finally:
        running.kill()
        running.wait()


@contextlib.contextmanager
def cluster(folder, workers):
    """Give the name of an engine, and the processes of its scheduler and workers."""
    file = folder / "scheduler.json"
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    options += ["--scheduler-file", str(file)]
    with contextlib.ExitStack() as stack:
        scheduler = process("distributed.cli.dask_scheduler", *options)
        scheduler = stack.enter_context(scheduler)
        while not file.exists() or not file.read_text():
            time.sleep(0.05)
        address = json.loads(file.read_text())["address"]
        words = [address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        running = [
            stack.enter_context(process("distributed.cli.dask_worker", *words))
            for _ in range(workers)
        ]
        yield f"dask://{address.removeprefix('tcp://')}", scheduler, running

"""Dask schedulers and workers as processes of their own, and commands that are interrupted while they use them."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

from tests.pipeline.games import ROOT, environment


def dask(*words):
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *map(str, words)],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


@contextmanager
def scheduler(folder, workers):
    """A scheduler on loopback with so many workers: its connection file, address and process."""
    file = folder / "scheduler.json"
    started = [dask("scheduler", "--host", "127.0.0.1", "--port", 0, "--no-dashboard", "--scheduler-file", file)]
    started += [
        dask("worker", "--scheduler-file", file, "--nthreads", 1, "--no-dashboard", "--local-directory", folder)
        for _ in range(workers)
    ]
    try:
        for _ in range(3000):
            if file.exists() and file.read_text().endswith("}"):
                break
            time.sleep(0.01)
        yield file, json.loads(file.read_text())["address"], started[0]
    finally:
        for process in started:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

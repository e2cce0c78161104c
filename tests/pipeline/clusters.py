"""Dask schedulers and workers as processes of their own, and what can happen to them."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import psutil
from distributed import Client

from tests.pipeline.games import FAULTY, ROOT, environment


class DaskProcesses:
    """A scheduler on loopback and its workers."""

    def __init__(self, folder, *options, **settings):
        """Start a scheduler; settings are environment variables of it."""
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.processes = []
        self.scheduler = self._start(
            "scheduler", "--host", "127.0.0.1", "--port", 0, "--no-dashboard", *options, **settings
        )
        wait_until(lambda: self.file.exists() and self.file.read_text().endswith("}"))
        self.address = json.loads(self.file.read_text())["address"]

    def worker(self, *options, fault="", code=ROOT, **settings):
        """Start a worker, with a fault of `faulty.py` or from another source tree."""
        if fault:
            options = (*options, "--preload", FAULTY)
            settings["FAULT"] = fault
        place = ("--nthreads", 1, "--no-dashboard", "--local-directory", self.folder)
        return self._start("worker", *place, *options, code=code, **settings)

    def _start(self, what, *options, code=ROOT, **settings):
        words = [sys.executable, "-P", "-m", "dask", what, "--scheduler-file", self.file, *options]
        process = subprocess.Popen(
            list(map(str, words)),
            cwd=self.folder,
            env=environment(PYTHONPATH=f"{code}:{ROOT}", **settings),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.processes.append(process)
        return process

    def wait_for_workers(self, number):
        """Until so many are there."""
        with Client(self.address) as client:
            client.wait_for_workers(number, timeout=60)

    def kill(self, process):
        """End a scheduler or a worker at once, with all its processes."""
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def close(self):
        """End everything."""
        for process in self.processes:
            self.kill(process)


@contextmanager
def dask_processes(folder, workers=0, *options, **settings):
    """A scheduler on loopback with so many workers."""
    dask = DaskProcesses(folder, *options, **settings)
    try:
        for _ in range(workers):
            dask.worker()
        yield dask
    finally:
        dask.close()


def calculating(process):
    """The processes that compute, of a worker or a command; the others watch over them."""
    found = []
    for child in psutil.Process(process.pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it has just ended
            if any("spawn_main" in word for word in child.cmdline()):
                found.append(child)
    return found


def wait_until(happened, what="what the test waits for", seconds=300):
    """The first true value of a condition, which is asked again and again; fails when time is up."""
    until = time.monotonic() + seconds
    while not (found := happened()):
        assert time.monotonic() < until, f"not within {seconds} s: {what}"
        time.sleep(0.02)
    return found


def process_after(seconds):
    """A call that takes so long and says which process it was in."""
    time.sleep(seconds)
    return os.getpid()

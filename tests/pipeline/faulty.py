"""Loaded by tests into Dask workers, as a preload, or a command: what goes wrong at night does at a chosen part.

The environment variable FAULT says what: `die 7` is killed while it writes part 7, `eat 7` takes all memory there,
`slow 0.1` takes so many seconds more for each part.
"""

import os
import signal
import time

from pipeline import tasks


def install(kind, value):
    compute_part, replace = tasks.compute_part, os.replace
    writing = []

    def faulty(plan, number, part, wanted):
        writing.append(part)
        if kind == "slow":
            time.sleep(float(value))
        if kind == "eat" and part == int(value):
            eaten = []
            while True:
                eaten.append(b"x" * 10_000_000)
                time.sleep(0.001)
        return compute_part(plan, number, part, wanted)

    def dying(*names, **places):
        if kind == "die" and writing[-1:] == [int(value)]:
            os.kill(os.getpid(), signal.SIGKILL)
        return replace(*names, **places)

    tasks.compute_part, os.replace = faulty, dying


if "FAULT" in os.environ:
    install(*os.environ["FAULT"].split())

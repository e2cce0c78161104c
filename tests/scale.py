"""How a run grows with the number of parts and workers: `make scale`. Not collected by pytest.

A small game of 36 cards is cut into about 1,000 and about 20,000 parts, one part in a task, on one local worker and on
two; each case is a process of its own, which is client and scheduler. `calls` are calls that do nothing. Seconds are
wall-clock seconds, CPU seconds those of client and scheduler alone; memory is the peak of that process.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pipeline
import pipeline.plan
from pipeline.cluster import Cluster, local_cluster
from pipeline.execute import Executor, Serial

GAME = """\
name = "Nine by Four"
[deck]
faces = ["6", "7", "8", "9", "T", "J", "Q", "K", "A"]
[[win]]
name = "four of a kind"
when = "some(a,b,c,d: same(aF,bF,cF,dF))"
[[win]]
name = "pair"
when = "some(a,b: same(aF,bF))"
[paytable."8/1".pays]
"four of a kind" = 8
"pair" = 1
"""
CALLS = (1_000, 20_000)
ROWS = (20, 1)
"""rows in a part: about 1,000 and about 20,000 parts"""
TARGET = 4.0
"""milliseconds of a call that does nothing, on two workers and two cores"""


def nothing(argument: int) -> int:
    """What an empty call does."""
    return argument


def measure_calls(number: int, workers: int) -> dict[str, Any]:
    """Empty calls through a local cluster."""
    with local_cluster(workers) as cluster:
        list(cluster.map(nothing, range(100), [f"warm-{i}" for i in range(100)]))
        return {"tasks": number, **_timed(lambda: _exhaust(cluster, number))}


def _exhaust(cluster: Cluster, number: int) -> None:
    done = sum(1 for _ in cluster.map(nothing, range(number), [f"nothing-{i}" for i in range(number)]))
    assert done == number


def measure_run(rows: int, workers: int) -> dict[str, Any]:
    """A run with one part in each task; without workers in this process."""
    pipeline.plan.TASK_FILES = 1

    @contextmanager
    def executor() -> Iterator[Executor]:
        if not workers:
            yield Serial()
            return
        with local_cluster(workers) as cluster:
            yield cluster

    with TemporaryDirectory() as folder:
        game = Path(folder) / "game.toml"
        game.write_text(GAME, encoding="utf-8")
        run = Path(folder) / "run"
        found = _timed(lambda: pipeline.certify([game], run, rows_per_part=rows, executor=executor))
        done = json.loads((run / "log.jsonl").read_text(encoding="utf-8").splitlines()[-1])
        began = time.monotonic()
        assert not pipeline.certify([game], run, rows_per_part=rows).computed
        again = time.monotonic() - began
    return {"tasks": sum(done["parts"].values()), **found, **done["stages"], "again": again}


def _timed(function: Any) -> dict[str, Any]:
    cpu, wall = time.process_time(), time.monotonic()
    function()
    seconds = {"cpu": time.process_time() - cpu, "wall": time.monotonic() - wall}
    return {**seconds, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def apart(what: str, size: int, workers: int) -> dict[str, Any]:
    """A measurement in a process of its own."""
    command = [sys.executable, "-m", "tests.scale", "--one", what, str(size), str(workers)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Measure everything and print it."""
    parser = argparse.ArgumentParser(description="Measure how a run grows with parts and workers.")
    parser.add_argument("--one", nargs=3, metavar=("WHAT", "SIZE", "WORKERS"), help="one measurement, as JSON")
    one = parser.parse_args().one
    if one:
        measure = {"calls": measure_calls, "run": measure_run}[one[0]]
        print(json.dumps(measure(int(one[1]), int(one[2]))))
        return
    print("| | workers | tasks | s | ms/task | client and scheduler: CPU ms/task | peak MB | same again, s |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for what, sizes in (("calls", CALLS), ("run", ROWS)):
        for workers in (1, 2) if what == "calls" else (0, 1, 2):
            for size in sizes:
                found = apart(what, size, workers)
                tasks, seconds = found["tasks"], found.get("parts", found["wall"])
                cells = [what, str(workers or "none"), f"{tasks:,}", f"{seconds:.1f}", f"{1000 * seconds / tasks:.2f}"]
                cells += [f"{1000 * found['cpu'] / tasks:.2f}", f"{found['memory']:.0f}"]
                cells.append(f"{found['again']:.2f}" if "again" in found else "")
                met = f" target {TARGET:g} ms: {'yes' if 1000 * seconds / tasks <= TARGET else 'NO'}"
                print("| " + " | ".join(cells) + " |" + met * (what == "calls" and workers == 2), flush=True)


if __name__ == "__main__":
    main()

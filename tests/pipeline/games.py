"""A small game of 24 cards, and the command as other programs run it."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
AUTOHOLD = (sys.executable, "-c", "from pipeline.cli import main; main()")

SMALL = """\
name = "Six by Four"

[deck]
faces = ["9", "T", "J", "Q", "K", "A"]

[define]
flush = "some(a,b,c,d,e: same(aS,bS,cS,dS,eS))"
quads = "some(a,b,c,d: same(aF,bF,cF,dF))"

[[win]]
name = "flush"
when = "flush"

[[win]]
name = "four of a kind"
when = "quads"

[[win]]
name = "three of a kind"
when = "some(a,b,c: same(aF,bF,cF))"

[[win]]
name = "pair of aces"
when = "some(a,b: same(aF,bF){A})"

[paytable."plain"]
source = "made up"
[paytable."plain".pays]
"flush" = 20
"four of a kind" = 8
"three of a kind" = 2
"pair of aces" = 1

[paytable."broken pays"]
coins = 5
[paytable."broken pays".pays]
"flush" = 101.5
"four of a kind" = "125/3"
"three of a kind" = 10
"pair of aces" = 0
"""
"""Paybacks of 1.136 and 0.958; it is played nowhere."""

ROWS = 50
"""rows in a part: 2,376 canonical hands in 48 parts"""
PARTS = 96
"""part files of both paytables"""

FAULTY = "tests.pipeline.faulty"
SLOW = "slow 0.05"
"""a fault that leaves tests time to stop a run on its way, however busy the machine is"""


def environment(**changes: str) -> dict[str, str]:
    """Of a command: this source tree, no scheduler but the one that a test names."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DASK_")}
    return {**kept, "PYTHONPATH": str(ROOT), **changes}


def autohold(*arguments: Any, timeout: float = 120, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    return subprocess.run(
        [*AUTOHOLD, *map(str, arguments)],
        cwd=ROOT,
        env=environment(**changes),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def start(*arguments: Any, fault: str = "", **changes: str) -> subprocess.Popen[str]:
    """Start the command in a process group of its own, perhaps with a fault of `faulty.py`, as its local workers."""
    *words, code = AUTOHOLD
    if fault:
        code = f"import {FAULTY}; {code}"
        changes |= {"FAULT": fault, "DASK_DISTRIBUTED__WORKER__PRELOAD": FAULTY}
    return subprocess.Popen(
        [*words, code, *map(str, arguments)],
        cwd=ROOT,
        env=environment(**changes),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def contents(run: Path) -> dict[str, bytes]:
    """Path -> bytes of every file of a run but its log, hidden ones included."""
    return {
        path.relative_to(run).as_posix(): path.read_bytes()
        for path in sorted(run.rglob("*"))
        if path.is_file() and path.name != "log.jsonl"
    }


def log(run: Path) -> list[dict[str, Any]]:
    """The events of a run's log."""
    return [json.loads(line) for line in (run / "log.jsonl").read_text(encoding="utf-8").splitlines()]


def parts(run: Path) -> dict[str, tuple[int, int]]:
    """Path -> inode and time of change of every part that is there under its own name."""
    found = run.glob("*/*/strategy/part-*.parquet")
    return {path.relative_to(run).as_posix(): (path.stat().st_ino, path.stat().st_mtime_ns) for path in found}


def arguments(game_file: Path, out: Path, *more: Any) -> tuple[Any, ...]:
    """To certify the small game in parts of `ROWS` rows."""
    return ("certify", game_file, "--out", out, "--rows-per-part", ROWS, *more)


def wait_for_parts(process: subprocess.Popen[str], run: Path, number: int) -> None:
    """Until so many parts are there; fails if the process ends before."""
    while len(parts(run)) < number:
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)


def end(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Wait for the end of a command: its exit code, output and messages."""
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err

"""The memory that is asked of workers is more than tasks take."""

import json
import subprocess
import sys

import pytest

from tests.pipeline.games import ROOT, environment

CONFIGS = ROOT / "configs"
PEAK = """
import json, sys
from pathlib import Path
import distributed
import pipeline
from pipeline.estimate import estimate
from pipeline.plan import Task
from pipeline.run import make_plan
from pipeline.store import PLAN
from pipeline.tasks import run_task, survey

game, out, rows, all_holds = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "all holds"
plan = make_plan([pipeline.load_game(game)], "lowest-mask", rows, all_holds)
(out / PLAN).write_text(plan.text)
survey(plan.entries[0])
for part in range(min(2, plan.parts(0))):
    run_task(out, plan.identity, Task(0, part, part + 1))
# What getrusage says includes the process that started this one.
peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) * 1024
print(json.dumps([peak, estimate(plan).memory]))
"""
WORKER = 40 * 2**20
"""bytes that a Dask worker has more than a process that only imports Dask"""


@pytest.fixture(scope="module")
def two_decks(tmp_path_factory):
    path = tmp_path_factory.mktemp("two") / "two-decks.toml"
    text = (CONFIGS / "jacks-or-better.toml").read_text(encoding="utf-8")
    include = f'include = ["{CONFIGS}/hands/standard.toml"]'
    assert 'include = ["hands/standard.toml"]' in text
    path.write_text(text.replace('include = ["hands/standard.toml"]', f"{include}\n[deck]\ndecks = 2"))
    return path


@pytest.mark.parametrize(
    ("game", "rows", "holds"),
    [
        ("jacks-or-better", 16_384, "all holds"),
        ("jacks-or-better", 134_459, "one hold"),
        ("deuces-wild", 16_384, "one hold"),
        ("two decks", 16_384, "one hold"),
        ("sequential-royal-jacks-or-better", 16_384, "all holds"),
    ],
)
def test_tasks_take_less_memory_than_is_asked_of_workers(two_decks, tmp_path, game, rows, holds):
    path = two_decks if game == "two decks" else CONFIGS / f"{game}.toml"
    command = [sys.executable, "-c", PEAK, path, tmp_path, str(rows), holds]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    peak, expected = json.loads(done.stdout)
    assert peak + WORKER < expected < 3 * peak

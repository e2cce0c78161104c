"""Tables as run directories: equal bytes however they are made, resumed or repaired, and what programs read."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evaluator.holdem.strength import strength
from evaluator.holdem.tables import Street
from evaluator.symmetry import ProofError
from pipeline.execute import Failure, Serial
from pipeline.faults import ConfigError
from pipeline.holdem import TablePlan, make_table
from pipeline.holdem_rows import CELLS, Sums, check_sums, columns
from pipeline.manifest import content_digest
from pipeline.run import Incomplete, Refused
from pipeline.store import write_table
from pipeline.verify import is_table
from pipeline.verify_ehs import verify_table
from tests.pipeline.games import ROOT, contents, environment, log

PLAN = TablePlan(Street.TURN, 8000, 8012, 3)
ARGUMENTS = ("ehs-table", "--street", "turn", "--boards", "8000:8012", "--boards-per-part", 3)


def serial():
    return nullcontext(Serial())


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A complete table; not to be changed."""
    out = tmp_path_factory.mktemp("table") / "run"
    assert make_table(PLAN, out, serial).parts == {"missing": 4}
    return out


def test_a_run_directory(whole):
    names = sorted(path.relative_to(whole).as_posix() for path in whole.rglob("*") if path.is_file())
    parts = [f"turn/ehs/part-{part:05d}.parquet" for part in range(4)]
    assert names == ["SHA256SUMS", "_SUCCESS", "log.jsonl", "manifest.json", *parts, "turn/summary.json"]
    manifest = json.loads((whole / "manifest.json").read_text())
    assert manifest["identity"] == PLAN.identity
    assert [part["path"] for part in manifest["parts"]] == parts
    for part in manifest["parts"]:
        table = pq.read_table(whole / part["path"])
        assert (part["rows"], part["content"]) == (table.num_rows, content_digest(table))
    for line in (whole / "SHA256SUMS").read_text().splitlines():
        digest, path = line.split("  ")
        assert hashlib.sha256((whole / path).read_bytes()).hexdigest() == digest
    assert [event["event"] for event in log(whole)] == ["start", "done"]


def test_the_table_in_pandas(whole):
    table = pd.read_parquet(whole / "turn/ehs")
    assert list(table.columns) == [column.name for column in columns(Street.TURN)]
    assert table.columns[:7].tolist() == ["b0", "b1", "b2", "b3", "h0", "h1", "weight"]
    assert {str(table[name].dtype) for name in ("weight", "hp1_aa", "hp1_bb")} == {"int32"}
    order = table[["b0", "b1", "b2", "b3", "h0", "h1"]].to_numpy()
    assert sorted(map(tuple, order.tolist())) == list(map(tuple, order.tolist()))
    pairs = table[[f"hp1_{cell}" for cell in CELLS]].to_numpy()
    equity = (pairs[:, 0::3].sum(axis=1) + pairs[:, 1::3].sum(axis=1) / 2) / pairs.sum(axis=1)
    assert np.abs(equity - table["ehs1"]).max() < 1e-12
    row = table.iloc[1000]
    found = strength((int(row.h0), int(row.h1)), [int(row[f"b{i}"]) for i in range(4)], 1)
    assert [int(row[f"hp1_{cell}"]) for cell in CELLS] == [n for line in found.pairs for n in line]
    assert [row.hs, row.ppot1, row.npot1, row.ehs1] == pytest.approx(
        list(map(float, (found.hs, found.ppot, found.npot, found.ehs)))
    )


def test_columns_say_what_they_are(whole):
    schema = pq.read_schema(whole / "turn/ehs/part-00000.parquet")
    assert all(field.metadata[b"unit"] and field.metadata[b"meaning"] and not field.nullable for field in schema)


@pytest.mark.parametrize("street", Street)
def test_columns_of_every_street(street):
    names = [column.name for column in columns(street)]
    assert len(set(names)) == len(names)
    assert sum(name.startswith("hp2_") for name in names) == (9 if street is Street.FLOP else 0)
    assert sum(name.startswith("hp1_") for name in names) == (9 if street.looks else 0)
    assert ("ahead" in names) == (street is Street.RIVER)
    assert ("won" in names) == (street is Street.PREFLOP)


@pytest.mark.slow
def test_before_the_flop(tmp_path):
    run = tmp_path / "run"
    make_table(TablePlan(Street.PREFLOP, 0, 1, 1), run, serial)
    table = pd.read_parquet(run / "preflop/ehs")
    assert list(table.columns) == ["h0", "h1", "weight", "won", "tied", "lost", "equity", "ehs_squared", "sum_sq"]
    aces = table[(table.h0 == 48) & (table.h1 == 49)].iloc[0]
    assert (aces.weight, round(aces.equity, 6)) == (6, 0.852037)
    assert (table.weight * table.equity).sum() / 1326 == pytest.approx(0.5)
    assert verify_table(run).sound


def test_summary(whole):
    summary = json.loads((whole / "turn/summary.json").read_text())
    assert (summary["mean_hs"], summary["mean_ehs1"]) == ("1/2", "1/2")
    assert int(summary["rows"]) == len(pd.read_parquet(whole / "turn/ehs"))
    assert summary["hp1"]["ab"] == summary["hp1"]["ba"]


# --- equal bytes ------------------------------------------------------------------------------------------------------


def test_equal_bytes_with_workers(command, whole, tmp_path):
    done = command(*ARGUMENTS, "--out", tmp_path / "run", "--workers", 2)
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "run") == contents(whole)


def test_resumed_and_repaired(whole, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    for name in ("_SUCCESS", "SHA256SUMS", "turn/summary.json", "turn/ehs/part-00001.parquet"):
        (run / name).unlink()
    damaged = run / "turn/ehs/part-00002.parquet"
    content = bytearray(damaged.read_bytes())
    content[len(content) // 2] ^= 1
    damaged.write_bytes(content)
    with pytest.raises(Refused, match="3 of 4 parts; add --resume"):
        make_table(PLAN, run, serial)
    assert make_table(PLAN, run, serial, resume=True).parts == {"missing": 1, "sound": 2, "damaged": 1}
    assert contents(run) == contents(whole)


def test_killed_and_resumed(whole, tmp_path):
    run = tmp_path / "run"
    code = "from pipeline.cli import main; main()"
    arguments = [sys.executable, "-c", code, *map(str, ARGUMENTS), "--out", str(run), "--serial"]
    process = subprocess.Popen(arguments, cwd=ROOT, env=environment(), stderr=subprocess.PIPE)
    until = time.monotonic() + 60
    while not list(run.glob("turn/ehs/part-*")) and time.monotonic() < until:
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert make_table(PLAN, run, serial, resume=True).parts.get("sound", 0) >= 1
    assert contents(run) == contents(whole)


def test_repeating_computes_nothing(whole, tmp_path, command):
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    said = json.loads(command(*ARGUMENTS, "--out", run, "--serial", "--json").stdout)
    assert (said["computed"], said["parts"], said["identity"]) == (False, {"sound": 4}, PLAN.identity)
    with (run / "turn/summary.json").open("a") as file:
        file.write(" ")
    done = command(*ARGUMENTS, "--out", run, "--serial")
    assert done.returncode == 1
    assert "turn/summary.json: expected SHA-256" in done.stderr


def test_another_table_is_refused(whole, command):
    done = command("ehs-table", "--street", "flop", "--out", whole, "--serial", "--resume")
    assert done.returncode == 2
    assert "another identity" in done.stderr


class Dying(Serial):
    """Two of the calls cannot be made."""

    def map(self, function, arguments, keys, report=None):
        for part in arguments:
            yield part, function(part) if part < 2 else Failure("its worker died 4 times")


def test_workers_that_die(command, whole, tmp_path):
    run, reason = tmp_path / "run", "2 of 4 parts are done; the others could not be made"
    with pytest.raises(Incomplete, match=rf"{reason}:\n    turn, parts 2 to 3: its worker died 4 times$"):
        make_table(PLAN, run, lambda: nullcontext(Dying()))
    stopped = log(run)[-1]
    assert (stopped["event"], stopped["reason"], stopped["parts"]) == ("stopped", reason, {"missing": 2})
    assert "\nfailed    turn, parts 2 to 3: its worker died 4 times\n" in command("status", run).stdout
    assert make_table(PLAN, run, serial, resume=True).parts == {"missing": 2, "sound": 2}
    assert contents(run) == contents(whole)


# --- what cannot be ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--street", "showdown"), "'showdown' is not one of"),
        ((), "Missing option '--street'"),
        (("--street", "flop", "--boards", "5"), "expected FIRST:LAST"),
        (("--street", "flop", "--boards", "a:b"), "expected FIRST:LAST"),
        (("--street", "flop", "--boards", "9:9"), "found 9:9"),
        (("--street", "flop", "--boards", "0:1756"), "LAST <= 1755, found 0:1756"),
        (("--street", "flop", "--boards-per-part", 0), "0 is not in the range"),
        (("--street", "flop", "--serial", "--workers", 2), "exclude each other"),
    ],
)
def test_bad_input(command, tmp_path, arguments, message):
    done = command("ehs-table", *arguments, "--out", tmp_path / "run")
    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "run").exists()


def test_plans():
    assert TablePlan(Street.FLOP, 0, 1755, 45).parts == 39
    assert TablePlan(Street.FLOP, 0, 1755, 45).identity != TablePlan(Street.FLOP, 0, 1755, 44).identity
    with pytest.raises(ConfigError, match="boards-per-part"):
        TablePlan(Street.FLOP, 0, 1755, 0)


def test_sums_that_do_not_agree():
    good = Sums(1, 2, (5, 1, 5), (1, 2, 3, 4, 5, 4, 3, 2, 1), 0)
    check_sums(Street.TURN, good, whole=False)
    with pytest.raises(ProofError, match="hp1_aa: expected 1, found 9"):
        check_sums(Street.TURN, good._replace(pairs=(9, *good.pairs[1:])), whole=False)
    with pytest.raises(ProofError, match="rows: expected 13960050, found 1"):
        check_sums(Street.TURN, good, whole=True)


# --- verification -----------------------------------------------------------------------------------------------------


def kinds(run, **options):
    return sorted({finding.kind for finding in verify_table(run, **options).findings})


def test_a_sound_table(whole):
    assert is_table(whole)
    found = verify_table(whole, sample=6, recompute=True)
    assert found.sound, found.findings
    assert (found.level, found.identity) == ("recompute", PLAN.identity)
    assert (found.checked["tables"], found.checked["sampled_hands"], found.checked["recomputed_parts"]) == (1, 6, 4)
    assert found.checked["rows"] == len(pd.read_parquet(whole / "turn/ehs"))
    assert verify_table(whole).level == "tables"


def test_the_command_verifies_tables(whole, command):
    done = command("verify", whole, "--sample", 2, "--json")
    said = json.loads(done.stdout)
    assert (done.returncode, said["sound"], said["level"], said["checked"]["sampled_hands"]) == (0, True, "sample", 2)


def rewrite(run, part, change):
    """Change the values of a part and everything that can be made to agree with them, as a forger would."""
    path = run / PLAN.path(part)
    table = pq.read_table(path)
    frame = table.to_pandas()
    change(frame)
    forged = pa.Table.from_pandas(frame, schema=table.schema.remove_metadata(), preserve_index=False)
    path.unlink()
    write_table(run, PLAN.identity, PLAN.path(part), forged.replace_schema_metadata(None), {})


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda frame: frame.__setitem__("weight", frame["weight"][::-1].to_numpy()), "row"),
        (lambda frame: frame.__setitem__("ehs1", frame["ehs1"] + 1e-9), "row"),
        (lambda frame: frame.__setitem__("hp1_aa", frame["hp1_aa"] + 1), "row"),
        (lambda frame: frame.__setitem__("sum_sq", frame["sum_sq"] + 1), "row"),
    ],
)
def test_forged_values(whole, tmp_path, change, expected):
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    rewrite(run, 1, change)
    assert {"altered", expected} <= set(kinds(run))


def test_a_row_that_is_missing(whole, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    table = pq.read_table(run / PLAN.path(1)).replace_schema_metadata(None)
    (run / PLAN.path(1)).unlink()
    write_table(run, PLAN.identity, PLAN.path(1), table.slice(1), {})
    assert {"altered", "rows"} <= set(kinds(run))


def test_counts_that_add_up_and_are_wrong(whole, tmp_path):
    """A forger who moves one run-out from won to lost, and back elsewhere, is found by counting again."""
    run = tmp_path / "run"
    shutil.copytree(whole, run)

    def change(frame):
        frame["hp1_aa"] = frame["hp1_aa"].where(frame["hp1_aa"] < 1, frame["hp1_aa"] - 1)
        frame["hp1_ab"] = frame["hp1_ab"] + (frame["hp1_aa"] >= 0)

    rewrite(run, 1, change)
    assert "sample" in kinds(run, sample=20)
    assert "recompute" in kinds(run, recompute=True)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("_SUCCESS", "incomplete"),
        ("manifest.json", "missing"),
        ("SHA256SUMS", "missing"),
        ("turn/summary.json", "missing"),
        ("turn/ehs/part-00003.parquet", "missing"),
    ],
)
def test_missing_files(whole, tmp_path, name, expected):
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    (run / name).unlink()
    assert expected in kinds(run)


def test_truncated_and_unexpected(whole, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    part = run / PLAN.path(0)
    part.write_bytes(part.read_bytes()[:-100])
    (run / "turn/ehs/part-00009.parquet").write_bytes(b"")
    assert {"altered", "truncated", "unexpected"} <= set(kinds(run))


def test_a_summary_that_does_not_follow(whole, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    summary = run / "turn/summary.json"
    summary.write_text(summary.read_text().replace('"mean_hs": "1/2"', '"mean_hs": "1/3"'))
    assert {"altered", "totals"} <= set(kinds(run, recompute=False))

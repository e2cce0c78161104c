"""What broke in the hands of somebody who tried to break the command."""

import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from pipeline import certify, cli, load_game, look_up, read_strategy
from pipeline.output import Output
from tests.pipeline.games import SMALL, end

ROOT = Path(__file__).parent.parent.parent

LEVELS = SMALL.replace('source = "made up"', "coins = [1, 3]")
"""the small game with two coin levels of "plain\""""


@pytest.fixture
def levels(tmp_path):
    path = tmp_path / "levels.toml"
    path.write_text(LEVELS, encoding="utf-8")
    return path


def test_hold_takes_one_coin_level_of_a_paytable(levels, command):
    done = command("hold", levels, "9c 9d 9h Ac Kd", "--paytable", "plain, 3 coins")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Six by Four, plain, 3 coins: 9c 9d 9h Ac Kd, as dealt: three of a kind")
    told = json.loads(command("hold", levels, "9c 9d 9h Ac Kd", "--paytable", "plain, 3 coins", "--json").stdout)
    assert told["paytable"] == "plain, 3 coins"


@pytest.mark.parametrize("bounds", ["1e999999999:", ":1E999999999"])
def test_a_bound_with_a_huge_exponent_is_refused_and_not_computed(levels, command, bounds):
    done = command("certify", levels, "--out", levels.parent / "run", "--serial", "--require", bounds)
    assert done.returncode == 2
    assert "expected two numbers or fractions" in done.stderr


@pytest.mark.parametrize("left", [0, 1])
def test_a_complete_run_with_files_that_no_digest_covers_has_changed(levels, command, left):
    out = levels.parent / "run"
    asked = ("certify", levels, "--out", out, "--serial", "--paytable", "plain, 1 coin")
    assert command(*asked).returncode == 0
    sums = out / "SHA256SUMS"
    sums.write_text("".join(sums.read_text("utf-8").splitlines(keepends=True)[:left]), "utf-8")
    certificate = out / "six-by-four" / "plain-1-coin" / "certificate.json"
    certificate.write_text(certificate.read_text("utf-8").replace('"payback": "', '"payback": "7'), "utf-8")
    done = command(*asked)
    assert done.returncode == 1
    assert "SHA256SUMS: six-by-four/plain-1-coin/certificate.json is not listed" in done.stderr


def test_pays_without_a_common_denominator_that_can_be_written_are_refused(tmp_path, command):
    path, out = tmp_path / "fine.toml", tmp_path / "run"
    names = [f"pair of {face}" for face in "9TJQKA"]
    wins = [f'[[win]]\nname = "{name}"\nwhen = "some(a,b: same(aF,bF){{{name[-1]}}})"\n' for name in names]
    primes = [f"{10**19 + place}" for place in (51, 57, 81, 97, 133, 231)]
    pays = [f'"{name}" = "1/{prime}"\n' for name, prime in zip(names, primes, strict=True)]
    head = 'name = "Fine"\n[deck]\nfaces = ["9", "T", "J", "Q", "K", "A"]\n'
    path.write_text(head + "".join(wins) + "[paytable.p.pays]\n" + "".join(pays), encoding="utf-8")
    done = command("certify", path, "--out", out, "--serial")
    assert (done.returncode, out.exists()) == (2, False)
    assert "Fine, p: the least common denominator of the pays has more than 100 digits" in done.stderr


def test_a_table_that_is_no_part_of_the_run_is_found_and_not_taken_up(levels, command):
    out = levels.parent / "run"
    asked = ("certify", levels, "--out", out, "--serial", "--paytable", "plain, 1 coin")
    assert command(*asked).returncode == 0
    folder = out / "six-by-four" / "plain-1-coin" / "strategy"
    stray = folder / "part-00099.parquet"
    stray.write_bytes((folder / "part-00000.parquet").read_bytes())
    done = command(*asked)
    assert done.returncode == 1
    assert "part-00099.parquet: is no part of this run" in done.stderr
    (out / "_SUCCESS").unlink()
    done = command(*asked, "--resume")
    assert done.returncode == 2
    assert "part-00099.parquet" in done.stderr
    stray.unlink()
    assert command(*asked, "--resume").returncode == 0


def test_a_lock_that_names_nobody_is_taken_over(levels, command):
    """As it is left by a process that died, or a machine that stopped, while it wrote the lock."""
    out = levels.parent / "run"
    out.mkdir()
    (out / ".lock").touch()
    assert command("certify", levels, "--out", out, "--serial", "--paytable", "plain, 1 coin").returncode == 0
    assert not (out / ".lock").exists()


def test_look_up_refuses_the_table_of_another_game(levels, tmp_path):
    game = load_game(levels)
    run = certify([game], tmp_path / "run", paytables=["plain, 1 coin"])
    table = read_strategy(run.path, game.name, "plain, 1 coin")
    jacks = load_game(ROOT / "configs" / "jacks-or-better.toml")
    with pytest.raises(ValueError, match=f"the table has {len(table)} rows; Jacks or Better has 134459"):
        look_up(jacks, table, ["As Ks Qs Js Ts"])
    with pytest.raises(ValueError, match="the table is of another game"):
        look_up(game, table.iloc[::-1], ["9c 9d 9h Ac Kd"])


def test_only_what_has_begun_is_said_to_be_resumed(monkeypatch, capsys):
    def stopped(begun, context):
        context.obj.begun = begun
        raise cli.Stopped(signal.SIGTERM)

    for begun, said in (
        (None, "stopped by SIGTERM\n"),
        (False, "stopped by SIGTERM; nothing has been made this time; repeat the command\n"),
        (True, "with --resume to go on\n"),
    ):
        monkeypatch.setattr("sys.argv", ["autohold", "certify", "x.toml"])
        monkeypatch.setattr(cli.cli, "invoke", partial(stopped, begun))
        monkeypatch.setattr(signal, "signal", lambda *_: None)
        with pytest.raises(SystemExit) as left:
            cli.main()
        assert left.value.code == 143
        assert capsys.readouterr().err.endswith(said)


def test_a_signal_while_another_is_answered_is_the_same(command, monkeypatch):
    said = Output.fail

    def fail(self, code, message):
        os.kill(os.getpid(), signal.SIGINT)
        return said(self, code, message)

    monkeypatch.setattr(cli.cli, "invoke", lambda _: os.kill(os.getpid(), signal.SIGINT))
    monkeypatch.setattr(Output, "fail", fail)
    done = command("certify", "x.toml")
    assert (done.returncode, done.stderr) == (130, "autohold: stopped by SIGINT\n")


SLOW_TO_END = """
import signal, threading
from pipeline import cli

def invoke(_):
    try:
        print("begun", flush=True)
        signal.pause()
    finally:
        print("ending", flush=True)
        threading.Event().wait()

cli.cli.invoke, cli.SAME_SIGNAL = invoke, 0
cli.main()
"""


def test_a_second_interrupt_leaves_at_once():
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW_TO_END, "certify"],
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    for expected in ("begun\n", "ending\n"):
        assert process.stdout.readline() == expected
        process.send_signal(signal.SIGINT)
    code, _, said = end(process)
    assert (code, said) == (130, "autohold: stopped by SIGINT\n")


LAST_WORDS = """
import os, signal
from pipeline import cli

class Last:
    def __del__(self, kill=os.kill, process=os.getpid(), number=signal.SIGTERM):
        kill(process, number)

cli.last = Last()
cli.main()
"""


def test_a_signal_while_python_ends_changes_no_exit_code():
    done = subprocess.run([sys.executable, "-c", LAST_WORDS, "--version"], cwd=ROOT, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")

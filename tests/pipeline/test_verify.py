"""Verification finds every flipped, added, missing and cut byte; rewritten digests do not hide wrong values."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluator import holds, solve
from evaluator.independent import build_engine, hold_counts
from evaluator.rules import compile_rules
from pipeline import certify, load_game, tasks
from pipeline.findings import KINDS
from pipeline.verify import verify
from tests.pipeline import sealing
from tests.pipeline.games import SMALL

PLAIN = "six-by-four/plain"
PART = f"{PLAIN}/strategy/part-00001.parquet"

SPECIAL = """\
name = "Special"
[deck]
faces = ["2", "3", "4", "5"]
{deck}
[[win]]
name = "three"
when = "some(a,b,c: same(aF,bF,cF))"
[[win]]
name = "{name}"
when = "{when}"
[[win]]
name = "pair"
when = "some(a,b: same(aF,bF))"
{more}
[paytable."x"]
coins = 2
[paytable."x".pays]
three = 5
"{name}" = "40/3"
pair = 1
{pays}
"""
SPECIALS = {
    "two decks": {"deck": "decks = 2"},
    "joker": {"deck": "jokers = 1"},
    "order": {"name": "steps", "when": "same(C1F){2} & same(C2F){3} & same(C3F,C4F)"},
    "one suit apart": {"name": "clubs", "when": "some(x,y,z: same(xS,yS,zS){c})"},
    "on the deal": {"pays": '[paytable."x".on_deal]\nthree = 9'},
    "bonus": {
        "more": '[[bonus]]\nname = "dealt three"\nwhen = "some(a,b,c: same(aF,bF,cF))"',
        "pays": '[paytable."x".deal_bonus]\n"dealt three" = 3',
    },
}


@pytest.fixture(scope="module")
def run(game, tmp_path_factory):
    """The small game in few parts."""
    out = tmp_path_factory.mktemp("verified") / "run"
    certify([game], out, rows_per_part=1000)
    return out


@pytest.fixture(scope="module")
def desk(run, tmp_path_factory):
    """A copy that properties change and put right again."""
    return sealing.copy(run, tmp_path_factory.mktemp("desk"))


@pytest.fixture(scope="module")
def files(run):
    return sorted(path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file())


def kinds(run, **level):
    return {finding.kind for finding in verify(run, **level).findings}


def said(run, **level):
    return "\n".join(map(str, verify(run, **level).findings))


# --- sound runs -------------------------------------------------------------------------------------------------------


def test_a_sound_run(run):
    result = verify(run, sample=30, recompute=True)
    assert result.sound
    assert result.findings == result.notes == ()
    assert result.checked == {
        "files": 11, "bytes": sum(p.stat().st_size for p in run.rglob("*") if p.suffix in (".json", ".parquet")),
        "tables": 2, "rows": 2 * 2376, "sampled_hands": 30, "recomputed_parts": 6,
    }  # fmt: skip


@pytest.mark.parametrize("special", SPECIALS)
@pytest.mark.parametrize("tie_break", ["lowest-mask", "most-variance"])
def test_sound_runs_of_special_games(special, tie_break, tmp_path):
    values = {"deck": "", "name": "flush", "when": "some(a,b,c,d: same(aS,bS,cS,dS))", "more": "", "pays": ""}
    (tmp_path / "game.toml").write_text(SPECIAL.format(**values | SPECIALS[special]))
    certify(
        [load_game(tmp_path / "game.toml")], tmp_path / "run", rows_per_part=64, tie_break=tie_break, all_holds=True
    )
    result = verify(tmp_path / "run", sample=25, recompute=True)
    assert [str(finding) for finding in result.findings] == []
    assert result.checked["sampled_hands"] == 25


# --- any byte ---------------------------------------------------------------------------------------------------------


@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_flipped_byte_is_found(data, desk, run, files):
    name = data.draw(st.sampled_from([name for name in files if name not in ("log.jsonl", "_SUCCESS")]))
    content = bytearray((run / name).read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= 1 << data.draw(st.integers(0, 7))
    _changed(desk, run, name, bytes(content))


@given(data=st.data())
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_shorter_or_longer_file_is_found(data, desk, run, files):
    name = data.draw(st.sampled_from([name for name in files if name != "log.jsonl"]))
    content = (run / name).read_bytes()
    cut = data.draw(st.integers(0, len(content)))
    _changed(desk, run, name, content[:cut] if cut < len(content) else content + b"\0")


def _changed(desk, run, name, content):
    (desk / name).write_bytes(content)
    try:
        result = verify(desk)
        assert not result.sound
        # SHA256SUMS itself may then list other names, so that the finding is about these.
        assert name == "SHA256SUMS" or any(finding.path == name for finding in result.findings)
    finally:
        shutil.copyfile(run / name, desk / name)


def test_any_missing_file_is_found(desk, run, files):
    for name in files:
        if name != "log.jsonl":
            (desk / name).unlink()
            findings = verify(desk).findings
            assert [f.kind for f in findings if f.path == name][:1] == [
                "incomplete" if name == "_SUCCESS" else "missing"
            ]
            shutil.copyfile(run / name, desk / name)
    (desk / "log.jsonl").unlink()
    assert verify(desk).sound
    shutil.copyfile(run / "log.jsonl", desk / "log.jsonl")


@pytest.mark.parametrize("name", ["x", ".x", f"{PLAIN}/strategy/part-00003.parquet", "new/x", ".lock", "report/x.html"])
def test_any_added_file_is_found(run, name, tmp_path):
    copy = sealing.copy(run, tmp_path)
    (copy / name).parent.mkdir(exist_ok=True)
    (copy / name).write_bytes(b"")
    assert verify(copy).findings
    if not name.startswith((".", "report")):
        sealing.sums(copy)
        assert "unexpected" in kinds(copy)


def test_links_are_no_files(run, tmp_path):
    copy = sealing.copy(run, tmp_path)
    (copy / PART).rename(tmp_path / "elsewhere")
    (copy / PART).symlink_to(tmp_path / "elsewhere")
    assert kinds(copy) == {"unexpected"}


def test_a_damaged_part_is_read_whole(run, tmp_path):
    """What is not as listed is looked at row by row at every level, to say what is wrong with it."""
    copy = sealing.copy(run, tmp_path)
    table = sealing.put(sealing.read(copy, PART), 5, held="As")
    pq.write_table(table, copy / PART)
    assert kinds(copy) >= {"altered", "row"}


def test_damage_has_a_kind_and_both_sides(run, tmp_path):
    copy = sealing.copy(run, tmp_path)
    content = (copy / PART).read_bytes()
    (copy / PART).write_bytes(content[:-100])
    (copy / PLAIN / "certificate.json").write_text("{")
    (copy / "SHA256SUMS").write_bytes((copy / "SHA256SUMS").read_bytes() + b"\n")
    findings = verify(copy).findings
    assert {"altered", "truncated", "unreadable"} <= {finding.kind for finding in findings}
    altered = next(finding for finding in findings if finding.kind == "altered" and finding.path == PART)
    assert len(altered.expected) == len(altered.found) == 64


def test_sums_in_another_order_are_found(run, tmp_path):
    copy = sealing.copy(run, tmp_path)
    lines = (copy / "SHA256SUMS").read_text().splitlines(keepends=True)
    (copy / "SHA256SUMS").write_text("".join(reversed(lines)))
    assert [finding.path for finding in verify(copy).findings] == ["SHA256SUMS"]


# --- digests rewritten ------------------------------------------------------------------------------------------------


def swap(table):
    order = [1, 0, *range(2, table.num_rows)]
    return table.take(order)


CHANGES = {
    "rows in another order": (swap, {"order"}),
    "a row twice": (lambda t: t.take([0, *range(t.num_rows)]), {"order", "rows", "totals"}),
    "a row for another": (lambda t: t.take([0, 0, *range(2, t.num_rows)]), {"order"}),
    "a missing row": (lambda t: t.slice(1), {"rows", "totals"}),
    "no rows": (lambda t: t.slice(0, 0), {"rows", "totals"}),
    "a missing column": (lambda t: t.drop_columns(["weight"]), {"schema"}),
    "another type": (lambda t: t.set_column(6, "weight", t.column("weight").cast("int64")), {"schema"}),
    "another weight": (lambda t: sealing.put(t, 5, weight=1), {"totals"}),
    "a weight of none": (lambda t: sealing.put(t, 5, weight=0), {"row"}),
    "a hold that cannot be": (lambda t: sealing.put(t, 5, hold=32), {"row"}),
    "another hold": (lambda t: sealing.put(t, 5, hold=t.column("hold")[5].as_py() ^ 1), {"row"}),
    "another text": (lambda t: sealing.put(t, 5, held="As"), {"row"}),
    "another card": (lambda t: sealing.put(t, 5, c1=t.column("c1")[5].as_py() + 1), {"row"}),
    "another count": (lambda t: sealing.put(t, 5, n_flush=t.column("n_flush")[5].as_py() + 1), {"totals", "row"}),
    "another value": (lambda t: sealing.put(t, 5, ev_numerator=1), {"row"}),
    "another float": (lambda t: sealing.put(t, 5, ev=0.123), {"row"}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_values_that_cannot_be_are_found(run, change, tmp_path):
    function, expected = CHANGES[change]
    copy = sealing.copy(run, tmp_path)
    sealing.write(copy, PART, function(sealing.read(copy, PART)))
    assert not kinds(copy) & {"altered", "unreadable", "row", "order"}  # footers alone do not tell
    assert expected <= kinds(copy, tables=True)


def test_swapped_wins_are_found(run, tmp_path):
    copy = sealing.copy(run, tmp_path)
    path = copy / PLAIN / "certificate.json"
    content = json.loads(path.read_text())
    first, second = content["wins"][:2]
    first["combinations"], second["combinations"] = second["combinations"], first["combinations"]
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    sealing.sums(copy)
    text = said(copy)
    assert f"certificate: {PLAIN}/certificate.json: wins[1] (flush), combinations: expected" in text
    assert f"certificate: {PLAIN}/wins.parquet: column combinations" in text


def test_a_table_of_another_run_is_found(run, game, tmp_path):
    certify([game], tmp_path / "other", rows_per_part=1000, tie_break="most-variance")
    copy = sealing.copy(run, tmp_path)
    shutil.copyfile(tmp_path / "other" / PART, copy / PART)
    sealing.sums(copy)
    assert (
        f"receipt: {PART}: identity of the run in the footer: expected {sealing.read_manifest(run)['identity']}"
        in said(copy)
    )


def test_a_table_in_another_place_is_found(run, tmp_path):
    copy = sealing.copy(run, tmp_path)
    shutil.copyfile(run / f"{PLAIN}/strategy/part-00000.parquet", copy / PART)
    sealing.sums(copy)
    assert f"receipt: {PART}: place in the footer" in said(copy)


def test_a_manifest_of_another_version_is_found(run, tmp_path):
    copy = sealing.copy(run, tmp_path)
    manifest = sealing.read_manifest(copy)
    manifest["software"]["autohold"] = "9.9"
    sealing.write_manifest(copy, manifest)
    result = verify(copy)
    assert "is of another run or another version of autohold than all certificates" in said(copy)
    assert "by autohold 9.9" in said(copy)
    assert result.notes[0].startswith("made by autohold 9.9")


@pytest.mark.parametrize("damage", ["[]", "{}", "null", '{"format": 2}', "\xff", '{"format": 1, "games": [{}]}'])
def test_a_manifest_that_describes_nothing_is_found(run, damage, tmp_path):
    copy = sealing.copy(run, tmp_path)
    (copy / "manifest.json").write_bytes(damage.encode("latin-1"))
    sealing.sums(copy)
    assert kinds(copy, sample=3, recompute=True) & {"unreadable", "manifest"}


def leaves(value, path=()):
    """Every place of a JSON value that is no object and no list."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, key))
    else:
        yield path


@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_changed_value_of_a_manifest_is_found(data, desk, run):
    """Whatever a manifest says, with an identity and sums that fit: findings, no exception."""
    manifest = sealing.read_manifest(run)
    described = {key: value for key, value in manifest.items() if key not in ("identity", "parts")}
    *path, last = data.draw(st.sampled_from(list(leaves(described))))
    at = manifest
    for key in path:
        at = at[key]
    before = at[last]
    at[last] = data.draw(st.sampled_from([None, "", "1", 0, -1, 3, 10**9, 1.5, "flush", "-1", [], {}, True, "1/0"]))
    if at[last] == before:
        return
    manifest["identity"] = sealing.identity({key: manifest[key] for key in described})
    (desk / "manifest.json").write_text(sealing.pretty_text(manifest))
    sealing.sums(desk)
    try:
        assert verify(desk, sample=2, recompute=True).findings
    finally:
        for name in ("manifest.json", "SHA256SUMS"):
            shutil.copyfile(run / name, desk / name)


def test_a_bet_of_half_a_credit_in_a_manifest_is_found(run, tmp_path):
    copy = sealing.copy(run, tmp_path)
    manifest = sealing.read_manifest(copy)
    manifest["games"][0]["paytables"][1]["coins"] = 1.5
    sealing.write_manifest(copy, manifest)
    assert "manifest" in kinds(copy)
    assert "manifest" in kinds(copy, recompute=True)


def test_a_worse_hold_is_found_though_every_digest_is_rewritten(run, game, tmp_path):
    copy = sealing.copy(run, tmp_path)
    table, paytable = sealing.read(copy, PART), game.paytables[0]
    engine = build_engine(compile_rules(game.rules))
    deal = [table.column(f"c{i}").to_pylist() for i in range(1, 6)]
    row, worse = sealing.worse_hold(
        table, lambda row: hold_counts(engine, [column[row] for column in deal]), paytable.units, 1
    )
    sealing.write(copy, PART, worse)
    sealing.rewrite(copy, 0, 0)
    assert said(copy, tables=True) == ""
    assert "recompute" in kinds(copy, recompute=True)
    assert f"row {row}, {table.column('hand')[row].as_py()}: hold: expected" in said(copy, recompute=True)
    assert f"sample: {PART}: row {row}, " in said(copy, sample=2376)
    seeds = [seed for seed in range(40) if said(copy, sample=100, seed=seed)]
    assert 0 < len(seeds) < 40


def test_what_each_pay_does_is_certified(game, command, tmp_path):
    """The rows of the command stand in the certificate; a changed one is found where all is computed again."""
    run = tmp_path / "run"
    certify([game], run, sensitivities=True)
    certificate = json.loads((run / PLAIN / "certificate.json").read_text())
    shown = json.loads(command("sensitivity", game.file, "--paytable", "plain", "--json").stdout)["pays"]
    assert certificate["sensitivity"] == shown
    assert [row["win"] for row in shown][:2] == [win["name"] for win in certificate["wins"]][:2]
    assert verify(run, recompute=True).sound
    certificate["sensitivity"][0]["optimal_to"] = "1"
    (run / PLAIN / "certificate.json").write_text(sealing.pretty_text(certificate))
    sealing.sums(run)
    assert kinds(run) == set()
    assert "recompute" in kinds(run, recompute=True)


# --- faults of the kernel ---------------------------------------------------------------------------------------------


def wrong_sign(monkeypatch):
    """One of the five steps of the Möbius transform adds; the outcome that pays nothing makes up for it."""

    def transform(values):
        before = values.sum(axis=2) if values.ndim == 3 else None
        for bit in range(5):
            pairs = values.reshape(1 << 4 - bit, 2, 1 << bit, *values.shape[1:])
            pairs[:, 0] += pairs[:, 1] if bit == 2 else -pairs[:, 1]
        if before is not None:
            for bit in range(5):
                pairs = before.reshape(1 << 4 - bit, 2, 1 << bit, -1)
                pairs[:, 0] -= pairs[:, 1]
            values[..., -1] += before - values.sum(axis=2)

    monkeypatch.setattr(holds, "_transform", transform)
    monkeypatch.setattr(holds, "_check_holds", lambda *_: None)


def wrong_copies(monkeypatch):
    """One copy too many is left of cards that are held; sums are made up in the outcome that pays nothing."""
    right = holds.copies_left

    def count_next(classes, cards, above):
        left = right(classes.deck, classes.hands[cards]).astype(np.int64)
        left += (left > 0) & (left < classes.deck.copies)
        table = sum(left[:, card, None] * above[classes.child[cards][:, card]] for card in range(classes.deck.kinds))
        table //= 5 - cards
        table[:, -1] += holds.comb(classes.deck.size - cards, 5 - cards) - table.sum(axis=1)
        return table

    monkeypatch.setattr(holds, "_count_next", count_next)
    monkeypatch.setattr(holds, "_check_holds", lambda *_: None)


def wrong_masks(monkeypatch):
    """Bit 0 of a mask is the last card instead of the first."""
    right = holds.subset_rows
    turned = [int(f"{mask:05b}"[::-1], 2) for mask in range(32)]
    monkeypatch.setattr(holds, "subset_rows", lambda classes, hands: right(classes, hands)[turned])


def wrong_weight(monkeypatch):
    """The weights stand in the opposite order."""
    right = solve.canonical_classes

    def classes(*arguments):
        found = right(*arguments)  # which is kept for other games: not to be changed
        return replace(found, weights=found.weights[::-1].copy())

    monkeypatch.setattr(solve, "canonical_classes", classes)


@pytest.mark.parametrize("fault", [wrong_sign, wrong_copies, wrong_masks, wrong_weight])
def test_a_sample_finds_a_fault_of_the_kernel(fault, tmp_path, monkeypatch):
    """A run is written by a broken kernel that passes its own checks; the second engine disagrees."""
    decks = 2 if fault is wrong_copies else 1
    (tmp_path / "game.toml").write_text(SMALL.replace("[deck]", f"[deck]\ndecks = {decks}"))
    game = load_game(tmp_path / "game.toml")
    tasks._solve.cache_clear()
    try:
        with monkeypatch.context() as broken:
            fault(broken)
            certify([game], tmp_path / "run", paytables=["plain"])
    finally:
        tasks._solve.cache_clear()
    result = verify(tmp_path / "run", sample=25)
    assert "sample" in {finding.kind for finding in result.findings}


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_command(run, command, tmp_path):
    done = command("verify", run)
    assert done.returncode == 0
    assert f"{run}: no findings (11 files" in done.stdout
    assert "2 tables, 4,752 rows" in command("verify", run, "--tables").stdout
    copy = sealing.copy(run, tmp_path)
    (copy / PART).unlink()
    done = command("verify", copy, "--sample", 5, "--seed", 3, "--json")
    assert done.returncode == 1
    output = json.loads(done.stdout)
    assert (output["format"], output["level"], output["seed"], output["sound"]) == (1, "sample", 3, False)
    assert {finding["kind"] for finding in output["findings"]} <= set(KINDS)
    assert set(output["findings"][0]) == {"kind", "path", "message", "expected", "found"}
    assert output["checked"]["sampled_hands"] == 5
    done = command("verify", copy)
    assert (done.returncode, done.stdout.splitlines()[-1].partition(" (")[0]) == (
        1,
        f"{copy}: {len(done.stdout.splitlines()) - 1} findings",
    )


NO_RUN = "is not a run of autohold: expected manifest.json, SHA256SUMS, _SUCCESS and tables, found none of them"


def test_what_is_no_run_is_wrong_use(run, command, tmp_path):
    """A folder of runs is none."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "files").mkdir()
    (tmp_path / "files/_SUCCESS.txt").write_text("")
    (tmp_path / "files/part-00000.parquet").write_text("")
    for place, said in (
        (tmp_path / "nothing", "is not there"),
        (run / "manifest.json", "is no run directory"),
        (tmp_path / "empty", NO_RUN),
        (tmp_path / "files", NO_RUN),
        (run.parent, NO_RUN),
    ):
        done = command("verify", place)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"autohold: {place}: {said}\n")


@pytest.mark.parametrize("name", ["manifest.json", "SHA256SUMS", "_SUCCESS", PART])
def test_what_is_left_of_a_run_is_a_run_with_findings(run, command, name, tmp_path):
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(run / name, tmp_path / name)
    done = command("verify", tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert ("incomplete: _SUCCESS: is missing" in done.stdout) == (name != "_SUCCESS")

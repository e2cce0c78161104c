"""The report: what pages say is what the certificates say, whole or not at all, the same for equal runs."""

import hashlib
import json
import os
import re
import shutil
import subprocess
from fractions import Fraction

import pytest
from markupsafe import escape

from evaluator.symmetry import ProofError
from pipeline import certify, load_game
from pipeline.meter import meter_curve
from pipeline.open_run import open_run
from pipeline.report import build, catalogue, figures, sheet
from pipeline.store import SUMS
from pipeline.verify import verify
from tests.pipeline.games import AUTOHOLD, ROOT
from tests.pipeline.pages import cells, children, parsed, text_of

PROGRESSIVE = ROOT / "tests" / "pipeline" / "progressive.toml"


@pytest.fixture(scope="session")
def small(game, tmp_path_factory):
    """A small run with its report; not to be changed."""
    out = tmp_path_factory.mktemp("small") / "run"
    certify([game], out)
    build.build(out)
    return out


@pytest.fixture
def mine(small, tmp_path):
    """A copy of the small run with its report."""
    shutil.copytree(small, tmp_path / "run")
    return tmp_path / "run"


def tree(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def certificates(run):
    return {place.folder: place.certificate() for place in open_run(run)[2]}


def page(run, folder):
    return (run / "report" / folder / "par-sheet.html").read_text(encoding="utf-8")


# --- whole or not at all ----------------------------------------------------------------------------------------------


def test_every_paytable_has_a_sheet_and_sums_cover_all(reported):
    files = tree(reported / "report")
    assert {f"{folder}/par-sheet.html" for folder in certificates(reported)} | {"index.html", SUMS} <= set(files)
    listed = dict(reversed(line.split("  ")) for line in files.pop(SUMS).decode().splitlines())
    assert listed == {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}
    assert verify(reported).sound


def test_a_sheet_has_its_list_of_holds_unless_it_is_not_wanted(reported, mine):
    folders = {folder for folder, content in certificates(reported).items() if not content["depend_on_order"]}
    for folder in folders:
        listed = json.loads((reported / "report" / folder / "strategy-list.json").read_text(encoding="utf-8"))
        assert listed["optimal_payback"] == certificates(reported)[folder]["payback"]
        assert all(f'class="hold">{escape(line["text"])}</th>' in page(reported, folder) for line in listed["lines"])
    assert all('id="list"' in page(mine, folder) for folder in certificates(mine))
    build.build(mine, lists=False)
    assert not list((mine / "report").rglob("strategy-list.json"))
    assert not any('id="list"' in page(mine, folder) for folder in certificates(mine))


def test_equal_runs_have_equal_pages(small, game, tmp_path):
    """Another directory, two other processes, another order of hashing."""
    certify([game], tmp_path / "again")
    environment = {**os.environ, "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONPATH": str(ROOT)}
    arguments = [*AUTOHOLD, "report", "again", "--workers", "2"]
    done = subprocess.run(arguments, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert tree(tmp_path / "again" / "report") == tree(small / "report")


def test_a_report_is_replaced(mine):
    before = tree(mine / "report")
    (mine / "report" / "index.html").write_text("old")
    (mine / "report" / "gone").mkdir()
    (mine / "report" / "gone" / "old.html").write_text("old")
    made = build.build(mine)
    assert tree(mine / "report") == before
    assert set(made.files) == {f"report/{name}" for name in before if name != SUMS}
    assert made.size == sum(map(len, before.values())) - len(before[SUMS])


def test_an_error_leaves_the_old_report(mine, monkeypatch):
    before = tree(mine)

    def fails(*_):
        raise ProofError("no")

    monkeypatch.setattr(catalogue, "page", fails)
    with pytest.raises(ProofError):
        build.build(mine)
    assert tree(mine) == before


def test_a_report_that_is_not_finished_has_no_sums(mine, monkeypatch):
    real, written = build.write_whole, []

    def interrupted(path, content):
        if len(written) == 2:
            raise KeyboardInterrupt
        written.append(path)
        real(path, content)

    monkeypatch.setattr(build, "write_whole", interrupted)
    with pytest.raises(KeyboardInterrupt):
        build.build(mine)
    assert not (mine / "report" / SUMS).exists()
    assert not verify(mine).sound
    monkeypatch.undo()
    build.build(mine)
    assert verify(mine).sound
    (mine / "report/six-by-four" / SUMS).write_bytes(b"")
    assert [finding.kind for finding in verify(mine).findings] == ["unexpected"]


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_command_says_what_it_wrote(mine, command):
    done = command("report", mine, "--serial")
    assert done.returncode == 0
    assert done.stdout.startswith(f"{mine}/report/index.html: {len(tree(mine / 'report')) - 1} files, ")
    said = json.loads(command("report", mine, "--serial", "--json").stdout)
    assert said["index"] in said["files"]
    assert sorted(said["files"]) == [f"report/{name}" for name in sorted(tree(mine / "report")) if name != SUMS]
    assert said["identity"] == json.loads((mine / "manifest.json").read_text())["identity"]


def test_an_incomplete_run_is_refused(mine, command):
    (mine / "_SUCCESS").unlink()
    before = tree(mine)
    done = command("report", mine, "--serial")
    assert (done.returncode, done.stdout) == (2, "")
    assert "incomplete" in done.stderr
    assert tree(mine) == before


def test_a_run_that_has_changed_is_refused(mine, command):
    path = mine / "six-by-four" / "plain" / "certificate.json"
    path.write_text(path.read_text().replace("made up", "printed"))
    before = tree(mine)
    done = command("report", mine, "--serial")
    assert done.returncode == 1
    assert "six-by-four/plain/certificate.json: expected SHA-256" in done.stderr
    assert tree(mine) == before


def test_no_run_is_wrong_use(tmp_path, command):
    done = command("report", tmp_path, "--serial")
    assert done.returncode == 2
    assert "manifest.json" in done.stderr
    assert not list(tmp_path.iterdir())


def test_without_matplotlib_it_says_what_to_install(mine, command, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    done = command("report", mine, "--serial")
    assert done.returncode == 2
    assert "pip install 'autohold[plots]'" in done.stderr


# --- what the sheets say ----------------------------------------------------------------------------------------------

EXACT = (
    "payback", "house_edge", "hit_frequency", "win_frequency", "push_frequency", "variance", "variance_between_deals",
    "variance_within_deals", "excess_kurtosis", "break_even_games",
)  # fmt: skip
PLAIN = (
    "game", "label", "source", "identity", "rules_digest", "paytable_digest", "tie_break", "method", "tied_deals",
    "canonical_hands", "deals", "cycle", "payback_decimal", "payback_percent_rounded_down", "house_edge_decimal",
    "hit_frequency_decimal", "win_frequency_decimal", "push_frequency_decimal", "variance_decimal",
    "variance_between_deals_decimal", "variance_within_deals_decimal", "standard_deviation_decimal",
    "skewness_decimal", "excess_kurtosis_decimal",
)  # fmt: skip
OF_WINS = ("combinations", "probability", "probability_decimal", "contribution", "contribution_decimal",
           "variance_contribution", "deal_combinations", "deal_probability", "deal_probability_decimal")  # fmt: skip


def test_a_sheet_says_all_that_its_certificate_says(reported):
    for folder, content in certificates(reported).items():
        said = set(children(parsed(page(reported, folder))))
        wanted = [content[key] for key in EXACT + PLAIN] + [content["strategy"]["digest"], content["software"]["code"]]
        wanted += [win[key] for win in content["wins"] for key in OF_WINS]
        wanted += [line[key] for line in content["lines"] for key in ("variance", "variance_decimal")]
        wanted += content["volatility_index_decimal"].values()
        wanted += [draw["draws"] for draw in content["draws"]]
        wanted += [content[name][key] for name in ("top_award", "rarest_award") for key in ("pays", "combinations")]
        if any(low != high for low, high in (win["combinations_range"] for win in content["wins"])):
            wanted += [end for win in content["wins"] if win["on"] != "bonus" for end in win["combinations_range"]]
        if "progressive" in content:
            wanted += [value for key, value in content["progressive"].items() if key not in ("win", "rate_decimal")]
        missing = [value for value in wanted if value not in (None, "") and str(value) not in said]
        missing = [value for value in missing if _rounded(value) not in said]
        assert missing == [], folder


def _rounded(pay):
    """Pays are shown as decimals where four places are exact."""
    try:
        exact = Fraction(pay)
    except ValueError:
        return pay
    return f"{float(exact):.4f}".rstrip("0").rstrip(".") if (exact * 10**4).denominator == 1 else pay


def test_columns_add_up_to_what_stands_below_them(reported):
    for folder, content in certificates(reported).items():
        shown = parsed(page(reported, folder))
        rows, foot = cells(shown, "t-wins")
        lines = [row for row in rows if not row[0].endswith("(bonus of the deal)")]
        assert sum(int(row[2]) for row in lines) == int(foot[0][2]) == int(content["cycle"])
        exact, _ = cells(shown, "t-exact")
        assert sum(Fraction(row[2]) for row in exact) == Fraction(content["payback"])
        assert foot[0][5] == content["payback_decimal"]
        dealt, _ = cells(shown, "t-dealt")
        assert sum(int(row[1]) for row in dealt if not row[0].endswith("(bonus of the deal)")) == int(content["deals"])
        if content["wins"][0]["variance_contribution"] is not None:
            assert sum(Fraction(row[3]) for row in exact) == Fraction(content["variance"])


@pytest.mark.parametrize("key", ["combinations", "probability", "contribution", "variance_contribution"])
def test_a_sum_that_does_not_come_out_stops_the_report(reported, key):
    content = certificates(reported)["jacks-or-better/9-6"]
    assert len(sheet.checks(content)) == 5
    content["wins"][3][key] = str(Fraction(content["wins"][3][key]) + 1)
    with pytest.raises(ProofError, match=key[:8]):
        sheet.checks(content)


def test_a_table_that_does_not_give_the_payback_stops_the_report(reported):
    (place,) = [place for place in open_run(reported)[2] if place.folder == "six-by-four/plain"]
    content = place.certificate()
    with pytest.raises(ProofError, match="the certificate says 2"):
        figures.deals(place, content | {"payback": "2"})


def test_bands_and_break_even(reported):
    content = certificates(reported)["jacks-or-better/9-6"]
    rows, _ = cells(parsed(page(reported, "jacks-or-better/9-6")), "t-bands")
    assert rows[:2] == [
        ["1000", "76.56 – 122.52", "72.16 – 126.92", "63.56 – 135.53"],
        ["10000", "92.28 – 106.81", "90.89 – 108.20", "88.16 – 110.92"],
    ]
    assert len(rows) == 7
    sentence = figures.bands(content).sentence
    assert "10,000 games lies between 90.89\N{NO-BREAK SPACE}% and 108.20\N{NO-BREAK SPACE}%" in sentence
    games = int(sentence.split("after ")[1].split(" games")[0].replace(",", ""))
    assert games - 1 < Fraction(content["break_even_games"]) <= games


def test_what_dealt_hands_are_worth(reported):
    """Against the plain way, a fraction for each row."""
    for place in open_run(reported)[2]:
        if place.folder.startswith("jacks"):
            continue
        rows = place.strategy("weight", "ev_numerator", "draws").to_pylist()
        unit = place.paytable.scale * place.paytable.coins
        worth = [(Fraction(int(row["ev_numerator"]), row["draws"] * unit), row["weight"]) for row in rows]
        deals = sum(weight for _, weight in worth)
        above = Fraction(sum(weight for value, weight in worth if value > 1), deals)
        passed, middle = 0, None
        for value, weight in sorted(worth):
            passed += weight
            if middle is None and 2 * passed >= deals:
                middle = value
        sentence = figures.deals(place, place.certificate()).sentence
        assert sentence.startswith(f"{round(above * 10_000) / 100:.2f}\N{NO-BREAK SPACE}% of all deals")
        assert f" deals are worth {round(middle * 10_000) / 10_000:.4f} credits" in sentence


def test_the_meter(reported):
    content = certificates(reported)["six-by-four-progressive/meter"]
    (place,) = [place for place in open_run(reported)[2] if place.folder == "six-by-four-progressive/meter"]
    curve = meter_curve(load_game(PROGRESSIVE), "meter")
    sentence = figures.meter(place, content).sentence
    assert f"between {len(curve.segments) - 1} meters at which" in sentence
    assert f"at {float(curve.summary.break_even):.2f} credits" in sentence
    with pytest.raises(ProofError, match="starts at"):
        figures.meter(place, content | {"payback": "1/2"})


def test_coin_levels_stand_side_by_side(reported):
    shown = parsed(page(reported, "six-by-four-progressive/levels-2-coins"))
    rows, foot = cells(shown, "t-paytable")
    assert rows[0] == ["flush", "20", "60"]
    both = [certificates(reported)[f"six-by-four-progressive/levels-{n}"] for n in ("1-coin", "2-coins")]
    assert foot == [["payback", *(f"{content['payback_percent_rounded_down']} %" for content in both)]]


def test_names_and_sources_are_text(reported):
    raw = page(reported, "odd-b-names-b-six-by-four/a-b-c")
    assert "<script>alert" not in raw
    assert "<b>names</b>" not in raw
    shown = text_of(parsed(raw))
    assert "Odd <b>names</b> & Six by Four" in shown
    assert "<script>alert(1)</script>" in shown


# --- the catalogue ----------------------------------------------------------------------------------------------------


def test_the_catalogue_has_every_paytable(reported):
    shown = parsed((reported / "report" / "index.html").read_text(encoding="utf-8"))
    rows, _ = cells(shown, "t-paytables")
    assert [row[:4] for row in rows] == [
        [content["game"], content["label"], str(content["coins"]), content["payback_decimal"]]
        for content in certificates(reported).values()
    ]


def test_one_paytable_is_not_compared_with_itself(whole):
    sheets = [catalogue.Certified(place, place.certificate()) for place in open_run(whole)[2]]
    assert catalogue.overview(sheets).sentence.startswith("Paybacks go from ")
    assert re.fullmatch(
        r"Payback \d+\.\d{3} %, standard deviation \d+\.\d{3}\.",
        catalogue.overview(sheets[:1]).sentence.replace("\u202f", " ").replace("\xa0", " "),
    )


def test_differences_of_a_family(reported, monkeypatch):
    sheets = [catalogue.Certified(place, place.certificate()) for place in open_run(reported)[2]]
    small = [made for made in sheets if made.certificate["game"] == "Six by Four"]
    assert catalogue.other_pays(small[0], small[1]) == "flush 20.3, four of a kind 25/3, pair of aces 0"
    assert catalogue.other_pays(small[0], small[0]) == "the first of its game"
    found = catalogue.family(small[::-1])
    assert [made.certificate["label"] for made in found.sheets] == ["plain", "broken pays"]
    assert found.differing == ("flush", "four of a kind", "pair of aces")
    assert found.common == ("three of a kind 2",)
    monkeypatch.setattr(catalogue, "MOST_TOLD", 1)
    assert catalogue.other_pays(small[0], small[1]) == "flush 20.3, and 2 more"

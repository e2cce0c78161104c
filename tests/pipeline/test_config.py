"""Game files: each fault with its file, key and place; everything at once; and nothing written."""

import re
from fractions import Fraction

import pytest

from pipeline import load_game
from pipeline.api import solve_game
from pipeline.faults import ConfigError, key_path, slug
from pipeline.paytables import parse_pay
from tests.pipeline.games import SMALL, autohold

BASE = """\
name = "Small"
[[win]]
name = "quads"
when = "some(a,b,c,d: same(aF,bF,cF,dF))"
[[win]]
name = "pair"
when = "some(a,b: same(aF,bF))"
[deck]
faces = ["2", "3", "4", "5"]
[paytable.a.pays]
quads = 5
pair = 1
"""


def head(*lines):
    return BASE.replace('name = "Small"\n', "\n".join(['name = "Small"', *lines, ""]), 1)


def second_win(formula):
    return BASE.replace('"some(a,b: same(aF,bF))"', formula)


def pay(value):
    return BASE.replace("pair = 1", f"pair = {value}")


def paytable(*lines):
    return BASE.replace("[paytable.a.pays]", "\n".join(["[paytable.a]", *lines, "[paytable.a.pays]"]))


def deck(*lines):
    return BASE.replace('faces = ["2", "3", "4", "5"]', "\n".join(lines))


LIBRARY = '[define]\nx = "some(a: same(aF){2})"\n'

#: What is wrong: the game file, further files, and for each fault its file, its key and the lines of its message.
BROKEN = {
    # the file itself
    "not TOML": ('name = "Small\n', {}, [("game.toml", "", "is not TOML: .* \\(at line 1, column 14\\)")]),
    "a key twice": (BASE + "pair = 2\n", {}, [("game.toml", "", "is not TOML: Cannot overwrite a value")]),
    "not UTF-8": (b'name = "\xff\xfe"\n', {}, [("game.toml", "", "is not TOML: 'utf-8' codec can't decode byte 0xff")]),
    "nested too deep": ("x = " + "[" * 5000, {}, [("game.toml", "", "is not TOML: maximum recursion depth")]),
    "empty": ("", {}, [("game.toml", "name", "is missing"), ("game.toml", "win", "is missing")]),
    # keys
    "unknown key": (head("incldue = []"), {}, [("game.toml", "incldue", "unknown key; did you mean include\\?")]),
    "unknown key of the deck": (
        deck('faces = ["2", "3", "4", "5"]', "joker = 1"),
        {},
        [("game.toml", "deck.joker", "unknown key; did you mean jokers\\?")],
    ),
    "unknown key of a win": (
        BASE.replace('name = "pair"', 'name = "pair"\nwhne = "1"'),
        {},
        [("game.toml", "win[2].whne", "unknown key; did you mean when\\?")],
    ),
    "unknown key of a paytable": (
        paytable("coin = 5"),
        {},
        [("game.toml", "paytable.a.coin", "unknown key; did you mean coins\\?")],
    ),
    "unknown key like no other": (
        head("zzz = 1"),
        {},
        [("game.toml", "zzz", "unknown key; there are include, override, define, name, deck, win, bonus, paytable")],
    ),
    "no formula": (
        BASE.replace('when = "some(a,b: same(aF,bF))"\n', ""),
        {},
        [("game.toml", "win[2]", "expected one of when, .*found none")],
    ),
    "wrong types": (
        "name = 5\nwin = 3\npaytable = []\n",
        {},
        [
            ("game.toml", "name", "expected text, found 5"),
            ("game.toml", "win", "expected a list, found 3"),
            ("game.toml", "paytable", "expected a table, found \\[\\]"),
        ],
    ),
    "no paytable": (
        BASE.replace("[paytable.a.pays]\nquads = 5\npair = 1\n", ""),
        {},
        [("game.toml", "paytable", "there is no paytable; expected at least one")],
    ),
    "name of a folder of every run": (
        BASE.replace("Small", "Report"),
        {},
        [("game.toml", "name", "'Report' is the name of a folder of every run")],
    ),
    # pays
    "missing pay": (
        BASE.replace("pair = 1\n", ""),
        {},
        [("game.toml", "paytable.a.pays", "the pay of 'pair' is missing")],
    ),
    "pay for an unknown win": (
        BASE + "pairs = 3\n",
        {},
        [("game.toml", "paytable.a.pays.pairs", "there is no such win; did you mean 'pair'\\?")],
    ),
    "pay for a win like no other": (
        BASE + '"royal flush" = 3\n',
        {},
        [("game.toml", 'paytable.a.pays."royal flush"', "there is no such win; the wins are quads, pair")],
    ),
    "negative pay": (pay("-1"), {}, [("game.toml", "paytable.a.pays.pair", "expected a pay from 0 to .*, found -1")]),
    "negative fraction": (
        pay('"-1/2"'),
        {},
        [("game.toml", "paytable.a.pays.pair", "expected a pay from 0 to .*, found -1/2")],
    ),
    "negative pay for nothing": (
        paytable("no_win = -3"),
        {},
        [("game.toml", "paytable.a.no_win", "expected a pay from 0 to .*, found -3")],
    ),
    "bool for a pay": (
        pay("true"),
        {},
        [("game.toml", "paytable.a.pays.pair", "expected a number or a fraction like '6/5', found True")],
    ),
    "words for a pay": (
        pay('"one"'),
        {},
        [("game.toml", "paytable.a.pays.pair", "expected a number or a fraction like '6/5', found 'one'")],
    ),
    "zero denominator": (
        pay('"1/0"'),
        {},
        [("game.toml", "paytable.a.pays.pair", "the denominator of '1/0' is zero")],
    ),
    "not a number": (pay("nan"), {}, [("game.toml", "paytable.a.pays.pair", "expected a number .*NaN")]),
    "infinite": (pay("inf"), {}, [("game.toml", "paytable.a.pays.pair", "expected a number .*Infinity")]),
    "huge exponent": (pay("1e400"), {}, [("game.toml", "paytable.a.pays.pair", "expected a number .*1E\\+400")]),
    "exponent beyond decimals": (
        pay("1e999999999999999999999"),
        {},
        [("game.toml", "", "is not TOML: '1e999999999999999999999' is out of all bounds")],
    ),
    "integer of 5000 digits": (pay("1" * 5000), {}, [("game.toml", "", "is not TOML: Exceeds the limit .* digits")]),
    "pay beyond all reason": (
        pay("1" * 20),
        {},
        [("game.toml", "paytable.a.pays.pair", "expected a pay from 0 to 1000000000000, found 1{20}")],
    ),
    "no coins": (
        paytable("coins = 0"),
        {},
        [("game.toml", "paytable.a.coins", "expected an integer from 1 to 1,000,000, .*found 0")],
    ),
    "bool for coins": (
        paytable("coins = true"),
        {},
        [("game.toml", "paytable.a.coins", "expected an integer from 1 to 1,000,000, .*found True")],
    ),
    # names that would share a folder or a column
    "paytables that share a folder": (
        BASE + "[paytable.A]\npays = { quads = 1, pair = 1 }\n",
        {},
        [("game.toml", "paytable.A", "'A' and 'a' are the same name in file names")],
    ),
    "wins that share a column": (
        BASE.replace('name = "pair"', 'name = "Quads!"').replace("pair = 1", '"Quads!" = 1'),
        {},
        [("game.toml", "win[2].name", "'Quads!' and 'quads' are the same name in file names")],
    ),
    "a win called nothing": (
        BASE.replace('name = "pair"', 'name = "Nothing"').replace("pair = 1", "Nothing = 1"),
        {},
        [("game.toml", "win[2].name", "'Nothing' and 'nothing' are the same name")],
    ),
    # formulas
    "syntax": (
        second_win('"some(a,b same(aF,bF))"'),
        {},
        [
            (
                "game.toml",
                "win[2].when",
                "line 1, column 10: 'same' is not expected here\n"
                "    some\\(a,b same\\(aF,bF\\)\\)\n"
                "             \\^\n"
                "    expected :, a comma or in$",
            )
        ],
    ),
    "unknown definition": (
        head("[define]", 'flush = "some(a,b,c,d,e: same(aS,bS,cS,dS,eS))"').replace(
            '"some(a,b: same(aF,bF))"', '"fulsh"'
        ),
        {},
        [
            (
                "game.toml",
                "win[2].when",
                "line 1, column 1: there is no definition 'fulsh'\n    fulsh\n    \\^\n    did you mean flush\\?$",
            )
        ],
    ),
    "second line of a formula": (
        second_win('"""\nsome(a,b:\n  same(aF,xF))"""'),
        {},
        [
            (
                "game.toml",
                "win[2].when",
                "line 2, column 11: 'xF' is not the face or suit of a card here\n"
                "      same\\(aF,xF\\)\\)\n              \\^\n    write aF, bF, aS or bS$",
            )
        ],
    ),
    "a face that the deck has not": (
        second_win('"some(a,b: same(aF,bF){2-B})"'),
        {},
        [("game.toml", "win[2].when", "line 1, column 25: 'B' is not a face of this deck\n.*\n {28}\\^\n    there is")],
    ),
    "a range upside down": (
        second_win('"some(a,b: same(aF,bF){5-3})"'),
        {},
        [("game.toml", "win[2].when", "column 23: 5-3 is not a range(.|\n)*the deck's order is 2 3 4 5$")],
    ),
    "a definition that uses itself": (
        head("[define]", 'x = "y"', 'y = "x"').replace('"some(a,b: same(aF,bF))"', '"x"'),
        {},
        [("game.toml", "define.y", "line 1, column 1: the definition uses itself: .* → x → y → x")],
    ),
    # what only the cards show
    "never at all": (
        second_win('"some(a,b: same(aF,bF){3} & same(aF,bF){4})"'),
        {},
        [("game.toml", "win[2].when", "'pair' can never occur: no hand of this deck meets its definition")],
    ),
    "always in a higher win": (
        BASE.replace("some(a,b,c,d: same(aF,bF,cF,dF))", "some(a,b: same(aF,bF))"),
        {},
        [
            (
                "game.toml",
                "win[2].when",
                "'pair' can never occur: each of its 4368 deals is in a higher win \\('quads'\\)\n.*move this win up",
            )
        ],
    ),
    "twice the same": (
        second_win('"total(a,b: same(aF,bF))"'),
        {},
        [
            (
                "game.toml",
                "win[2].when",
                "'pair' takes the value 6 on 2c 2d 2h 2s 3c; a win is 0 or 1 on every hand\n .*use \\| instead of \\+",
            )
        ],
    ),
    # include and override
    "missing include": (
        head('include = ["nope.toml"]'),
        {},
        [("game.toml", "include", "there is no file 'nope.toml'")],
    ),
    "include of a folder": (head('include = ["."]'), {}, [("game.toml", "include", "there is no file '\\.'")]),
    "include of no name at all": (
        head('include = ["a\\u0000b"]'),
        {},
        [("game.toml", "include", "there is no file 'a\\\\x00b'")],
    ),
    "include of itself": (
        head('include = ["game.toml"]'),
        {},
        [("game.toml", "include", "'game.toml' includes itself through this file")],
    ),
    "include in a circle": (
        head('include = ["one.toml"]'),
        {"one.toml": 'include = ["two.toml"]\n', "two.toml": 'include = ["one.toml"]\n'},
        [("two.toml", "include", "'one.toml' includes itself through this file")],
    ),
    "included file with a win": (
        head('include = ["one.toml"]'),
        {"one.toml": '[[win]]\nname = "x"\nwhen = "1"\n'},
        [("one.toml", "win", "unknown key; there are include, override, define")],
    ),
    "included file that is not TOML": (
        head('include = ["one.toml"]'),
        {"one.toml": "x = = 1"},
        [("one.toml", "", "is not TOML: Invalid value \\(at line 1, column 5\\)")],
    ),
    "included formula": (
        head('include = ["one.toml"]').replace('"some(a,b: same(aF,bF))"', '"y"'),
        {"one.toml": '[define]\ny = "some(a,b: sam(aF,bF))"\n'},
        [
            (
                "one.toml",
                "define.y",
                "line 1, column 11: there is no definition 'sam'\n.*\n {14}\\^\n    did you mean same",
            )
        ],
    ),
    "included formula that no win uses": (
        head('include = ["one.toml"]'),
        {"one.toml": '[define]\n"y(a)" = "same(aF,"\n'},
        [
            (
                "one.toml",
                'define."y(a)"',
                "line 1, column 9: the formula ends too early\n.*\n {12}\\^\n    expected a name",
            )
        ],
    ),
    "two files define a name": (
        head('include = ["one.toml", "two.toml"]'),
        {"one.toml": LIBRARY, "two.toml": LIBRARY.replace("{2}", "{3}")},
        [("game.toml", "include", "'x' is defined in one.toml and two.toml")],
    ),
    "a definition again without override": (
        head('include = ["one.toml"]', LIBRARY.replace("{2}", "{3}")),
        {"one.toml": LIBRARY},
        [("game.toml", "define.x", 'is already defined in one.toml; add it to the list .*override = \\["x"\\]')],
    ),
    "override of what is not there": (
        head('override = ["x"]', LIBRARY),
        {},
        [("game.toml", "override", "'x' is in no included file")],
    ),
    "override without a definition": (
        head('include = ["one.toml"]', 'override = ["x"]'),
        {"one.toml": LIBRARY},
        [("game.toml", "override", "'x' is not defined in this file")],
    ),
    # decks
    "every fault of a deck": (
        deck('faces = ["2", "2", "ß"]', 'suits = ["c"]', "decks = 0", "jokers = 9", 'extra = ["Q"]'),
        {},
        [
            ("game.toml", "deck", "faces: 'ß' is not made of the letters a to z and digits"),
            ("game.toml", "deck", "faces: '2' is listed twice"),
            ("game.toml", "deck", "decks: expected 1 to 50, found 0"),
            ("game.toml", "deck", "jokers: expected 0 to 4, found 9"),
            ("game.toml", "deck", "extra: 'Q' is not a face of the deck followed by '\\*'"),
            ("game.toml", "deck", "two cards are called '2c'"),
        ],
    ),
    "types of a deck": (
        deck('faces = "23"', "suits = [1]", 'decks = "1"', "jokers = true"),
        {},
        [
            ("game.toml", "deck.faces", "expected a list, found '23'"),
            ("game.toml", "deck.suits[1]", "expected text, found 1"),
            ("game.toml", "deck.decks", "expected an integer, found '1'"),
            ("game.toml", "deck.jokers", "expected an integer, found True"),
        ],
    ),
    "deck of eight": (
        deck('faces = ["2", "3"]'),
        {},
        [("game.toml", "deck", "expected at least 10 cards, .*; found 8$")],
    ),
    # several faults of every kind
    "everything at once": (
        BASE.replace('"some(a,b,c,d: same(aF,bF,cF,dF))"', '"some(a: same(aF){2}) & some(a: same(aF)"')
        .replace('"some(a,b: same(aF,bF))"', '"same(C1F,C2F){9}"')
        .replace("pair = 1", "pair = -1\nfull = 3")
        .replace('name = "Small"', 'name = "Small"\nfoo = 1\ninclude = ["nope.toml"]'),
        {},
        [
            ("game.toml", "foo", "unknown key"),
            ("game.toml", "paytable.a.pays.pair", "expected a pay"),
            ("game.toml", "include", "there is no file 'nope.toml'"),
            ("game.toml", "paytable.a.pays.full", "there is no such win"),
            ("game.toml", "win[1].when", "column 40: the formula ends too early"),
            ("game.toml", "win[2].when", "column 15: '9' is not a face of this deck"),
        ],
    ),
    "what the cards show beside the rest": (
        second_win('"some(a,b: same(aF,bF){3} & same(aF,bF){4})"').replace("quads = 5", "quads = -5\nquad = 1"),
        {},
        [
            ("game.toml", "paytable.a.pays.quads", "expected a pay"),
            ("game.toml", "paytable.a.pays.quad", "there is no such win; did you mean 'quads'"),
            ("game.toml", "win[2].when", "'pair' can never occur"),
        ],
    ),
}


def write(folder, text, more):
    for name, content in {"game.toml": text, **more}.items():
        data = content if isinstance(content, bytes) else content.encode()
        (folder / name).write_bytes(data)


def faults_of(path):
    with pytest.raises(ConfigError) as caught:
        solve_game(load_game(path))
    return caught.value.faults


@pytest.mark.parametrize("case", BROKEN)
def test_every_fault_with_file_key_and_message(tmp_path, monkeypatch, case):
    text, more, expected = BROKEN[case]
    write(tmp_path, text, more)
    monkeypatch.chdir(tmp_path)
    unexplained = list(faults_of("game.toml"))
    for file, key, message in expected:
        found = [f for f in unexplained if (f.file, f.key) == (file, key) and re.search(message, f.message)]
        assert len(found) == 1, (key, message, unexplained)
        unexplained.remove(found[0])
    # An override that is wrong in two ways says both.
    assert not [fault for fault in unexplained if fault.key != "override"]


def test_there_are_many_broken_files():
    assert len(BROKEN) >= 30


def test_a_win_that_depends_on_the_order_of_the_cards(tmp_path):
    write(tmp_path, second_win('"same(C1F,C2F)"').replace("[deck]", "[deck]\ndecks = 2"), {})
    (fault,) = faults_of(tmp_path / "game.toml")
    assert (fault.file, fault.key) == (str(tmp_path / "game.toml"), "win[2].when")
    assert fault.message.startswith("'pair' depends on the order of the cards; so the deck must not have alike cards")


@pytest.mark.parametrize("case", ["missing pay", "syntax", "never at all", "included formula", "not UTF-8"])
def test_certify_writes_nothing_and_says_the_same(tmp_path, case):
    text, more, expected = BROKEN[case]
    write(tmp_path, text, more)
    done = autohold("certify", tmp_path / "game.toml", "--out", tmp_path / "run", "--serial")
    assert done.returncode == 2
    assert done.stdout == ""
    for file, key, _ in expected:
        assert ": ".join(part for part in (str(tmp_path / file), key) if part) in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"game.toml", *more}


def test_certify_says_the_faults_of_all_files(tmp_path):
    for name, text in {"a.toml": pay("-1"), "b.toml": head("foo = 1"), "c.toml": BASE}.items():
        (tmp_path / name).write_text(text)
    files = [tmp_path / name for name in ("a.toml", "b.toml", "c.toml", "missing.toml")]
    done = autohold("certify", *files, "--out", tmp_path / "run", "--serial")
    assert done.returncode == 2
    for said in ("a.toml: paytable.a.pays.pair: ", "b.toml: foo: ", "missing.toml: cannot be read: No such file"):
        assert str(tmp_path / said) in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_folder_instead_of_a_file(tmp_path):
    (fault,) = faults_of(tmp_path)
    assert (fault.file, fault.key) == (str(tmp_path), "")
    assert fault.message == "cannot be read: Is a directory"
    assert autohold("count", tmp_path).returncode == 2


def test_a_deck_with_too_many_classes_is_refused_with_their_number(tmp_path):
    suits = list("cdhsuvwx")
    cards = zip(suits, "23456789", strict=True)
    named = " | ".join(f"some(a: same(aS){{{suit}}} & same(aF){{{face}}})" for suit, face in cards)
    faces = [*"23456789TJQKA", *"BCDEFGH"]
    write(tmp_path, second_win(f'"{named}"').replace('["2", "3", "4", "5"]', f"{faces}\nsuits = {suits}"), {})
    done = autohold("certify", tmp_path / "game.toml", "--out", tmp_path / "run", "--serial")
    assert done.returncode == 2
    assert f"{tmp_path / 'game.toml'}: deck: 820,384,032 canonical hands are more than the 20,000,000" in done.stderr
    assert not (tmp_path / "run").exists()
    (fault,) = faults_of(tmp_path / "game.toml")
    assert fault.message.startswith("820,384,032 canonical hands")


def test_two_games_that_share_a_folder(tmp_path):
    for name in ("a.toml", "b.toml"):
        (tmp_path / name).write_text(BASE)
    done = autohold("certify", tmp_path / "a.toml", tmp_path / "b.toml", "--out", tmp_path / "run", "--serial")
    assert done.returncode == 2
    assert "small/a: 'a' and 'a' share this folder" in done.stderr
    assert not (tmp_path / "run").exists()


def test_two_names_with_one_folder_are_refused_though_their_paytables_differ(tmp_path):
    """The explorer of the second game would replace that of the first."""
    for name, paytable in (("Café", "a"), ("Cafe", "b"), ("Кафе", "c")):
        text = BASE.replace("Small", name).replace("[paytable.a", f"[paytable.{paytable}")
        (tmp_path / f"{paytable}.toml").write_text(text, encoding="utf-8")
    run = tmp_path / "run"
    files = [tmp_path / f"{name}.toml" for name in "abc"]
    done = autohold("certify", *files, "--out", run, "--serial")
    assert done.returncode == 2
    assert done.stderr == "autohold: cafe: 'Café' and 'Cafe' share this folder; rename one or leave it out\n"
    assert not run.exists()
    assert autohold("certify", *files[1:], "--out", run, "--serial").returncode == 0
    assert {path.parent.name for path in run.glob("*/*/")} == {"cafe", slug("Кафе")}


def test_a_name_too_long_for_a_folder(tmp_path):
    (tmp_path / "game.toml").write_text(BASE.replace("Small", "Small " * 50))
    done = autohold("certify", tmp_path / "game.toml", "--out", tmp_path / "run", "--serial")
    assert done.returncode == 2
    assert "the name of a folder has at most 200 letters" in done.stderr
    assert not (tmp_path / "run").exists()


# --- what is right ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "pays"),
    [
        ("0.1", Fraction(1, 10)),
        ("0.3", Fraction(3, 10)),
        ("33.5934", Fraction(335934, 10_000)),
        ('"6/5"', Fraction(6, 5)),
        ('"0.8333"', Fraction(8333, 10_000)),
        ("0", Fraction(0)),
        ("1000000000000", Fraction(10**12)),
        ("0.12345678901234567890", Fraction(12345678901234567890, 10**20)),
    ],
)
def test_pays_stay_exact(tmp_path, written, pays):
    write(tmp_path, pay(written), {})
    assert load_game(tmp_path / "game.toml").paytables[0].pays == (5, pays, 0)


@pytest.mark.parametrize(
    "value", [True, False, None, [], 1.5e300, "1e5", "0x10", "½", "１", " ", "1/2/3", "--1", "1_000", "1/０"]
)
def test_no_pay(value):
    with pytest.raises(ValueError, match="expected"):
        parse_pay(value)


def test_only_used_definitions_are_kept_and_overrides_count(tmp_path):
    library = '[define]\n"low(a)" = "same(aF){2}"\nx = "some(a: low(a))"\nunused = "some(a: same(aF){3})"\n'
    game = head('include = ["one.toml"]', 'override = ["low"]', "[define]", '"low(a)" = "same(aF){5}"')
    write(tmp_path, game.replace('"some(a,b: same(aF,bF))"', '"x"'), {"one.toml": library})
    loaded = load_game(tmp_path / "game.toml")
    assert dict(loaded.rules.definitions) == {"x": "some(a: low(a))", "low(a)": "same(aF){5}"}
    # 16 cards, four of them fives: C(16,5) - C(12,5).
    assert solve_game(loaded).deals[1].including == 4368 - 792


def test_the_same_file_may_be_included_twice(tmp_path):
    more = {"one.toml": 'include = ["base.toml"]\n', "two.toml": 'include = ["base.toml"]\n', "base.toml": LIBRARY}
    write(tmp_path, head('include = ["one.toml", "two.toml"]'), more)
    assert load_game(tmp_path / "game.toml").name == "Small"


def test_a_win_that_takes_hands_from_one_that_pays_more_is_a_warning(tmp_path):
    text = SMALL.replace('"four of a kind" = 8', '"four of a kind" = 1')
    (tmp_path / "game.toml").write_text(text)
    done = autohold("certify", tmp_path / "game.toml", "--out", tmp_path / "run", "--serial", "--paytable", "plain")
    assert done.returncode == 0
    warning = "'four of a kind' (1) takes hands from 'three of a kind', which pays more (2)"
    assert f"autohold: Six by Four, plain: {warning}" in done.stderr
    assert warning in (tmp_path / "run" / "six-by-four" / "plain" / "certificate.json").read_text()


def test_names():
    assert slug("Jacks or Better") == "jacks-or-better"
    assert slug("Straße, Café ½") == slug("STRASSE, CAFE 1/2") == "strasse-cafe-1-2"
    assert len({slug(name) for name in ("—", "Джокер", "Ставка", "Джокер 9/6", "九/六")}) == 5
    assert slug("Łódź") == slug("ŁÓDŹ") == "odz-4622385b"
    assert key_path(["win", 0, "when"]) == "win[1].when"
    assert key_path(["paytable", "9/6", "pays"]) == 'paytable."9/6".pays'

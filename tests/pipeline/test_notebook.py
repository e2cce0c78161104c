"""What notebooks show, and strategy tables filtered by held cards."""

from html.parser import HTMLParser
from itertools import permutations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import certify, held, load_game, read_strategy
from pipeline.faults import ConfigError


class Cells(HTMLParser):
    """The cells of the tables of a page, and its tags, each opened and closed in order."""

    def __init__(self, html):
        super().__init__()
        self.rows, self.open, self.tags = [], [], set()
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "tr" in self.open:
            self.rows[-1].append(data)


@pytest.fixture(scope="module")
def run(game_file, tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebook")
    named = folder / "named.toml"
    named.write_text(game_file.read_text().replace('"Six by Four"', '"<b>Six & Four</b>"'), encoding="utf-8")
    return certify([load_game(named)], folder / "run")


def test_a_run_is_a_table_of_its_paytables(run):
    shown = Cells(run._repr_html_())
    assert len(shown.rows) == 1 + len(run.certificates)
    assert shown.rows[1][0] == f"<b>Six & Four</b>, {run.certificates[0]['label']}"
    assert shown.rows[1][1] == run.certificates[0]["payback_decimal"]
    assert shown.tags == {"table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert repr(run).startswith("<run ")
    assert len(repr(run)) < 300


def test_a_certificate_is_a_table_of_its_wins(run):
    content = run.certificates[0]
    shown = Cells(content._repr_html_())
    assert [row[0] for row in shown.rows[1:]][: len(content["wins"])] == [
        win["name"] if win["on"] == "draw" else f"{win['name']} ({win['on']})" for win in content["wins"]
    ]
    assert shown.rows[1][2] == f"{int(content['wins'][0]['combinations']):,}"
    assert shown.tags == {"table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert (
        repr(content) == f"<certificate of <b>Six & Four</b>, {content['label']}: payback {content['payback_decimal']}>"
    )
    # A run that is found complete has the same certificates.
    again = certify([load_game(run.path.parent / "named.toml")], run.path)
    assert not again.computed
    assert again.certificates == run.certificates
    assert again._repr_html_() == run._repr_html_()


def test_rows_by_held_cards(run):
    frame = read_strategy(run.path, run.certificates[0]["game"], run.certificates[0]["paytable"])
    assert (held(frame, "")["hold"] == 0).all()
    assert len(held(frame, "")) == (frame["hold"] == 0).sum()
    pairs = held(frame, "As Ah")
    assert len(pairs) == len(held(frame, "Ac Ad")) == len(held(frame, "A A")) > 0
    assert set(pairs["held"]) == {text for text in frame["held"] if [card[0] for card in text.split()] == ["A", "A"]}
    suited = held(frame, "?c ?c ?c ?c")
    assert all(len({card[1] for card in text.split()}) == 1 for text in suited["held"])
    sizes = [len(held(frame, " ".join("?" * cards))) for cards in range(6)]
    assert sum(sizes) == len(frame)
    with pytest.raises(ValueError, match=r"'Zx' is no card of this table.*9, A, J, K, Q, T"):
        held(frame, "As Zx")


FACES, SUITS = "AKQ", "cdhs"
CARDS = [face + suit for face in FACES for suit in SUITS]


@given(
    st.lists(st.sampled_from(CARDS), max_size=4, unique=True),
    st.lists(st.sampled_from(CARDS), max_size=4, unique=True),
)
def test_suits_say_which_cards_are_alike(said, cards):
    """Cards fit a pattern if some renaming of the suits makes them the same; with `exact`, if they are the same."""
    frame = pd.DataFrame({"held": [" ".join(cards), *CARDS]})
    renamed = [
        {card[0] + dict(zip(SUITS, names, strict=True))[card[1]] for card in said} for names in permutations(SUITS)
    ]
    assert (0 in held(frame, " ".join(said)).index) == ({*cards} in renamed)
    assert (0 in held(frame, " ".join(said), exact=True).index) == ({*cards} == {*said})
    faces = sorted(card[0] for card in said)
    assert (0 in held(frame, " ".join(faces)).index) == (sorted(card[0] for card in cards) == faces)


def test_cards_without_a_suit():
    frame = pd.DataFrame({"held": ["Kc Joker", "Ac A*", "Ac Ad"]})
    assert held(frame, "joker K").index.tolist() == [0]
    assert held(frame, "As A*").index.tolist() == [1]
    assert held(frame, "As Ah").index.tolist() == [2]


def test_a_ten_is_t_or_10():
    frame = pd.DataFrame({"held": ["Tc Jc", "Td Jc", "9c Tc", "2c 3c"]})
    assert held(frame, "10s Js").index.tolist() == held(frame, "T♠ J♠").index.tolist() == [0]
    assert held(frame, "10 J").index.tolist() == [0, 1]
    assert held(frame, "T♣ 9♣", exact=True).index.tolist() == [2]
    tens = pd.DataFrame({"held": ["10c Jc", "9c Jc"]})
    assert held(tens, "10s Js").index.tolist() == [0]


def test_a_table_that_is_not_there(run, tmp_path):
    game = run.certificates[0]["game"]
    with pytest.raises(ConfigError, match=r"there is no '.*/nothing'; there are .*/plain, "):
        read_strategy(run.path, game, "nothing")
    with pytest.raises(ConfigError, match=rf"^{tmp_path}: is not finished: it has no manifest.json$"):
        read_strategy(tmp_path, game, "plain")
    with pytest.raises(ConfigError, match=rf"^{tmp_path}/x: is not there$"):
        read_strategy(tmp_path / "x", game, "plain")

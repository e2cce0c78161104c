"""A reader who plays by the text of a chart, card by card, and tries every draw: slow and obvious.

Nothing here uses `evaluator.chart` or the kernel. A card is a pair of texts, face and suit; a hand is five of them.
"""

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations

Card = tuple[str, str]


class Reader:
    """Charts on one small deck of different cards."""

    def __init__(
        self, deck: Sequence[Card], faces: str, win_of: Callable[[frozenset[Card]], str | None], wins: Sequence[str],
        pays: dict[str, int],
    ) -> None:  # fmt: skip
        self.deck, self.faces, self.wins, self.pays = list(deck), faces, list(wins), pays
        self.win_of = cache(win_of)
        self.hands = [frozenset(cards) for cards in combinations(self.deck, 5)]
        runs = [faces[i : i + 5] for i in range(len(faces) - 4)]
        self.runs = [set(run) for run in [*runs, *[faces[-1] + faces[:4]] * (faces[-1] == "A")]]
        self.reach = cache(self._reach)
        self.worth = cache(self._worth)
        self.high = {
            face
            for face in faces
            for pair in [[card for card in self.deck if card[0] == face][:2]]
            if len(pair) == 2 and all(self.win_of(hand) for hand in self.hands if hand >= {*pair})
        }

    def _reach(self, held: frozenset[Card]) -> frozenset[str]:
        """The wins that a hand with the cards can be."""
        return frozenset(win for hand in self.hands if held <= hand and (win := self.win_of(hand)))

    def _sure(self, held: frozenset[Card], win: str) -> bool:
        above = self.wins[: self.wins.index(win) + 1]
        return all(self.win_of(hand) in above for hand in self.hands if held <= hand)

    def _worth(self, hand: frozenset[Card], held: frozenset[Card]) -> Fraction:
        """What a hold wins on average."""
        stock = [card for card in self.deck if card not in hand]
        draws = [held | {*draw} for draw in combinations(stock, 5 - len(held))]
        return Fraction(sum(self.pays.get(self.win_of(final) or "", 0) for final in draws), len(draws))

    def paybacks(self, chart: str) -> tuple[Fraction, Fraction, Fraction]:
        """Of playing by a chart, taking the best and the worst hold that a line fits, and of optimal play."""
        totals = [Fraction(0)] * 3
        for hand in self.hands:
            worths = [self.worth(hand, held) for held in self.choices(chart, hand)]
            optimum = max(self.worth(hand, frozenset(c)) for k in range(6) for c in combinations(hand, k))
            for i, value in enumerate((max(worths), min(worths), optimum)):
                totals[i] += value
        best, worst, optimal = (total / len(self.hands) for total in totals)
        return best, worst, optimal

    def choices(self, chart: str, hand: frozenset[Card]) -> list[frozenset[Card]]:
        """The holds of a hand that the first line fits which fits any."""
        wild = {face for line in chart.splitlines() if line.startswith("wild: ") for face in line[6:].split(", ")}
        bare = frozenset(card for card in hand if card[0] in wild)
        section = None
        for line in chart.splitlines():
            line = line.partition("#")[0].strip()
            if found := re.fullmatch(r"\[(\d) wild\]", line):
                section = int(found[1])
            elif line and not line.startswith("wild: ") and section in (None, len(bare)):
                rest = sorted(hand - bare)
                holds = [bare | {*more} for k in range(len(rest) + 1) for more in combinations(rest, k)]
                fits = [held for held in holds if all(self.fits(c, held, hand, bare) for c in line.split(", "))]
                if fits:
                    return fits
        return [bare]

    def fits(self, clause: str, held: frozenset[Card], hand: frozenset[Card], wild: frozenset[Card]) -> bool:
        """Whether a clause fits cards held."""
        natural = [card for card in held if card not in wild]
        faces = {face for face, _ in natural}
        straights = sum(faces <= run for run in self.runs) if natural and len(faces) == len(natural) else 0
        high = sum(face in self.high for face, _ in natural)
        if clause in self.wins:
            if self.win_of(hand) != clause or not self._sure(held, clause):
                return False
            return not any(self._sure(frozenset(c), clause) for k in range(len(held)) for c in combinations(hand, k))
        if found := re.fullmatch(r"(\d) to an? (.+)", clause):
            return len(held) == int(found[1]) and found[2] in self.reach(held)
        if found := re.fullmatch(r"(\d) cards?", clause):
            return len(held) == int(found[1])
        if found := re.fullmatch(r"(\d) high cards?", clause):
            return len(natural) == high == int(found[1])
        if found := re.fullmatch(r"(\d)(\+?) high", clause):
            return high >= int(found[1]) if found[2] else high == int(found[1])
        if found := re.fullmatch(r"in (\d)(\+?) straights?", clause):
            return straights >= int(found[1]) if found[2] else straights == int(found[1])
        if clause in ("outside", "inside"):
            return straights > 1 if clause == "outside" else straights == 1
        if clause in ("suited", "unsuited"):
            one = len({suit for _, suit in natural}) == 1
            return bool(natural) and one == (clause == "suited")
        if clause == "nothing":
            return not natural
        if clause == "pair" or (found := re.fullmatch(r"(\d) alike", clause)):
            number = 2 if clause == "pair" else int(clause[0])
            return len(held) == len(natural) == number and len(faces) == 1
        said = clause.removeprefix("with ")
        first, last = said[0], said[-1]
        among = set(self.faces[self.faces.index(first) : self.faces.index(last) + 1])
        return bool(faces & among) if clause.startswith("with ") else bool(faces) and faces <= among

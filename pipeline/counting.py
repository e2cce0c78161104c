"""Deal counts of a game, twice: by polynomial and by checking the canonical hands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluator.classify import DealCount, polynomial_count
from evaluator.expression import expand
from evaluator.polynomial import TooManyTerms
from evaluator.rules import Program
from evaluator.solve import Solved
from evaluator.symmetry import ProofError


def count_rows(solution: Solved) -> list[dict[str, Any]]:
    """For each win and bonus, its deals including and excluding higher ones, as plain values; big numbers are text.

    Raises `ProofError` where the polynomial and the hands disagree.
    """
    rows = _rows(solution.program, solution.deals, bool(solution.ordered))
    if solution.program.bonuses is not None:
        rows += _rows(solution.program.bonuses, solution.bonus_deals, bool(solution.ordered))
    return rows


def _rows(program: Program, deals: Sequence[DealCount], ordered: bool) -> list[dict[str, Any]]:
    names = [win.name for win in program.rules.wins]
    rows = []
    for number, (name, count) in enumerate(zip(names, deals, strict=True)):
        terms: int | None
        try:
            counted = polynomial_count(program, number, ordered=ordered)
            terms = len(expand(program.pool, program.wins[number]).terms)
        except TooManyTerms:
            counted, terms = count.including, None
        if counted != count.including:
            raise ProofError(f"{name}: {count.including} deals by checking, {counted} by polynomial")
        rows.append(
            {
                "win": name,
                "on": "draw" if program.key == "win" else "bonus",
                "including": str(count.including),
                "excluding": str(count.excluding),
                "polynomial_terms": terms,
                "exclusions": [names[i] for i in count.exclusions],
            }
        )
    return rows

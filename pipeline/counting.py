"""Deal counts of a game, twice: by polynomial and by checking the canonical hands."""

from __future__ import annotations

from typing import Any

from evaluator.classify import polynomial_count
from evaluator.expression import expand
from evaluator.polynomial import TooManyTerms
from evaluator.solve import Solved
from evaluator.symmetry import ProofError


def count_rows(solution: Solved) -> list[dict[str, Any]]:
    """For each win, its deals including and excluding higher wins, as plain values; integers of deals are text.

    Raises `ProofError` where the polynomial and the hands disagree.
    """
    names = [win.name for win in solution.program.rules.wins]
    rows = []
    for number, (name, count) in enumerate(zip(names, solution.deals, strict=True)):
        terms: int | None
        try:
            counted = polynomial_count(solution.program, number)
            terms = len(expand(solution.program.pool, solution.program.wins[number]).terms)
        except TooManyTerms:
            counted, terms = count.including, None
        if counted != count.including:
            raise ProofError(f"{name}: {count.including} deals by checking, {counted} by polynomial")
        rows.append(
            {
                "win": name,
                "including": str(count.including),
                "excluding": str(count.excluding),
                "polynomial_terms": terms,
                "exclusions": [names[i] for i in count.exclusions],
            }
        )
    return rows

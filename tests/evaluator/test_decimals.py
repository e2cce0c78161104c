"""Twelve places against the decimal module, with digits to spare."""

from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.decimals import decimal_12, surd_12

PLACE = Decimal("1e-12")
exact = Context(prec=120, rounding=ROUND_HALF_EVEN)
fractions = st.fractions(min_value=-1000, max_value=1000, max_denominator=10**14)


def rounded(value: Decimal) -> str:
    text = f"{value.quantize(PLACE, context=exact):f}"
    return text.removeprefix("-") if Decimal(text) == 0 else text


@given(fractions)
def test_fractions(value):
    assert decimal_12(value) == rounded(exact.divide(value.numerator, value.denominator))


@given(st.integers(-(10**15), 10**15))
def test_halves_go_to_the_even_neighbour(number):
    half = Fraction(2 * number + 1, 2 * 10**12)
    assert Fraction(decimal_12(half)) * 10**12 == (number if number % 2 == 0 else number + 1)
    assert surd_12(half, 0) == decimal_12(half)


@given(fractions, st.fractions(min_value=0, max_value=10**6, max_denominator=10**12), st.sampled_from([1, -1]))
def test_square_roots(rational, square, sign):
    root = exact.sqrt(exact.divide(square.numerator, square.denominator))
    expected = exact.add(exact.divide(rational.numerator, rational.denominator), sign * root)
    assert surd_12(rational, square, sign) == rounded(expected)


@pytest.mark.parametrize(("square", "sign"), [(-1, 1), (2, 0)])
def test_what_is_no_surd_is_refused(square, sign):
    with pytest.raises(ValueError, match=f"found {square} and {sign}"):
        surd_12(0, square, sign)

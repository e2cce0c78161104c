"""Calls that die, and the calls that only kept them company."""

from hypothesis import given
from hypothesis import strategies as st

from pipeline.execute import ENOUGH, Failure, Serial, call_all


class Company:
    """Calls that die take some of the others with them."""

    workers = 2
    name = "a test"

    def __init__(self, deadly, unlucky):
        self.deadly = deadly
        self.unlucky = unlucky

    def map(self, function, arguments, keys, report=None):
        assert len({*keys}) == len(keys) == len(arguments)
        kills = any(self.deadly & {*argument} for argument in arguments)
        for argument in arguments:
            alone = len(arguments) == 1
            dies = self.deadly & {*argument} or (kills and not alone and self.unlucky & {*argument})
            yield argument, Failure("died") if dies else function(argument)


def split(argument):
    return [(number,) for number in argument]


@given(st.data())
def test_only_what_dies_alone_is_a_failure_and_all_is_called(data):
    cuts = data.draw(st.lists(st.integers(1, 4), max_size=8))
    numbers = iter(range(sum(cuts)))
    arguments = [tuple(next(numbers) for _ in range(size)) for size in cuts]
    some = st.sets(st.integers(0, max(0, sum(cuts) - 1)), max_size=ENOUGH - 1)
    deadly, unlucky = data.draw(some), data.draw(some)
    found = list(call_all(Company(deadly, unlucky), sum, arguments, str, pieces=split))
    assert sorted(number for argument, _ in found for number in argument) == list(range(sum(cuts)))
    for argument, result in found:
        if isinstance(result, Failure):
            assert len(argument) == 1
            assert deadly & {*argument}
        else:
            assert result == sum(argument)
            assert not deadly & {*argument}


def test_where_everything_dies_not_everything_is_tried_alone():
    numbers = [(number,) for number in range(ENOUGH + 3)]
    found = dict(call_all(Company({*range(ENOUGH + 3)}, set()), sum, numbers, str))
    assert [result.reason for result in found.values()] == ["died"] * ENOUGH + [
        f"not tried again after {ENOUGH} others had died"
    ] * 3


def test_serial_calls_in_order():
    assert list(call_all(Serial(), sum, [(1, 2), (3,)], str)) == [((1, 2), 3), ((3,), 3)]

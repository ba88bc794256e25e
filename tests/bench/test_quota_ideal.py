"""The bound: what the trace takes where the control plane takes no time."""

import pytest

from bench.quota.ideal import makespan
from bench.quota.trace import Planned, Shape, span, trace


def planned(due: float, gpus: int, initializes: float, trains: float, shape: Shape) -> Planned:
    """One TrainJob."""
    return Planned(f"t{due}", "some", shape, "red", due, gpus, initializes, trains, fails=False)


TWO = [planned(0.0, 8, 4, 10, Shape.STEPS), planned(0.0, 8, 4, 10, Shape.STEPS)]
CASES = {
    "one after the other, downloads and all": (TWO, False, 28.0),
    "stepped, both download at once": (TWO, True, 24.0),
    "a gang is whole in any mode": (
        [planned(0.0, 8, 4, 10, Shape.GANG), planned(0.0, 8, 4, 10, Shape.GANG)],
        True,
        28.0,
    ),
    "who fits goes ahead, and takes no time from who waits": (
        [
            planned(0.0, 4, 0, 10, Shape.SINGLE),
            planned(0.0, 8, 0, 10, Shape.SINGLE),
            planned(0.0, 4, 0, 10, Shape.SINGLE),
        ],
        False,
        20.0,
    ),
}


@pytest.mark.parametrize("sentence", CASES)
def test_a_small_trace_takes_what_one_reckons(sentence: str) -> None:
    """On eight GPUs."""
    given, stepped, seconds = CASES[sentence]
    assert makespan(given, 1000.0, 8, stepped=stepped) == pytest.approx(seconds, abs=0.1)


def test_arrivals_are_waited_for() -> None:
    """At a low load the last arrival sets the end."""
    given = [planned(0.0, 8, 0, 10, Shape.SINGLE), planned(0.5, 8, 0, 10, Shape.SINGLE)]
    assert makespan(given, 0.1, 8, stepped=False) == pytest.approx(span(given, 0.1, 8) / 2 + 10)


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_faster_than_the_quota(seed: int) -> None:
    """All GPUs at work all the time is the least there is."""
    given = trace(16, seed)
    for stepped in (False, True):
        assert makespan(given, 1.3, 24, stepped=stepped) >= span(given, 1.0, 24)

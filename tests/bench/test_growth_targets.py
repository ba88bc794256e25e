"""Whether cost is constant is judged from the totals, and what grows is said."""

from pathlib import Path

import pytest

from bench.errors import RecordRefused
from bench.growth import record as records
from bench.growth.objects import Mode
from bench.growth.page import page, taken
from bench.growth.record import Run
from bench.growth.targets import at, judged, reviews, slope
from tests.bench.growths import record, run

SIZES = (10, 100, 1000)
MISSES: dict[str, tuple[Run, str]] = {
    "reviews that grow as n to the 1.06": (run(1000, calls=int(90 * 100**1.06)), "slope"),
    "writes that grow as n squared": (run(1000, writes={"jobs": 5_000_000}), "slope"),
    "150 MiB": (run(1000, memory_peak=150.0, calls=9000), "under 150"),
    "a tail of 2.1 times": (run(1000, p99=42.0), "p99"),
    "a TrainJob that does not complete": (run(1000, finished=999), "every TrainJob"),
}


def missed(*runs: Run) -> list[str]:
    """The targets that were measured and missed."""
    return [item.target for item in judged(record(*runs)) if item.found and not item.is_met]


def test_a_constant_cost_meets_every_target() -> None:
    """So that a miss below is the miss of what is named there."""
    assert all(item.is_met for item in judged(record(*map(run, SIZES))))


@pytest.mark.parametrize("sentence", MISSES)
def test_a_miss_is_a_miss(sentence: str) -> None:
    """The target is missed; memory that grew so much is not flat either."""
    bad, target = MISSES[sentence]
    first, *others = missed(run(10), run(100), bad)
    assert target in first
    assert all("flat" in other for other in others)


def test_memory_that_grows_is_not_flat() -> None:
    """Even under the bound."""
    (target,) = missed(run(10), run(100), run(1000, memory_peak=116.0))
    assert "flat" in target


def test_the_slope_is_fitted_over_all_sizes() -> None:
    """A cost of n to the 1.1 has the slope 1.1, whatever the factor."""
    plays = [run(size, calls=round(1000 * size**1.1)) for size in SIZES]
    assert slope(plays, reviews) == pytest.approx(1.1, abs=0.001)


def test_one_size_has_no_slope() -> None:
    """And nothing that is compared between sizes is met."""
    assert slope([run(10), run(10)], reviews) is None
    assert slope([run(10, calls=0), run(100)], reviews) is None
    is_met = {item.target[:20]: item.is_met for item in judged(record(run(10)))}
    assert list(is_met.values()) == [False, True, False, False, True]


def test_what_is_left_whole_is_not_judged_for_its_cost() -> None:
    """It is not ours; that it completes is."""
    whole = [run(size, Mode.WHOLE, calls=size**2, memory_peak=500.0) for size in SIZES]
    assert missed(*map(run, SIZES), *whole) == []
    assert len(missed(*map(run, SIZES), run(10, Mode.WHOLE, finished=9))) == 1


def test_repeats_count_by_their_median() -> None:
    """One that was disturbed does not decide."""
    plays = [run(10, memory_peak=peak) for peak in (90.0, 140.0, 91.0)]
    assert at(plays, 10, lambda item: item.memory_peak) == 91


def test_the_page_says_what_the_limit_is() -> None:
    """With Kueue's figure, for the plays with the most TrainJobs."""
    idle = run(1000, Mode.WHOLE, seconds=1000.0, busy=0.4)
    text = page(record(run(10), run(1000, seconds=400.0), idle))
    said = "The control plane and our server take"
    assert f"- 1,000 stepped: the CPUs are the limit, 95% busy. {said} 76%" in text
    assert f"- 1,000 whole: the CPUs are not the limit, 40% busy. {said} 30%" in text
    assert "Kueue admits 6.0 Workloads/s" in text
    assert "- 10 stepped" not in text


def test_the_page_has_a_line_for_each_size_and_mode() -> None:
    """Costs are of one TrainJob."""
    text = page(record(run(10), run(10, memory_peak=97.0), run(100, Mode.WHOLE)))
    assert "| 10 | stepped | 9.00 | 50.0 | 500 | 10 | 100 | 610 | 96 (95 to 97) |" in text
    assert "| 100 | whole | 50.0 | 6.0 | 55.0 | 1 | 4.0 | 20.0 | 2.0 |" in text


def test_the_page_says_what_was_cut() -> None:
    """And nothing if nothing was."""
    cut = page(record(run(10), run(100), run(450)))
    assert "Played with 10, 100, 450 TrainJobs (1,000 were wanted" in cut
    assert "were wanted" not in page(record(*map(run, SIZES)))


def test_what_is_taken_is_a_share_of_all_cpus() -> None:
    """Half of two CPUs is one."""
    assert taken(run(10, seconds=10.0, cpu={"kueue": 10.0}), 2) == 0.5


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    """The page can be written again without a run, and half a record is refused."""
    path = tmp_path / "growth.json"
    records.write(record(*map(run, SIZES)), path)
    assert records.read(path) == record(*map(run, SIZES))
    path.write_text("{}")
    with pytest.raises(RecordRefused, match="conditions"):
        records.read(path)

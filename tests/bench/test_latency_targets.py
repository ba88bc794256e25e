"""What was promised is judged by what was measured, and what is missed is said."""

from pathlib import Path

import pytest

from bench.errors import RecordRefused
from bench.latency import record as records
from bench.latency.contenders import Side
from bench.latency.page import page
from bench.latency.record import Record
from bench.latency.summary import DENIED, P99, PER_SECOND, Figure, losses, rows
from bench.latency.targets import judged
from tests.bench.latencies import JOB, good, measurement, opened, record, slow_kueue

ALL_SIDES = [measurement(side) for side in Side]

MISSES = {
    "2.9 times Kueue is not 3": (
        record(*ALL_SIDES[:1], measurement(Side.KUEUE, per_second=6000 / 2.9), *ALL_SIDES[2:]),
        "3 times",
    ),
    "a p99 like Kueue's is not lower": (
        record(measurement(Side.OURS, p99=20.0), *ALL_SIDES[1:]),
        "lower p99",
    ),
    "79 % of the floor is not 80": (
        record(*ALL_SIDES[:2], measurement(Side.FLOOR, per_second=6000 / 0.79)),
        "of the floor",
    ),
    "an open loop that falls behind": (
        record(*ALL_SIDES, opened(per_second=900.0), slow_kueue()),
        "1000 reviews/s",
    ),
    "an open loop with a tail": (record(*ALL_SIDES, opened(p99=10.1), slow_kueue()), "10 ms"),
    "a slow decision": (record(*ALL_SIDES, decision=50.1), "50 µs"),
}


def missed(given: Record) -> list[str]:
    """The targets that were measured and missed."""
    return [item.target for item in judged(given) if item.found and not item.is_met]


def test_a_good_record_meets_every_target() -> None:
    """So that a miss below is the miss of what is named there."""
    assert all(item.is_met for item in judged(good()))


@pytest.mark.parametrize("sentence", MISSES)
def test_a_miss_is_a_miss(sentence: str) -> None:
    """One target is missed, and no other."""
    given, target = MISSES[sentence]
    (found,) = missed(given)
    assert target in found


def test_what_was_not_measured_is_not_met() -> None:
    """A record without an open loop says nothing of it."""
    assert [item.is_met for item in judged(record(*ALL_SIDES))].count(False) == 2


def test_one_bad_review_among_good_ones_is_named() -> None:
    """A target is about every review, and the page says which one missed it."""
    bad = [measurement(side, title="bad", per_second=1000.0) for side in Side]
    (judgement, *_) = judged(record(*ALL_SIDES, *bad))
    assert judgement.missed == ["bad"]
    assert judgement.found[JOB] == "4.00 times"


def test_a_row_is_the_median_with_its_spread() -> None:
    """One repeat that was disturbed does not decide."""
    repeats = [measurement(Side.OURS, per_second=n, repeat=i) for i, n in enumerate((9, 5, 6))]
    (row,) = rows(repeats)
    assert row.spread(PER_SECOND, Side.OURS) == (6, 5, 9)
    assert row.ratio(PER_SECOND, Side.KUEUE) is None


def test_losses_are_listed_figure_by_figure() -> None:
    """A cell may be won by throughput and lost by its tail; a denial is always a loss."""
    ours = measurement(Side.OURS, p99=30.0, denied=3)
    found = [figure for _, figure in losses(rows([ours, *ALL_SIDES[1:]]))]
    assert P99 in found
    assert DENIED in found
    assert PER_SECOND not in found


@pytest.mark.parametrize(("ours", "lost"), [(999.4, []), (998.0, [PER_SECOND])])
def test_who_keeps_up_as_well_has_not_lost(ours: float, lost: list[Figure]) -> None:
    """At one rate for both, the last answer comes a little earlier or later."""
    sides = [measurement(Side.OURS, per_second=ours), measurement(Side.KUEUE, per_second=1000.0)]
    found = [figure for _, figure in losses(rows(sides)) if figure is PER_SECOND]
    assert found == lost


def test_a_good_record_has_no_losses() -> None:
    """Nothing is called a loss that is none."""
    assert list(losses(rows(good().measurements))) == []


def test_the_page_says_what_was_missed_and_lost() -> None:
    """In words, and in the first tables."""
    given = record(measurement(Side.OURS, p99=30.0), *ALL_SIDES[1:])
    text = page(given)
    assert "| a lower p99 than Kueue's at 25 connections | **missed** |" in text
    assert f"| {JOB} | p99 ms | 30 | 20 |" in text
    assert "In no cell" not in text


def test_the_page_of_a_good_record() -> None:
    """Every side has its line, and ours the ratios."""
    text = page(good())
    assert "**missed**" not in text
    assert "In no cell" in text
    assert f"| {JOB} | kueue-steps | 6,000 | 2.5 | 5 | 10 | 167 | 90 | 4.00 | 0.86 |" in text
    assert "|  | Kueue | 1,500 |" in text


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    """The page can be written again without a run."""
    path = tmp_path / "latency.json"
    records.write(good(), path)
    assert records.read(path) == good()


def test_half_a_record_is_refused(tmp_path: Path) -> None:
    """Nothing is told from what is incomplete."""
    path = tmp_path / "latency.json"
    path.write_text("{}")
    with pytest.raises(RecordRefused, match="conditions"):
        records.read(path)

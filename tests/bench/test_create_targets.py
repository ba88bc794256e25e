"""What clients feel is judged by what they felt, and what is missed or lost is said."""

from pathlib import Path

import pytest

from bench.create import record as records
from bench.create.load import Operation
from bench.create.objects import Kind
from bench.create.page import page
from bench.create.plan import Arm
from bench.create.record import Measurement, Reviews
from bench.create.summary import P50, rows
from bench.create.targets import judged, losses
from bench.errors import RecordRefused
from tests.bench.creates import figures, good, measurement, paced, record

MISSES: dict[str, tuple[Measurement, str]] = {
    "3.1 ms more at p50 in a hurry": (measurement(p50=3.1), "p50, 50 clients, as fast"),
    "15.1 ms more at p99 in a hurry": (measurement(p99=15.1), "p99, 50 clients, as fast"),
    "3.1 ms more at p50 without hurry": (paced(p50=3.1), "p50, 50 clients that take"),
    "15.1 ms more at p99 without hurry": (paced(p99=15.1), "p99, 50 clients that take"),
    "a call for a Pod": (measurement(Kind.POD, reviews=Reviews(1.0, 0.1)), "no call"),
    "Pods that take longer": (measurement(Kind.POD, p50=1.1), "no difference"),
    "a request that fails": (
        paced(Kind.JOB, failed=1, first_problem="500: oh"),
        "no request fails",
    ),
}


@pytest.mark.parametrize("sentence", MISSES)
def test_a_miss_is_a_miss(sentence: str) -> None:
    """One target is missed, and no other."""
    bad, target = MISSES[sentence]
    kept = [item for item in good() if (item.kind, item.pace) != (bad.kind, bad.pace)]
    (missed,) = [item.target for item in judged(record(*kept, bad)) if not item.is_met]
    assert target in missed


def test_a_good_record_meets_every_target() -> None:
    """So that a miss above is the miss of what is named there."""
    assert all(item.is_met for item in judged(record(*good())))


def test_other_numbers_of_clients_have_no_target() -> None:
    """What 200 clients wait for a CPU is told, not judged."""
    crowded = measurement(clients=200, p50=500.0, p99=900.0)
    assert all(item.is_met for item in judged(record(*good(), crowded)))


def test_five_per_cent_of_a_long_wait_are_no_difference() -> None:
    """Where a Pod takes 200 ms anyway, 9 ms are chance, and 11 are not."""
    for added, is_met in ((9.0, True), (11.0, False)):
        arms = {Arm.WITH: figures(200 + added, 300), Arm.WITHOUT: figures(200, 300)}
        slow = measurement(Kind.POD, clients=200, arms=arms)
        (judgement,) = [
            item for item in judged(record(*good(), slow)) if "no difference" in item.target
        ]
        assert judgement.is_met is is_met


def test_the_difference_is_taken_within_a_repeat() -> None:
    """A repeat in which everything is slow adds nothing."""
    slow = {Arm.WITH: figures(102, 400), Arm.WITHOUT: figures(100, 390)}
    repeats = [measurement(p50=3.0), measurement(repeat=1, arms=slow), measurement(p50=4.0)]
    (row,) = rows(repeats)
    assert row.added(P50) == (3, 2, 4)
    assert row.spread(Arm.WITHOUT, P50) == (20, 20, 100)


def test_a_loss_is_a_figure_that_is_worse_in_every_repeat() -> None:
    """Once better, and it may have been chance."""
    always = [measurement(p50=n, p99=-1.0) for n in (1.0, 0.5)]
    once = [measurement(operation=Operation.UPDATE, p50=n, p99=-1.0) for n in (1.0, -0.5)]
    (lost,) = losses(rows(always + once))
    assert lost.operation is Operation.CREATE


def test_the_page_says_what_was_missed() -> None:
    """With the figure, the cell, and what a call took."""
    text = page(record(*good(), measurement(Kind.JOB, operation=Operation.UPDATE, p50=4.0)))
    assert "5 of 6 meet it" not in text
    assert "UPDATE Job of a step, 50 clients: **+4.0 ms**" in text
    assert "| 50 clients | UPDATE | 24.0 | 20.0 | +4.0 | 82.0 | 80.0 | +2.0 | 100 | 2.5 |" in text
    assert "| 50 clients, 50 requests/s | CREATE | 20.0 | 20.0 | +0.0 |" in text


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    """The page can be written again without a run, and half a record is refused."""
    path = tmp_path / "create.json"
    records.write(record(*good()), path)
    assert records.read(path) == record(*good())
    path.write_text("{}")
    with pytest.raises(RecordRefused, match="conditions"):
        records.read(path)

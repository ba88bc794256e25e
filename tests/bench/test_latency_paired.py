"""What two servers cost is compared repeat by repeat."""

from pathlib import Path

from bench.latency.contenders import Side
from bench.latency.pairs import Pair, Record, beside, page, read, write
from tests.bench.latencies import environment, measurement


def pair(title: str, other: float, ours: float) -> Pair:
    """One repeat of a server that is busy all the time."""
    made = (
        measurement(Side.OURS, title=title, per_second=float(one), p99=1e4 / one)
        for one in (other, ours)
    )
    return Pair(*made)


def record(*pairs: Pair) -> Record:
    """A run beside the revision 1b805f3."""
    return Record("1b805f3", environment(), list(pairs))


def test_a_machine_that_slows_down_changes_no_ratio() -> None:
    """Both sides of a repeat meet the same machine: twice as fast is twice as fast."""
    _, _, line = beside(record(pair("Job", 1000, 2000), pair("Job", 500, 1000))).splitlines()
    assert line.startswith("| Job | 2.00 | 750 (500 to 1,000) | 1,500 (1,000 to 2,000) |")
    assert line.endswith("| 1500 (1000 to 2000) | 750 (500 to 1000) |")


def test_each_review_has_its_line() -> None:
    """In the order in which they were asked."""
    text = beside(record(pair("Job", 1000, 2000), pair("JobSet", 1000, 900)))
    assert [line.split(" | ")[:2] for line in text.splitlines()[2:]] == [
        ["| Job", "2.00"],
        ["| JobSet", "0.90"],
    ]


def test_every_repeat_is_kept(tmp_path: Path) -> None:
    """The record holds what the page has only medians of."""
    made = record(pair("Job", 1000, 2000), pair("Job", 500, 1000))
    write(made, tmp_path / "paired.json")
    assert read(tmp_path / "paired.json") == made


def test_the_page_names_the_other_revision() -> None:
    """Without it the figures would tell nothing."""
    assert page(record(pair("Job", 1000, 2000))).startswith("# Our server beside that of 1b805f3\n")

"""What was promised of the quota is judged by what was measured, and what is lost is said."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bench.errors import RecordRefused
from bench.pictures.palette import DARK, LIGHT
from bench.quota import ideal, picture
from bench.quota import record as records
from bench.quota.__main__ import main
from bench.quota.figures import Times
from bench.quota.page import page
from bench.quota.plan import QUOTA, Mode
from bench.quota.record import Record
from bench.quota.summary import MAKESPAN, PEAK, cells, losses
from bench.quota.targets import SHARE_OF_GAIN, full_gain, judged
from tests.bench.drawn import Drawn
from tests.bench.quotas import TRACE, WASTE, measurement, plays, record

GAIN = SHARE_OF_GAIN * full_gain(record())


def changed(mode: Mode, load: float, **changes: Any) -> Record:
    """A good record but for this play."""
    good = [play for play in plays() if (play.mode, play.load) != (mode, load)]
    return record(*good, measurement(mode, load, **changes))


MISSES = {
    "94 % of the waste removed, by a meter that is right within a tenth": (
        changed(Mode.STEPPED, 0.9, initializers_stepped=WASTE * 0.06),
        "waste in initialization removed",
    ),
    "a whole that wastes more than its initializers can take": (
        changed(Mode.WHOLE, 0.9, initializers_stepped=WASTE * 1.11),
        "the meter",
    ),
    "a makespan of 103 % at a low load": (changed(Mode.CPU, 0.5, makespan=51.5), "load 0.5"),
    "a gain that is too small for a trace without an end": (
        changed(Mode.STEPPED, 1.3, makespan=60 / (1 + GAIN) + 0.1),
        "load 1.3",
    ),
    "single-step TrainJobs that wait longer": (
        record(*plays(single_step=Times(2, 6.0, 8.5))),
        "single-step",
    ),
    "a violated invariant": (record(*plays(violations=["above the quota"])), "invariant"),
    "a TrainJob without an end": (record(*plays(astray=["t3 came to no end"])), "invariant"),
    "more GPUs than the quota": (record(*plays(peak_used=QUOTA + 1)), "invariant"),
}


def test_a_good_record_meets_every_target() -> None:
    """So that a miss below is the miss of what is named there."""
    assert [item.target for item in judged(record(*plays())) if not item.is_met] == []


@pytest.mark.parametrize("sentence", MISSES)
def test_a_miss_is_a_miss(sentence: str) -> None:
    """One target is missed, and no other."""
    given, target = MISSES[sentence]
    (found,) = [item.target for item in judged(given) if not item.is_met]
    assert target in found


def test_a_gain_that_is_too_small_for_this_trace_misses_both() -> None:
    """What the trace leaves of the gain is less than the gain."""
    bound = SHARE_OF_GAIN * ideal.gain(TRACE, 1.3, QUOTA)
    given = changed(Mode.CPU, 1.3, makespan=60 / (1 + bound) + 0.1)
    found = [item.target for item in judged(given) if not item.is_met]
    assert ["this trace" in target for target in found] == [False, True]


def test_repeats_are_compared_in_pairs_and_judged_by_their_median() -> None:
    """One disturbed repeat of three does not decide, and whole's repeat goes with its own."""
    times = {0: (50.0, 50.0), 1: (100.0, 100.0), 2: (50.0, 90.0)}
    given = [
        measurement(mode, 0.5, repeat, makespan=times[repeat][mode is not Mode.WHOLE])
        for repeat in times
        for mode in (list(Mode) if repeat % 2 else reversed(Mode))
    ]
    (cell,) = cells(record(*given).plays)
    found = cell.paired(Mode.STEPPED, lambda whole, other: other.makespan / whole.makespan)
    assert found == (1.0, 1.0, 1.8)
    assert cell.spread(MAKESPAN, Mode.STEPPED) == (90.0, 50.0, 100.0)


def test_losses_are_listed_figure_by_figure() -> None:
    """Where stepping takes longer; more GPUs at work are none."""
    given = record(*plays(makespan=41.0, peak_used=QUOTA))
    found = [(cell.load, mode, figure) for cell, mode, figure in losses(cells(given.plays))]
    assert found == [(0.9, Mode.STEPPED, MAKESPAN)]
    busier = changed(Mode.WHOLE, 0.9, peak_used=QUOTA - 8)
    assert PEAK not in [figure for *_, figure in losses(cells(busier.plays))]


def test_the_page_says_what_was_missed_and_lost() -> None:
    """In words, and in the first tables."""
    text = page(record(*plays(makespan=41.0, astray=["t3 came to no end"])))
    assert "**missed**" in text
    assert "| 0.9 | stepped | makespan | 41.00 | 40.00 |" in text
    assert "- load 0.9, stepped, repeat 1: t3 came to no end" in text


def test_the_page_of_a_good_record() -> None:
    """Every mode has its line at every load."""
    text = page(record(*plays()))
    assert "**missed**" not in text
    assert "In no cell" in text
    assert "What went wrong" not in text
    assert "| +50.0% | +50.0% |" in text
    for load in ("0.5", "0.9", "1.3"):
        assert [f"| {load} | {mode} | node | 14 |" in text for mode in Mode] == [True] * 3


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    """The page and the picture can be made again without a run."""
    path = tmp_path / "quota.json"
    records.write(record(*plays()), path)
    assert records.read(path) == record(*plays())
    answer = CliRunner().invoke(main, ["--from", str(path), "--to", str(tmp_path / "made")])
    assert answer.exit_code == 0, answer.output
    assert (tmp_path / "made" / "quota.md").read_text() == page(record(*plays()))
    assert (tmp_path / "made" / "quota-dark.svg").exists()


def test_half_a_record_is_refused(tmp_path: Path) -> None:
    """Nothing is told from what is incomplete."""
    path = tmp_path / "quota.json"
    path.write_text("{}")
    with pytest.raises(RecordRefused, match="environment"):
        records.read(path)


def test_the_picture_shows_the_highest_load() -> None:
    """A panel for each mode, with the record's makespans, and the areas that were used."""
    drawn = Drawn(picture.draw(record(*plays()), LIGHT))
    assert drawn.said("title") in drawn.texts()
    for play in picture.shown(record(*plays())):
        assert play.load == 1.3
        assert f"done after {play.figures.makespan:.1f} s" in drawn.texts()
    ratio = drawn.area("whole-used") / drawn.area("stepped-used")
    assert ratio == pytest.approx((60 - 1) / (40 - 1), rel=0.001)


def test_both_themes_differ_in_colours_only() -> None:
    """Nothing moves when a reader switches."""
    light, dark = (Drawn(picture.draw(record(*plays()), palette)) for palette in (LIGHT, DARK))
    assert light.geometry == dark.geometry
    assert light.source != dark.source

"""What the demo has to show, and what it ends with."""

import io
import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from rich.console import Console

from localcluster.demo import report
from localcluster.demo.claims import Claim, claims, unviolated
from localcluster.demo.meter import Figures
from localcluster.invariants.violation import Invariant, violation

WHOLE = Figures(520.0, 240.0, 280.0, 240.0, 70.0, 0.0, 5.0, 8, 8)
STEPPED = Figures(270.0, 240.0, 30.0, 6.0, 47.0, 9.0, 9.0, 8, 8)


def verdicts(whole: Figures = WHOLE, stepped: Figures = STEPPED, starts: int = 2) -> list[bool]:
    """Which claims hold."""
    return [claim.holds for claim in claims(whole, stepped, most_starts=starts)]


def test_every_claim_holds_of_figures_as_measured() -> None:
    """The figures of a real run pass."""
    assert verdicts() == [True] * 6


MISSED = {
    "idle before training above 5 %": (0, replace(STEPPED, gpu_seconds_idle_before_training=12.1)),
    "idle above a quarter": (1, replace(STEPPED, gpu_seconds_idle=70.1)),
    "no shorter": (2, replace(STEPPED, makespan_seconds=70.0)),
    "above the quota": (3, replace(STEPPED, gpu_peak_used=9)),
    "too many reviews": (4, replace(STEPPED, reviews_per_trainjob=12.3)),
}


@pytest.mark.parametrize(("number", "stepped"), MISSED.values(), ids=MISSED.keys())
def test_a_missed_claim_fails_alone(number: int, stepped: Figures) -> None:
    """Each claim looks at its own figure, and just above the bound it fails."""
    assert verdicts(stepped=stepped) == [index != number for index in range(6)]


def test_a_quota_that_is_exceeded_whole_fails_too() -> None:
    """The claim about the quota is about every sample of both plays."""
    assert not verdicts(whole=replace(WHOLE, gpu_peak_used=16))[3]


def test_a_job_that_is_written_again_and_again_fails() -> None:
    """A held Job that JobSet and the webhook fight over is found out."""
    assert verdicts(starts=40) == [True] * 5 + [False]


def test_each_violation_of_an_invariant_fails_with_its_sentence() -> None:
    """What the watcher found is said as it is; nothing found is one claim that holds."""
    found = [violation(Invariant.ADMISSION, "stepped", f"Pod {name}") for name in "ab"]
    assert unviolated(found) == [Claim(False, "stepped: Pod a"), Claim(False, "stepped: Pod b")]
    assert [claim.holds for claim in unviolated([])] == [True]


def test_bounds_are_inclusive() -> None:
    """Exactly 5 %, a quarter and twelve reviews pass."""
    stepped = replace(
        STEPPED,
        gpu_seconds_idle_before_training=12.0,
        gpu_seconds_idle=70.0,
        reviews_per_trainjob=12.0,
    )
    assert all(verdicts(stepped=stepped))


def test_nothing_to_compare_with_is_no_division_by_zero() -> None:
    """If whole wastes nothing, stepping must not either."""
    perfect = replace(WHOLE, gpu_seconds_idle=0.0, gpu_seconds_idle_before_training=0.0)
    assert verdicts(whole=perfect)[:2] == [False, False]


def test_the_report_is_both_plays_under_the_agreed_keys(tmp_path: Path) -> None:
    """The file holds exactly the table, in a folder that need not exist."""
    path = tmp_path / "new" / "report.json"
    report.write(path, WHOLE, STEPPED)
    assert json.loads(path.read_text()) == {"whole": asdict(WHOLE), "stepped": asdict(STEPPED)}
    assert set(asdict(WHOLE)) == set(report.ROWS)


def test_the_table_has_a_row_for_each_figure() -> None:
    """Whole and stepped stand side by side, and fit a terminal of 80 columns."""
    out = io.StringIO()
    console = Console(file=out, width=80)
    console.print(report.table(WHOLE, STEPPED))
    printed = out.getvalue()
    rows = [line.split("│")[1:4] for line in printed.splitlines() if line.startswith("│")]
    assert [row[0].strip() for row in rows] == [label.strip() for label in report.ROWS.values()]
    assert [cell.strip() for cell in rows[0][1:]] == ["520.0", "270.0"]


def test_verdicts_begin_with_their_word() -> None:
    """PASS or FAIL comes first, so that grep finds it."""
    out = io.StringIO()
    console = Console(file=out, width=60)
    report.print_claims(console, claims(WHOLE, replace(STEPPED, gpu_peak_used=16), most_starts=2))
    lines = out.getvalue().splitlines()
    assert [line[:4] for line in lines] == ["PASS", "PASS", "PASS", "FAIL", "PASS", "PASS"]

"""The timeline shows its record: no more, no less, and each time the same."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench.pictures.folder import file_of
from bench.pictures.palette import DARK, LIGHT, THEMES
from bench.timeline import picture, record
from bench.timeline.__main__ import KEPT, NAME, main
from bench.timeline.panel import HEADROOM, spans
from bench.timeline.record import Gpus, Record
from tests.bench.drawn import Drawn

# Coordinates are written to a millionth of a pixel, figures to tenths.
TOLERANCE = 0.2


@pytest.fixture(scope="module")
def measured() -> Record:
    """The committed record."""
    return record.read(KEPT)


@pytest.fixture(scope="module")
def drawn() -> Drawn:
    """The committed picture, light; the dark one has the same geometry."""
    return Drawn(file_of(NAME, LIGHT).read_text())


@pytest.fixture(scope="module")
def per_second(measured: Record, drawn: Drawn) -> float:
    """Pixels per second, from the longest training in the picture and in the record."""
    run = max(measured.whole.runs, key=lambda run: run.end - run.start)
    return drawn.width(f"whole-{run.trainjob}-{run.step}") / (run.end - run.start)


@pytest.mark.parametrize("lane", ["whole", "stepped"])
def test_the_areas_are_the_gpu_seconds(
    lane: str, measured: Record, drawn: Drawn, per_second: float
) -> None:
    """Measured in the picture, used and idle are what the demo's table said."""
    per_gpu = picture.AREA / (measured.quota * HEADROOM)
    figures = measured.lanes[lane].figures
    for name, seconds in (("used", figures.gpu_seconds_used), ("idle", figures.gpu_seconds_idle)):
        found = drawn.area(f"{lane}-{name}") / (per_second * per_gpu)
        assert found == pytest.approx(seconds, abs=TOLERANCE), name


@pytest.mark.parametrize("lane", ["whole", "stepped"])
def test_every_run_is_drawn_as_long_as_it_was(
    lane: str, measured: Record, drawn: Drawn, per_second: float
) -> None:
    """Both panels have one scale of time."""
    for run in measured.lanes[lane].runs:
        width = drawn.width(f"{lane}-{run.trainjob}-{run.step}")
        assert width / per_second == pytest.approx(run.end - run.start, abs=0.002), run


def test_the_title_is_the_finding(measured: Record, drawn: Drawn) -> None:
    """With the record's idle GPU-seconds and makespans, in the picture as for a screen reader."""
    whole, stepped = measured.whole.figures, measured.stepped.figures
    title = drawn.said("title")
    assert re.findall(r"\d+", title) == [
        f"{stepped.gpu_seconds_idle:.0f}",
        f"{whole.gpu_seconds_idle:.0f}",
    ]
    assert title in drawn.texts()
    assert picture.gain(measured) in drawn.texts()
    for figures in (whole, stepped):
        assert f"{figures.makespan_seconds:.1f} s" in picture.gain(measured)
        assert f"done after {figures.makespan_seconds:.1f} s" in drawn.texts()
        totals = f"{figures.gpu_seconds_used:.0f} used, {figures.gpu_seconds_idle:.0f} idle"
        assert totals in drawn.said("desc")


def test_the_caption_says_what_it_was_measured_with(measured: Record, drawn: Drawn) -> None:
    """Date, processors, every version, and that the pods are simulated."""
    caption = drawn.texts()[-1]
    made = measured.environment
    said = [made.date, f"{made.cpus} CPUs", "Pods are simulated"]
    assert [one for one in [*said, *made.versions.values()] if one not in caption] == []


def test_the_committed_picture_is_what_the_committed_record_gives(tmp_path: Path) -> None:
    """In every byte; `make timeline FROM=bench/results/timeline.json` draws it again."""
    answer = CliRunner().invoke(main, ["--from", str(KEPT), "--pictures", str(tmp_path)])
    assert answer.exit_code == 0, answer.output
    for theme in THEMES:
        assert file_of(NAME, theme, tmp_path).read_bytes() == file_of(NAME, theme).read_bytes()


def test_drawing_twice_gives_the_same_bytes(measured: Record) -> None:
    """No date, no random ids, nothing left over from the drawing before."""
    once = picture.draw(measured, LIGHT)
    picture.draw(measured, DARK)
    assert picture.draw(measured, LIGHT) == once


def test_another_record_gives_another_picture(measured: Record, tmp_path: Path) -> None:
    """A figure that changes in the record changes in the picture."""
    document = json.loads(KEPT.read_text())
    document["stepped"]["figures"]["makespan_seconds"] = 12.3
    path = tmp_path / "other.json"
    path.write_text(json.dumps(document))
    other = Drawn(picture.draw(record.read(path), LIGHT))
    assert "done after 12.3 s" in other.texts()


def test_a_label_needs_room() -> None:
    """Spans that touch are one; those shorter than six seconds stay without a label."""
    moments = [Gpus(0.0, 8, 0), Gpus(3.0, 8, 8), Gpus(5.0, 8, 4), Gpus(9.0, 8, 0), Gpus(12.0, 0, 0)]
    found = list(spans(moments, lambda now: now.used > 0))
    assert [(span.start, span.end, span.middle) for span in found] == [(3.0, 9.0, 6.0)]
    assert list(spans(moments, lambda now: now.used == 0)) == []


def test_a_record_that_is_refused_draws_nothing(tmp_path: Path) -> None:
    """The command ends with the reason, and leaves the folder as it was."""
    path = tmp_path / "timeline.json"
    path.write_text("{}")
    answer = CliRunner().invoke(main, ["--from", str(path), "--pictures", str(tmp_path / "made")])
    assert answer.exit_code == 1
    assert "required field `environment`" in answer.output
    assert not (tmp_path / "made").exists()

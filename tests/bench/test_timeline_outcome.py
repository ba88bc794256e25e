"""From a play to its record, on a small play whose areas are known."""

from dataclasses import replace

import pytest

from bench.environment import Environment, Observed, versions
from bench.timeline.outcome import changes, lane, recorded
from bench.timeline.record import Gpus, Lane, contradictions
from localcluster.demo.claims import Claim
from localcluster.demo.frame import Frame
from localcluster.demo.meter import Sample, Writes, measure
from localcluster.demo.play import Outcome, Played
from localcluster.demo.runs import Run
from localcluster.demo.trace import WHOLE
from localcluster.modules import KUEUE, read_go_mod

DOWNLOAD, TRAIN = ("a", "dataset-initializer"), ("a", "node")
# Seconds, GPUs reserved and used, and who is at work; the clock of the samples began at 100.
SEEN: list[tuple[float, int, int, set[tuple[str, str]]]] = [
    (0.0, 0, 0, set()),
    (0.1, 0, 0, set()),
    (1.00004, 8, 0, {DOWNLOAD}),
    (2.0, 8, 0, {DOWNLOAD}),
    (4.0, 8, 8, {TRAIN}),
    (8.0, 8, 0, set()),
    (9.0, 0, 0, set()),
    (9.5, 0, 0, set()),
]


def played() -> Played:
    """The play as the demo hands it over."""
    frames = [
        Frame(WHOLE, seconds, {}, reserved, used, idle=0.0, at_work=frozenset(at_work))
        for seconds, reserved, used, at_work in SEEN
    ]
    samples = [
        Sample(100 + seconds, {"w": reserved}, {"w": used}, is_over=seconds >= 9)
        for seconds, reserved, used, _ in SEEN
    ]
    return Played(frames, measure(samples, Writes(reviews=9, jobs=9, trainjobs=1), quota=8))


def test_a_lane_keeps_each_change_and_the_end() -> None:
    """The step function begins with the submission, ends with the last look, skips equals."""
    assert lane(played()) == Lane(
        gpus=[
            Gpus(0.0, 0, 0),
            Gpus(1.0, 8, 0),
            Gpus(4.0, 8, 8),
            Gpus(8.0, 8, 0),
            Gpus(9.0, 0, 0),
            Gpus(9.5, 0, 0),
        ],
        runs=[Run("a", "dataset-initializer", 1.0, 4.0), Run("a", "node", 4.0, 8.0)],
        figures=played().figures,
    )


def test_the_areas_of_the_record_are_the_figures_of_the_demo() -> None:
    """What is left out changes no area."""
    made = lane(played())
    assert made.gpu_seconds(lambda gpus: gpus.reserved) == 64.0
    assert made.gpu_seconds(lambda gpus: gpus.used) == 32.0
    assert (made.figures.gpu_seconds_reserved, made.figures.gpu_seconds_used) == (64.0, 32.0)


def test_a_demo_becomes_a_record_that_contradicts_itself_nowhere() -> None:
    """Both lanes, their quota, and what it was measured with."""
    outcome = Outcome(played(), played(), claims=[Claim(True, "it is so")])
    made = recorded(outcome, Observed().until_now())
    assert (made.quota, made.whole, made.stepped) == (8, lane(played()), lane(played()))
    assert list(contradictions(made)) == []


@pytest.mark.parametrize("count", [0, 1])
def test_a_play_of_no_length_has_no_changes(count: int) -> None:
    """One frame is one moment, none is none."""
    assert len(list(changes(played().frames[:count]))) == count


def test_one_claim_that_fails_is_enough() -> None:
    """The command ends with a finding unless the demo has shown all that it claims."""
    outcome = Outcome(played(), played(), claims=[Claim(True, "one"), Claim(True, "two")])
    assert outcome.has_shown_all
    assert not replace(outcome, claims=[Claim(True, "one"), Claim(False, "two")]).has_shown_all


def test_the_environment_is_that_of_the_whole_measurement() -> None:
    """The load before and after, and the versions that go.mod pins."""
    made = Observed().until_now()
    assert isinstance(made, Environment)
    assert all(load >= 0 for load in (*made.load_before, *made.load_after))
    assert versions()["Kueue"] == read_go_mod().versions[KUEUE].removeprefix("v")

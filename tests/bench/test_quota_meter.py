"""GPU-seconds and waits, on plays whose areas are known."""

from typing import Any

import pytest

from bench.quota import meter
from bench.quota.courses import Course, courses
from bench.quota.facts import EVERYTHING, Ended, Fact, Pod, Seen, Workload, fact
from bench.quota.figures import Submitted, Times, curve, figures, times
from bench.quota.meter import Gpus, Moment
from bench.quota.trace import Planned, Shape
from localcluster.invariants.judge import Kind

DOWNLOAD, TRAIN = "model-initializer", "node"
START = 100.0
STEPPABLE = Planned("t0", "70B", Shape.STEPS, "red", 0.0, 8, 4.0, 10.0, fails=False)
GANG = Planned("t1", "gang", Shape.GANG, "red", 0.5, 4, 2.0, 5.0, fails=False)


def workload(gpus: int, step: str = EVERYTHING, trainjob: str = "t0", **how: Any) -> Workload:
    """One of a TrainJob, or of a step of it."""
    usual = {"is_reserved": gpus > 0, "is_evicted": False} | how
    return Workload(f"{trainjob}-{step}", trainjob, step, gpus, **usual)


def pod(step: str, *, runs: bool, gpus: int = 0, trainjob: str = "t0") -> Pod:
    """The one of a step."""
    return Pod(f"{trainjob}-{step}-pod", trainjob, step, gpus, runs)


def seen(*facts: tuple[float, Fact]) -> list[Seen]:
    """At so many seconds after the start."""
    return [Seen(START + at, "here", what) for at, what in facts]


WHOLE = seen(
    (1.0, workload(0)),
    (2.0, workload(8)),
    (3.0, pod(DOWNLOAD, runs=True)),
    (7.0, pod(DOWNLOAD, runs=False)),
    (8.0, pod(TRAIN, runs=False, gpus=8)),
    (9.0, pod(TRAIN, runs=True, gpus=8)),
    (19.0, pod(TRAIN, runs=False, gpus=8)),
    (20.5, workload(0, is_reserved=True)),
    (21.0, Ended("t0", has_failed=False)),
)
STEPPED = seen(
    (1.0, workload(0, DOWNLOAD)),
    (1.5, workload(0, DOWNLOAD, is_reserved=True)),
    (2.0, pod(DOWNLOAD, runs=True)),
    (6.0, pod(DOWNLOAD, runs=False)),
    (6.5, workload(0, TRAIN)),
    (7.0, workload(8, TRAIN)),
    (8.0, pod(TRAIN, runs=True, gpus=8)),
    (18.0, pod(TRAIN, runs=False, gpus=8)),
    (19.0, workload(0, TRAIN, is_reserved=True)),
    (19.0, Ended("t0", has_failed=False)),
)
AREAS = {
    "whole: one second until the download, four of it, two until training, one and a half after": (
        WHOLE,
        Gpus(8 * 18.5, 80, initializers=32, hand_over=24, tail=12),
    ),
    "stepped: nobody waits for the download": (
        STEPPED,
        Gpus(8 * 12, 80, initializers=0, hand_over=8, tail=8),
    ),
    "nothing reserved is nothing idle, though a pod runs": (
        seen((0, pod(TRAIN, runs=True, gpus=8)), (2, pod(TRAIN, runs=False, gpus=8))),
        Gpus(used=16),
    ),
    "a deleted Workload holds nothing": (
        seen((0, workload(8)), (3, workload(0))),
        Gpus(24, 0, 0, 24),
    ),
}


@pytest.mark.parametrize("sentence", AREAS)
def test_idle_gpus_are_idle_for_one_reason(sentence: str) -> None:
    """Reserved is used and idle, and idle is split without a remainder."""
    given, areas = AREAS[sentence]
    (moments,) = meter.by_trainjob(given, START).values()
    assert meter.gpu_seconds(moments) == pytest.approx(areas)


def test_the_total_is_that_of_all() -> None:
    """Two TrainJobs with the same steps at the same moments: twice as much, at as many moments."""
    other = [Seen(item.at, item.namespace, _renamed(item.fact)) for item in WHOLE]
    one = meter.by_trainjob(WHOLE, START)["t0"]
    both = meter.total(meter.by_trainjob([*WHOLE, *other], START))
    assert meter.gpu_seconds(both) == pytest.approx(
        meter.gpu_seconds(one).plus(meter.gpu_seconds(one))
    )
    assert max(now.gpus.reserved for now in both) == 16


def _renamed(what: Fact) -> Fact:
    match what:
        case Workload():
            return workload(what.gpus, what.step, "t1", is_reserved=what.is_reserved)
        case Pod():
            return pod(what.step, runs=what.is_running, gpus=what.gpus, trainjob="t1")
        case Ended():
            return Ended("t1", what.has_failed)


def test_the_curve_keeps_changes() -> None:
    """From the start to the last change, for the picture."""
    moments = curve(STEPPED, START)
    assert [now.seconds for now in moments] == [0.0, 7.0, 8.0, 18.0, 19.0]
    assert moments[-1] == Moment(19.0, Gpus())


def test_a_wait_is_from_creation_to_reservation() -> None:
    """Each Workload once, by its step."""
    assert [(one.step, one.seconds) for one in meter.waits(STEPPED)] == [
        (DOWNLOAD, 0.5),
        (TRAIN, 0.5),
    ]
    assert [(one.step, one.seconds) for one in meter.waits(WHOLE)] == [(EVERYTHING, 1.0)]


def test_an_eviction_counts_once_each_time() -> None:
    """However often the evicted Workload is written meanwhile."""
    moods = (False, True, True, False, True)
    given = [(float(at), workload(8, is_evicted=mood)) for at, mood in enumerate(moods)]
    assert meter.evictions(seen(*given)) == 2


def test_over_is_ended_and_given_back() -> None:
    """A reservation that outlives its TrainJob is waited for, and so is a TrainJob's end."""
    assert meter.is_over(WHOLE, ["t0"])
    assert not meter.is_over(WHOLE, ["t0", "t1"])
    assert not meter.is_over(seen((0, workload(8)), (1, Ended("t0", has_failed=False))), ["t0"])


def test_a_play_in_figures() -> None:
    """What the page tells of a TrainJob that was stepped beside a gang that never came."""
    submitted = Submitted(START, {"t0": 0.5, "t1": 3.0}, late=0.01)
    found = figures(STEPPED, [STEPPABLE, GANG], submitted, ["bad"])
    assert (found.makespan, found.completion) == (19.0, Times(1, 18.5, 18.5))
    assert (found.idle, found.initializers_stepped, found.peak_used) == (16, 0, 8)
    assert found.queued == {DOWNLOAD: Times(1, 0.5, 0.5), TRAIN: Times(1, 0.5, 0.5)}
    assert found.astray == ["t1 came to no end"]
    assert found.violations == ["bad"]


@pytest.mark.parametrize(
    ("name", "stepped", "left"), [("t0", 32.0, 0.0), ("t1", 0.0, 32.0)], ids=["steps", "gang"]
)
def test_what_a_gang_waits_for_is_told_apart(name: str, stepped: float, left: float) -> None:
    """Our rules leave it whole, so that stepping can't remove it."""
    given = WHOLE if name == "t0" else [Seen(i.at, "", _renamed(i.fact)) for i in WHOLE]
    submitted = Submitted(START, {"t0": 0.0, "t1": 0.0}, late=0.0)
    found = figures(given, [STEPPABLE, GANG], submitted, [])
    assert (found.initializers_stepped, found.initializers_left) == (stepped, left)


def test_the_course_of_each_trainjob() -> None:
    """From when it was due to its end, and nothing of one that never came."""
    submitted = Submitted(START, {"t0": 0.5, "t1": 3.0}, late=0.0)
    assert list(courses(WHOLE, [STEPPABLE, GANG], submitted)) == [
        Course("t0", 0.5, 1.0, 2.0, 9.0, 19.0, 20.5, 21.0),
        Course("t1", 3.0, None, None, None, None, None, None),
    ]


def test_an_unplanned_end_is_astray() -> None:
    """Whether it failed or should have."""
    given = seen((1, Ended("t0", has_failed=True)), (2, Ended("t1", has_failed=False)))
    fails = Planned("t1", "gang", Shape.GANG, "red", 0.5, 4, 2.0, 5.0, fails=True)
    submitted = Submitted(START, {"t0": 0.0, "t1": 0.0}, late=0.0)
    found = figures(given, [STEPPABLE, fails], submitted, [])
    assert found.astray == ["t0 failed", "t1 should have failed"]


def test_times_of_many_and_of_none() -> None:
    """The nearest rank: of twenty the nineteenth."""
    assert times(float(n) for n in range(1, 21)) == Times(20, 10.5, 19.0)
    assert times([]) == Times(0, 0.0, 0.0)


OWNERS = {
    "a TrainJob's Workload is for everything": ("t007", ("t007", EVERYTHING)),
    "a Job's Workload is for its step": (
        "t007-dataset-initializer-0",
        ("t007", "dataset-initializer"),
    ),
}


@pytest.mark.parametrize("sentence", OWNERS)
def test_a_workload_tells_whose_it_is(sentence: str) -> None:
    """By the name of its owner."""
    owner, expected = OWNERS[sentence]
    item = {
        "metadata": {"uid": "u", "ownerReferences": [{"name": owner, "controller": True}]},
        "status": {
            "conditions": [{"type": "QuotaReserved", "status": "True"}],
            "admission": {
                "podSetAssignments": [
                    {"name": "node", "count": 1, "resourceUsage": {"nvidia.com/gpu": "8"}}
                ]
            },
        },
    }
    found = fact(Kind.WORKLOADS, item, is_deleted=False)
    assert found == Workload("u", *expected, gpus=8, is_reserved=True, is_evicted=False)
    assert fact(Kind.WORKLOADS, item, is_deleted=True) == Workload(
        "u", *expected, gpus=0, is_reserved=True, is_evicted=False
    )


def test_a_jobset_is_told_at_its_end() -> None:
    """Before that it says nothing."""
    item: dict[str, Any] = {"metadata": {"name": "t007"}}
    assert fact(Kind.JOBSETS, item, is_deleted=False) is None
    item["status"] = {"conditions": [{"type": "Failed", "status": "True"}]}
    assert fact(Kind.JOBSETS, item, is_deleted=False) == Ended("t007", has_failed=True)

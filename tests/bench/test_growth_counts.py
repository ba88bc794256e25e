"""What a play cost is counted from logs and conditions, and nothing else is."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bench.growth import objects, plan
from bench.growth.counts import admissions, own_p99, writes
from bench.growth.objects import Mode
from bench.growth.record import Admissions
from bench.growth.session import Cpus
from localcluster.audit import Event

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
WRITE = Event(
    "update", "batch", "jobs", "", "mine", "a", "alice", 200, NOON, NOON, annotations={}, end=0
)


def workload(made: str, admitted: str | None, state: str = "True") -> dict[str, Any]:
    """One that was made and admitted at these times after noon."""
    conditions = [{"type": "QuotaReserved", "status": "True", "lastTransitionTime": at("59")}]
    if admitted:
        conditions.append({"type": "Admitted", "status": state, "lastTransitionTime": at(admitted)})
    return {"metadata": {"creationTimestamp": at(made)}, "status": {"conditions": conditions}}


def at(seconds: str) -> str:
    """As the API server writes it."""
    return f"2026-01-01T12:00:{seconds}Z"


def test_accepted_writes_of_the_namespace_are_counted() -> None:
    """A conflict, another namespace and a deletion cost something else."""
    events = [
        WRITE,
        replace(WRITE, verb="patch", subresource="status"),
        replace(WRITE, verb="create", code=201),
        replace(WRITE, code=409),
        replace(WRITE, namespace="other"),
        replace(WRITE, verb="delete"),
    ]
    assert writes(events, "mine") == {"jobs": 2, "jobs/status": 1}


def test_admissions_are_those_that_ever_were() -> None:
    """To the last of them, and how long a Workload waited."""
    items = [workload("01", "02"), workload("01", "09", "False"), workload("02", "04")]
    assert admissions([*items, workload("05", None), {"metadata": {}}], NOON) == Admissions(3, 9, 2)
    assert admissions([], NOON) == Admissions(0, 0, 0)
    assert Admissions(9, 3.0, 0.0).per_second == 3
    assert Admissions(9, 0.0, 0.0).per_second == 9


def test_the_p99_of_our_own_is_that_of_this_play(tmp_path: Path) -> None:
    """Lines before it, and lines that are no reviews, do not count."""
    log = tmp_path / "webhook.log"
    log.write_text(json.dumps({"event": "review", "seconds": 9.0}) + "\n")
    before = log.stat().st_size
    assert own_p99(log, before) == 0
    lines = [{"event": "review", "seconds": n / 1000} for n in range(1, 101)]
    with log.open("a") as file:
        file.write("Traceback\n" + "\n".join(map(json.dumps, [*lines, {"event": "draining"}])))
    assert own_p99(log, before) == 99


def test_sizes_grow_and_modes_alternate() -> None:
    """A B B A where a size is played twice; what takes minutes is played once."""
    order = [(item.size, item.mode, item.repeat) for item in plan.in_order((1000, 10), 2)]
    assert order == [
        (10, Mode.WHOLE, 0),
        (10, Mode.STEPPED, 0),
        (10, Mode.STEPPED, 1),
        (10, Mode.WHOLE, 1),
        (1000, Mode.WHOLE, 0),
        (1000, Mode.STEPPED, 0),
    ]


def test_a_machine_is_busy_when_it_is_not_idle() -> None:
    """Half of the time between two readings."""
    assert Cpus(1000, 500).busy_until(Cpus(1200, 600)) == 0.5
    assert Cpus.now().everything > Cpus.now().idle > 0


FITTING = {
    "all of it": (1000, 0.5, 500.0, 1000),
    "what fits, in fifties": (1000, 0.5, 490.0, 950),
    "no more than is played anyway": (1000, 0.5, 60.0, 0),
    "when the time is over": (1000, 0.5, -1.0, 0),
    "the small ones, however long they take": (100, 0.5, -1.0, 100),
    "all, if there is no end": (10_000, 0.5, float("inf"), 10_000),
    "what nothing is known of": (1000, 0.0, 1.0, 1000),
}


@pytest.mark.parametrize("sentence", FITTING)
def test_a_size_is_cut_to_the_time(sentence: str) -> None:
    """By what one TrainJob took before."""
    size, each, left, fits = FITTING[sentence]
    assert plan.fitting(size, each, left) == fits


@pytest.mark.parametrize("size", [10, 1000])
def test_the_quota_holds_all_at_once(size: int) -> None:
    """So that waiting for quota is no part of what is measured."""
    (queue,) = [item for item in objects.place("n", size) if item["kind"] == "ClusterQueue"]
    (group,) = queue["spec"]["resourceGroups"]
    quota = {item["name"]: item["nominalQuota"] for item in group["flavors"][0]["resources"]}
    assert quota["nvidia.com/gpu"] == size
    assert quota["cpu"] >= size * 3 * 0.1


def test_whole_and_stepped_differ_by_one_annotation() -> None:
    """And by nothing that would cost more."""
    whole, stepped = (objects.trainjob("n", mode, 1) for mode in Mode)
    said = [item["metadata"].pop("annotations")["kueue-steps.io/mode"] for item in (whole, stepped)]
    assert said == ["whole", "step"]
    assert whole == stepped

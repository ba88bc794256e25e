"""How a parent is admitted, where it stands itself, which of them there are, in which order."""

from typing import Any

import pytest

from tests.steps.made import (
    ADMISSION,
    NOW,
    QUEUE,
    STARTED,
    Object,
    ago,
    condition,
    job,
    jobset,
    parent,
    step,
    trainjob,
    workload,
)
from webhook.steps.tree import Admission, State
from webhook.steps.wording import why_parent, why_step

MODE = "kueue-steps.io/mode"
WHOLE: dict[str, Any] = {"labels": {QUEUE: "gpus"}}
LOOSE: dict[str, Any] = {"labels": {}}
ADMITTED = (condition("QuotaReserved", 60), condition("Admitted", 55))

ADMISSIONS: dict[str, tuple[tuple[Object, ...], tuple[Object, ...], Admission]] = {
    "our label": ((trainjob(),), (), Admission.STEP),
    "Kueue's label": ((trainjob(**WHOLE),), (), Admission.WHOLE),
    "our label on its JobSet, which its runtime put there": (
        (trainjob(**LOOSE), jobset(owner=trainjob(**LOOSE))),
        (),
        Admission.STEP,
    ),
    "a Workload of its own, though no label asks for one": (
        (trainjob(**LOOSE),),
        (workload(trainjob(**LOOSE)),),
        Admission.WHOLE,
    ),
    "no label and no Workload": ((trainjob(**LOOSE),), (), Admission.NONE),
}


@pytest.mark.parametrize(
    ("objects", "workloads", "admission"), ADMISSIONS.values(), ids=ADMISSIONS.keys()
)
def test_how_it_is_admitted(
    objects: tuple[Object, ...], workloads: tuple[Object, ...], admission: Admission
) -> None:
    """By the labels of the parent and its JobSet, and by a Workload of the whole."""
    assert parent(*objects, workloads=workloads).admission is admission


def _whole(*conditions: Object, starts: bool = False, **more: Object) -> tuple[Object, ...]:
    head = trainjob(**WHOLE)
    its = jobset(owner=head, labels={})
    spec, status = ({"suspend": False}, STARTED) if starts else (None, {})
    return (
        head,
        its,
        job(its, "data", spec=spec, status=status),
        workload(head, *conditions, **more),
    )


STANDINGS: dict[str, tuple[tuple[Object, ...], State, State, str]] = {
    "no Workload": (
        _whole()[:-1],
        State.QUEUED,
        State.QUEUED,
        "Kueue has made no Workload of it yet",
    ),
    "queued": (
        _whole(condition("QuotaReserved", status="False", message="no room")),
        State.QUEUED,
        State.QUEUED,
        f"since {ago(90)}: no room",
    ),
    "admitted": (
        _whole(*ADMITTED, status={"admission": ADMISSION}),
        State.ADMITTED,
        State.ADMITTED,
        "flavors cpu=plain, nvidia.com/gpu=h100",
    ),
    "running": (
        _whole(*ADMITTED, starts=True, status={"admission": ADMISSION}),
        State.RUNNING,
        State.RUNNING,
        "flavors cpu=plain, nvidia.com/gpu=h100",
    ),
    "evicted": (
        _whole(condition("Evicted", 9, reason="Preempted", message="by others"), starts=True),
        State.EVICTED,
        State.EVICTED,
        f"Preempted: by others; queued again since {ago(9)}",
    ),
}


@pytest.mark.parametrize(
    ("objects", "state", "state_of_step", "why"), STANDINGS.values(), ids=STANDINGS.keys()
)
def test_a_whole_parent_is(
    objects: tuple[Object, ...], state: State, state_of_step: State, why: str
) -> None:
    """Its Workload's state, and its steps have no queue of their own."""
    workloads = tuple(one for one in objects if "queueName" in one["spec"])
    found = parent(*(one for one in objects if one not in workloads), workloads=workloads)
    head = "as a whole (`kueue-steps preview` says why); 0 of 2 steps done"
    assert (found.standing.state, why_parent(found)) == (state, f"{head}; {why}")
    data, node = found.steps
    assert (data.standing.state, data.standing.queue) == (state_of_step, None)
    assert why_step(data) == "with the whole"
    assert node.standing.state is State.WAITING


def test_a_whole_parent_on_request_says_so() -> None:
    """Its annotation is the reason."""
    asked = trainjob(**WHOLE, annotations={MODE: "whole"})
    assert why_parent(parent(asked)).startswith(f"as a whole ({MODE}: whole)")


def test_a_whole_parent_has_run_for_as_long_as_it_had_its_quota() -> None:
    """What it had before an eviction is in it; the time in the queue is without it."""
    head, its, data, whole = _whole(
        *ADMITTED, starts=True, status={"accumulatedPastExecutionTimeSeconds": 20}
    )
    standing = parent(head, its, data, workloads=(whole,)).standing
    assert standing.queued is not None
    assert standing.run is not None
    assert (standing.queued.until(NOW), standing.run.until(NOW)) == (90 - 55 - 20, 55 + 20)


FURTHEST: dict[str, tuple[tuple[Object, ...], State, str]] = {
    "no JobSet": ((trainjob(),), State.ABSENT, "Trainer has made no JobSet of it yet"),
    "nothing is there but what waits": ((jobset(),), State.ABSENT, ""),
    "a step runs": (
        (jobset(), job(jobset(), "data", spec={"suspend": False})),
        State.RUNNING,
        "",
    ),
    "a step is queued": ((jobset(), job(jobset(), "data")), State.QUEUED, ""),
    "all its steps are done": (
        (
            jobset(),
            *(job(jobset(), name, condition("Complete")) for name in ("data", "node")),
        ),
        State.RUNNING,
        "",
    ),
    "a step has failed, and JobSet may start it anew": (
        (jobset(), job(jobset(), "data", condition("Failed"))),
        State.RUNNING,
        "",
    ),
    "it is complete": ((trainjob(condition("Complete")),), State.DONE, ""),
    "it is complete, and a JobSet": ((jobset(condition("Completed")),), State.DONE, ""),
    "it has failed": (
        (trainjob(condition("Failed", reason="DeadlineExceeded", message="too long")),),
        State.FAILED,
        "DeadlineExceeded: too long",
    ),
    "it has failed, and is suspended": (
        (trainjob(condition("Failed", reason="A", message="b"), suspend=True),),
        State.FAILED,
        "A: b",
    ),
}


@pytest.mark.parametrize(("objects", "state", "why"), FURTHEST.values(), ids=FURTHEST.keys())
def test_a_stepped_parent_is(objects: tuple[Object, ...], state: State, why: str) -> None:
    """What it says itself, else where its furthest step is."""
    found = parent(*objects)
    assert found.standing.state is state
    steps = f"{found.done} of 2 steps done" if found.steps else ""
    assert why_parent(found) == "; ".join(filter(None, ("step by step", steps, why)))


def test_one_that_is_being_deleted_says_so() -> None:
    """Whatever else it does."""
    found = parent(jobset(deletionTimestamp=ago(1)))
    assert why_parent(found) == "step by step; 0 of 2 steps done; is being deleted"


def test_a_jobs_newest_workload_counts() -> None:
    """One that has not finished, above all."""
    its = jobset(steps=(step("data"),))
    data = job(its, "data")
    old = workload(data, condition("Finished"), made=50)
    new = workload(data, made=80)
    for workloads in ((old, new), (new, old)):
        [found] = parent(its, data, workloads=workloads).steps
        assert found.standing.since is not None
        assert (NOW - found.standing.since).total_seconds() == 80


def test_what_asks_for_no_quantity_is_shown_nonetheless() -> None:
    """Such pods are never made."""
    odd = step("data")
    container = odd["template"]["spec"]["template"]["spec"]["containers"][0]
    container["resources"]["requests"]["cpu"] = "many"
    [found] = parent(jobset(steps=(odd,))).steps
    assert found.requests == {}

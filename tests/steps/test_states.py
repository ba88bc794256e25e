"""Where a step stands, for everything that its Job, its Workload and its parents can say."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.steps.made import (
    ADMISSION,
    PAUSED,
    STARTED,
    Object,
    ago,
    condition,
    job,
    jobset,
    node_with,
    parent,
    pending,
    step,
    trainjob,
    workload,
)
from webhook.steps.tree import Eviction, State
from webhook.steps.wording import moment, why_parent, why_step
from webhook.steps.workloads import INACTIVE

Make = Callable[[Object], tuple[Object, tuple[Object, ...]]]

NO_QUOTA = "insufficient unused quota for nvidia.com/gpu in flavor h100, 8 more needed"
REFUSED = condition("QuotaReserved", 50, status="False", reason="Pending", message=NO_QUOTA)
RESERVED = condition("QuotaReserved", 40, reason="QuotaReserved")
ADMITTED = condition("Admitted", 35, reason="Admitted")
PREEMPTED = "Preempted to accommodate a higher priority Workload"
EVICTED = condition("Evicted", 20, reason="Preempted", message=PREEMPTED)
UNRESERVED = condition("QuotaReserved", 20, status="False", reason="Pending", message=PREEMPTED)


def _node(*conditions: Object, spec: Object | None = None, **more: Any) -> Make:
    """A step's Job with a Workload in these conditions."""
    of_job = {key: more.pop(key) for key in ("status", "annotations") if key in more}
    of_workload = {key.removeprefix("workload_"): value for key, value in more.items()}

    def make(owner: Object) -> tuple[Object, tuple[Object, ...]]:
        made = job(owner, "node", spec=spec, **of_job)
        return made, (workload(made, *conditions, **of_workload),)

    return make


def _ended(*conditions: Object, **status: Any) -> Make:
    """A step's Job that has ended, with its Workload."""

    def make(owner: Object) -> tuple[Object, tuple[Object, ...]]:
        spec, status_ = {"suspend": False}, STARTED | status
        made = job(owner, "node", *conditions, spec=spec, status=status_)
        admitted = workload(made, RESERVED, ADMITTED, condition("Finished", 5))
        return made, (admitted,)

    return make


RUNS = {"suspend": False}
STEPS: Mapping[str, tuple[Make, State, str]] = {
    "a Job that Kueue has not seen yet": (
        lambda owner: (job(owner, "node"), ()),
        State.QUEUED,
        "Kueue has made no Workload of it yet",
    ),
    "a Workload that Kueue has not tried yet": (
        _node(),
        State.QUEUED,
        f"since {ago(90)}",
    ),
    "a Workload without quota": (
        _node(REFUSED),
        State.QUEUED,
        f"since {ago(90)}: {NO_QUOTA}",
    ),
    "a Workload that waits for another try after its pods did not get ready": (
        _node(
            condition("Evicted", 20, reason="PodsReadyTimeout", message="Exceeded the timeout"),
            condition("Requeued", 20, status="False", reason="PodsReadyTimeout"),
            workload_status={"requeueState": {"requeueAt": ago(-60)}},
        ),
        State.EVICTED,
        (
            "PodsReadyTimeout: Exceeded the timeout; "
            "Kueue does not put it back into its queue before 10:01:00Z"
        ),
    ),
    "a Workload of a queue that is stopped": (
        _node(
            condition("QuotaReserved", 20, status="False", message="The ClusterQueue is stopped"),
            condition(
                "Evicted", 20, reason="ClusterQueueStopped", message="The ClusterQueue is stopped"
            ),
            condition("Requeued", 20, status="False", reason="ClusterQueueStopped"),
        ),
        State.EVICTED,
        (
            "ClusterQueueStopped: The ClusterQueue is stopped; "
            "Kueue does not put it back into its queue yet"
        ),
    ),
    "a Workload that came back into its queue": (
        _node(REFUSED, condition("Requeued", 45, reason="BackoffFinished")),
        State.QUEUED,
        f"since {ago(45)}: {NO_QUOTA}",
    ),
    "quota is there, an admission check is not": (
        _node(
            RESERVED,
            workload_status={
                "admission": ADMISSION,
                "admissionChecks": [
                    {"name": "budget", "state": "Pending", "message": "asks the owner"},
                    {"name": "license", "state": "Ready", "message": ""},
                ],
            },
        ),
        State.QUEUED,
        f"since {ago(40)}: quota reserved, waits for admission check budget (asks the owner)",
    ),
    "admitted, its Job not started": (
        _node(RESERVED, ADMITTED, workload_status={"admission": ADMISSION}),
        State.ADMITTED,
        "flavors cpu=plain, nvidia.com/gpu=h100",
    ),
    "handed to another cluster": (
        _node(RESERVED, ADMITTED, workload_status={"clusterName": "west"}),
        State.ADMITTED,
        "in cluster west",
    ),
    "running": (
        _node(
            RESERVED,
            ADMITTED,
            spec=RUNS,
            status=STARTED,
            workload_status={"admission": ADMISSION},
        ),
        State.RUNNING,
        "flavors cpu=plain, nvidia.com/gpu=h100",
    ),
    "preempted, its pods not gone yet": (
        _node(RESERVED, ADMITTED, EVICTED, spec=RUNS, status=STARTED),
        State.EVICTED,
        f"{PREEMPTED}; queued again since {ago(20)}",
    ),
    "preempted, and its quota not given back yet": (
        _node(RESERVED, EVICTED),
        State.EVICTED,
        f"{PREEMPTED}; queued again since {ago(20)}",
    ),
    "preempted, and in the queue again": (
        _node(UNRESERVED, EVICTED),
        State.EVICTED,
        f"{PREEMPTED}; queued again since {ago(20)}",
    ),
    "preempted, and tried again": (
        _node(REFUSED, EVICTED, condition("Requeued", 10, reason="Preempted")),
        State.EVICTED,
        f"{PREEMPTED}; queued again since {ago(10)}: {NO_QUOTA}",
    ),
    "made inactive by a person": (
        _node(
            condition("Evicted", 20, reason="Deactivated", message="The workload is deactivated"),
            workload_spec={"active": False},
        ),
        State.EVICTED,
        f"Deactivated: The workload is deactivated; {INACTIVE}",
    ),
    "active again, as after a pause": (
        _node(
            REFUSED,
            condition("Evicted", 20, reason="Deactivated", message="The workload is deactivated"),
        ),
        State.QUEUED,
        f"since {ago(90)}: {NO_QUOTA}",
    ),
    "marked as paused, its parents going on": (
        _node(annotations={PAUSED: "true"}, workload_spec={"active": False}),
        State.PAUSED,
        "its Job is suspended",
    ),
    "done": (
        _ended(condition("Complete", 5), completionTime=ago(5)),
        State.DONE,
        "",
    ),
    "failed": (
        _ended(condition("Failed", 5, reason="BackoffLimitExceeded", message="Too many failed")),
        State.FAILED,
        "BackoffLimitExceeded: Too many failed",
    ),
}


@pytest.mark.parametrize(("make", "state", "why"), STEPS.values(), ids=STEPS.keys())
def test_a_step_with_a_job_is(make: Make, state: State, why: str) -> None:
    """Its state, and what the last column says of it."""
    found = node_with(make)
    assert (found.standing.state, why_step(found)) == (state, why)
    assert (found.name, found.job, found.waits_for) == ("node", "tune-node-0", ())


def test_the_place_in_the_queue_is_told_from_one_on() -> None:
    """Kueue counts from 0."""

    def make(owner: Object) -> tuple[Object, tuple[Object, ...]]:
        made = job(owner, "node")
        return made, (workload(made, REFUSED),)

    owner = jobset()
    place = pending(job(owner, "node"), 1, 4)
    found = node_with(make, places=(place,))
    expected = f"since {ago(90)}, position 2 in its queue, 5 in the ClusterQueue: {NO_QUOTA}"
    assert why_step(found) == expected
    assert why_step(node_with(make, places=())) == f"since {ago(90)}: {NO_QUOTA}"


def test_an_eviction_is_told_beside_the_new_place() -> None:
    """Both: why it was evicted, and where it waits now."""
    found = node_with(_node(REFUSED, EVICTED)).standing
    assert found.eviction is not None
    assert found.eviction == Eviction("Preempted", PREEMPTED, found.eviction.at)
    assert found.eviction.at is not None
    assert moment(found.eviction.at) == ago(20)
    assert (found.message, found.queue) == (NO_QUOTA, "gpus")


def test_a_run_that_was_stopped_is_over() -> None:
    """Kubernetes may leave the time of its start in the status."""
    assert node_with(_node(UNRESERVED, EVICTED, status=STARTED)).standing.run is None
    assert node_with(_node(RESERVED, ADMITTED, spec=RUNS, status=STARTED)).standing.run is not None


def test_a_step_of_several_jobs_has_a_line_for_each() -> None:
    """Those that are not made share one."""
    steps = (step("data"), step("node", "data", gpus=2, replicas=3))
    its = jobset(steps=steps)
    data = job(its, "data", condition("Complete"))
    made = [job(its, "node", index=index) for index in (0, 1)]
    found = parent(its, data, *made).steps
    assert [(one.name, one.job) for one in found[1:]] == [
        ("node", "tune-node-0"),
        ("node", "tune-node-1"),
        ("node", None),
    ]
    none = parent(its, job(its, "data")).steps[1]
    assert (none.pods, none.waits_for) == (3, ("data",))
    assert none.requests["nvidia.com/gpu"] == 6


def test_pods_and_what_they_ask_for_are_those_of_the_job() -> None:
    """Kueue may have admitted it in part."""
    steps = (step("node", gpus=2, job={"parallelism": 4, "completions": 4}),)
    its = jobset(steps=steps)
    assert parent(its).steps[0].requests["nvidia.com/gpu"] == 8
    half = parent(its, job(its, "node", spec={"parallelism": 2})).steps[0]
    assert half.pods == 2
    assert half.requests["nvidia.com/gpu"] == 4


def test_a_paused_trainjob_says_who_is_suspended() -> None:
    """The parent and the step both do; a step that waits goes on waiting."""
    whole = trainjob(suspend=True)
    its = jobset(owner=whole, suspend=True)
    found = parent(whole, its, job(its, "data", annotations={PAUSED: "true"}))
    assert found.standing.state is State.PAUSED
    assert why_parent(found) == "step by step; 0 of 2 steps done; TrainJob tune is suspended"
    assert [one.standing.state for one in found.steps] == [State.PAUSED, State.WAITING]
    assert why_step(found.steps[0]) == "TrainJob tune is suspended"

"""Which Events are due on a parent, from what the companion saw: pure, one sentence each."""

import pytest

from tests.edge.happened import (
    ADMITTED,
    EVICTED,
    GRANT,
    PREEMPTED,
    QUEUED,
    SHORT,
    admitted,
    evicted,
    happenings,
    no_quota,
    requeued,
    reserved,
    short,
    told,
)
from tests.edge.objects_seen import condition, job, jobset, workload
from webhook.cluster.items import Item
from webhook.rules.reasons import EventReason

STOPS = "Step node stops: Kueue has taken its quota away."
OVERRUN = "DeactivatedDueToMaximumExecutionTimeExceeded"
WAITS = "Step node is queued in LocalQueue gpu."
GIVEN = "4 cpu (flavor default), 8 nvidia.com/gpu (flavor a100)."

OF_WORKLOADS: dict[str, tuple[Item, list[tuple[EventReason, float, str]]]] = {
    "a step of which Kueue has said nothing for a while": (workload(), [(QUEUED, 2, WAITS)]),
    "a step that waits, and why": (
        workload(no_quota(3)),
        [(QUEUED, 2, f"{WAITS} Kueue says: Pending: {SHORT}.")],
    ),
    "a step that Kueue has not looked at yet": (
        workload(no_quota(3, "PendingEvaluation", "Workload is pending evaluation")),
        [(QUEUED, 2, WAITS)],
    ),
    "a step that did not have to wait": (
        workload(reserved(2), admitted(2), admission=GRANT),
        [
            (QUEUED, 2, WAITS),
            (
                ADMITTED,
                2,
                f"Step node was admitted by ClusterQueue research without waiting: {GIVEN}",
            ),
        ],
    ),
    "a step that has waited": (
        workload(reserved(47), admitted(47), admission=GRANT),
        [
            (QUEUED, 2, WAITS),
            (
                ADMITTED,
                47,
                "Step node was admitted by ClusterQueue research after waiting for 45 s: " + GIVEN,
            ),
        ],
    ),
    "a step with quota that waits for an admission check": (
        workload(reserved(2)),
        [(QUEUED, 2, WAITS)],
    ),
    "a step that is evicted, in the moment before it is queued again": (
        workload(reserved(2), admitted(2), evicted(20), admission=GRANT),
        [
            (
                ADMITTED,
                2,
                f"Step node was admitted by ClusterQueue research: {GIVEN}",
            ),
            (
                EVICTED,
                20,
                f"{STOPS} Kueue says: Preempted: {PREEMPTED}.",
            ),
        ],
    ),
    "an evicted step that is queued again": (
        workload(no_quota(20, message=PREEMPTED), evicted(20), requeued(20)),
        [
            (
                EVICTED,
                20,
                f"{STOPS} Kueue says: Preempted: {PREEMPTED}.",
            ),
            (QUEUED, 20, WAITS),
        ],
    ),
    "an evicted step that Kueue has not put back into the queue": (
        workload(
            no_quota(20, message="stopped"),
            evicted(20, "ClusterQueueStopped", "The ClusterQueue is stopped."),
            requeued(20, "ClusterQueueStopped", "False"),
        ),
        [
            (
                EVICTED,
                20,
                f"{STOPS} Kueue says: ClusterQueueStopped: The ClusterQueue is stopped.",
            )
        ],
    ),
    "a step that ran longer than it may": (
        workload(evicted(20, OVERRUN, "exceeding"), active=False),
        [
            (
                EVICTED,
                20,
                f"{STOPS} Kueue says: {OVERRUN}: exceeding.",
            )
        ],
    ),
    "a step whose Workload a person has made inactive": (
        workload(evicted(20, "Deactivated", "The workload is deactivated"), active=False),
        [
            (
                EVICTED,
                20,
                f"{STOPS} Kueue says: Deactivated: The workload is deactivated.",
            )
        ],
    ),
    "a step that the companion has made inactive": (
        workload(evicted(20, "Deactivated", "x"), active=False, marked=True),
        [],
    ),
    "a step that goes on after a pause, before Kueue knows": (
        workload(
            no_quota(20, message="x"),
            evicted(20, "Deactivated", "x"),
            requeued(20, "Deactivated", "False"),
        ),
        [],
    ),
    "a step that goes on after a pause": (
        workload(
            no_quota(20, message="x"),
            evicted(20, "Deactivated", "x"),
            requeued(30, "Reactivated"),
        ),
        [(QUEUED, 30, WAITS)],
    ),
    "a Workload with times that are none": (
        workload({"type": "Admitted", "status": "True", "lastTransitionTime": "soon"}),
        [(QUEUED, 2, WAITS)],
    ),
}


@pytest.mark.parametrize(("workload_", "expected"), OF_WORKLOADS.values(), ids=OF_WORKLOADS.keys())
def test_what_a_workload_tells(
    workload_: Item, expected: list[tuple[EventReason, float, str]]
) -> None:
    """A Workload that is seen for the first time, one minute after everything began."""
    assert short(told(happenings(job(), jobset(), workload_))) == expected


OF_OTHERS: dict[str, tuple[Item, Item, list[tuple[EventReason, float, str]]]] = {
    "a step that is complete": (
        job(condition("Complete", 26)),
        jobset(),
        [(EventReason.STEP_FINISHED, 26, "Step node finished after it ran for 21 s.")],
    ),
    "a step that has failed": (
        job(condition("Failed", 26, "BackoffLimitExceeded", "Too many failed")),
        jobset(),
        [
            (
                EventReason.STEP_FAILED,
                26,
                "Step node failed. Its Job says: BackoffLimitExceeded: Too many failed.",
            )
        ],
    ),
    "a step that is about to fail": (job(condition("FailureTarget", 26)), jobset(), []),
    "one Job of several of a step": (
        job(condition("Complete", 26), name="tune-node-3"),
        jobset(replicas=4),
        [
            (
                EventReason.STEP_FINISHED,
                26,
                "Step node (Job tune-node-3) finished after it ran for 21 s.",
            )
        ],
    ),
    "a paused parent": (
        job(),
        jobset(condition("Suspended", 9, "SuspendedJobs"), suspended=True),
        [
            (
                EventReason.PAUSED,
                9,
                "The TrainJob is paused: its steps stop, and their quota is given back.",
            )
        ],
    ),
    "a resumed parent": (
        job(),
        jobset(condition("Suspended", 9, "ResumeJobs", status="False")),
        [
            (
                EventReason.RESUMED,
                9,
                "The TrainJob is resumed: the steps that were stopped are queued again.",
            )
        ],
    ),
    "a parent that was never paused": (job(), jobset(), []),
    "a parent that is suspended, before JobSet has stopped anything": (
        job(),
        jobset(suspended=True),
        [],
    ),
}


@pytest.mark.parametrize(("job_", "jobset_", "expected"), OF_OTHERS.values(), ids=OF_OTHERS.keys())
def test_what_a_job_and_a_jobset_tell(
    job_: Item, jobset_: Item, expected: list[tuple[EventReason, float, str]]
) -> None:
    """How steps end, pauses, and their ends."""
    assert short(told(happenings(job_, jobset_))) == expected


PAUSED: dict[str, tuple[Item, Item, Item]] = {
    "its Workload is inactive": (job(), jobset(), workload(no_quota(3), active=False)),
    "its JobSet is suspended, its Workload not inactive yet": (
        job(),
        jobset(suspended=True),
        workload(no_quota(3)),
    ),
    "its Job was stopped, its Workload not inactive yet": (
        job(marked=True),
        jobset(),
        workload(no_quota(3)),
    ),
}


@pytest.mark.parametrize(("job_", "jobset_", "workload_"), PAUSED.values(), ids=PAUSED.keys())
def test_a_paused_step_is_not_said_to_wait(job_: Item, jobset_: Item, workload_: Item) -> None:
    """What is paused does not wait for quota."""
    assert told(happenings(job_, jobset_, workload_)) == []

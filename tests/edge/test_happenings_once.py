"""Each Event once, on the right parent, under one name: whatever was seen first, by any replica."""

import re
from datetime import timedelta

import pytest

from tests.edge.happened import (
    ADMITTED,
    EVICTED,
    PREEMPTED,
    QUEUED,
    admitted,
    evicted,
    happenings,
    no_quota,
    requeued,
    reserved,
    short,
    told,
)
from tests.edge.objects_seen import at, condition, job, jobset, owner, see_all, workload
from webhook.cluster.changes import Changed
from webhook.cluster.happenings import LONGEST_AGE, PATIENCE, Happenings
from webhook.cluster.items import Item
from webhook.cluster.known import Known
from webhook.cluster.views import Parent

TRAINJOB = Parent("trainer.kubeflow.org/v1alpha1", "TrainJob", "team", "tune", "tj")
WAITS = "Step node is queued in LocalQueue gpu."

PARENTS: dict[str, tuple[Item, Parent | None]] = {
    "the TrainJob that controls the JobSet": (jobset(), TRAINJOB),
    "a JobSet that nobody owns": (
        jobset(ownerReferences=None),
        Parent("jobset.x-k8s.io/v1alpha2", "JobSet", "team", "tune", "js"),
    ),
    "a JobSet that claims a TrainJob of another name": (
        jobset(ownerReferences=owner("trainer.kubeflow.org/v1", "TrainJob", "yours", "tj")),
        None,
    ),
    "a JobSet of an AppWrapper": (
        jobset(ownerReferences=owner("workload.codeflare.dev/v1", "AppWrapper", "tune", "aw")),
        None,
    ),
    "a TrainJob of another group": (
        jobset(ownerReferences=owner("example.com/v1", "TrainJob", "tune", "tj")),
        None,
    ),
}


@pytest.mark.parametrize(("jobset_", "parent"), PARENTS.values(), ids=PARENTS.keys())
def test_whom_it_is_told(jobset_: Item, parent: Parent | None) -> None:
    """Events are about what the user submitted, and about nothing that is somebody else's."""
    known = Known()
    known.see_jobs(Changed(job(condition("Complete", 9))))
    known.see_jobsets(Changed(jobset_))
    assert [one.parent for one in told(Happenings(known))] == ([parent] if parent else [])


STRANGERS: dict[str, tuple[Item, ...]] = {
    "a Job of another namespace": (job(condition("Complete", 9), namespace="other"), jobset()),
    "a Job with a name that JobSet gives to none": (
        job(condition("Complete", 9), name="mine"),
        jobset(),
    ),
    "a Job with a number beyond the replicas": (
        job(condition("Complete", 9), name="tune-node-1"),
        jobset(),
    ),
    "a Job with a number that JobSet does not write so": (
        job(condition("Complete", 9), name="tune-node-00"),
        jobset(),
    ),
    "a Job of a step that the JobSet has not": (
        job(
            condition("Complete", 9),
            name="tune-mine-0",
            labels={"jobset.sigs.k8s.io/replicatedjob-name": "mine"},
        ),
        jobset(),
    ),
    "a Job whose owner is another kind of JobSet": (
        job(
            condition("Complete", 9),
            ownerReferences=owner("example.com/v1", "JobSet", "tune", "js"),
        ),
        jobset(),
    ),
    "a Workload of another namespace": (job(), jobset(), workload(namespace="other")),
    "a Workload that only carries the label": (job(), jobset(), workload(ownerReferences=None)),
    "a Workload whose owner is another kind of Job": (
        job(),
        jobset(),
        workload(ownerReferences=owner("example.com/v1", "Job", "tune-node-0", "job")),
    ),
}


@pytest.mark.parametrize("items", STRANGERS.values(), ids=STRANGERS.keys())
def test_who_may_only_make_jobs_or_workloads_tells_nothing(items: tuple[Item, ...]) -> None:
    """Nobody has Events written on a parent of somebody else by naming its uid."""
    known = Known()
    see_all(known.see_jobs, items[:1])
    see_all(known.see_jobsets, items[1:2])
    see_all(known.see_workloads, items[2:])
    assert told(Happenings(known)) == []


def test_everything_is_told_once() -> None:
    """What was told is not told again, whatever changes, and whatever is listed anew."""
    seen = happenings(job(), jobset(), workload(no_quota(3)))
    assert [one.reason for one in told(seen)] == [QUEUED]
    seen.known.see_workloads(Changed(workload(no_quota(3, message="another reason"))))
    assert told(seen) == []
    see_all(seen.known.see_workloads, [workload(reserved(9), admitted(9))])
    assert [one.reason for one in told(seen)] == [ADMITTED]
    assert told(seen) == []


def test_what_nobody_took_is_due_again() -> None:
    """An Event for which there was no room is not lost."""
    seen = happenings(job(), jobset(), workload(no_quota(3)))
    (first,) = seen.due("job", at(60))
    assert seen.due("job", at(60)) == [first]
    seen.tell("job", first)
    assert seen.due("job", at(60)) == []


def test_an_eviction_again_is_told_again() -> None:
    """Each eviction and each wait after it has a name of its own."""
    seen = happenings(job(), jobset())
    names = set()
    for start in (10, 20, 30):
        for conditions in (
            (reserved(start), admitted(start), evicted(start + 5)),
            (no_quota(start + 5), evicted(start + 5), requeued(15)),
        ):
            seen.known.see_workloads(Changed(workload(*conditions)))
            names |= {one.name for one in told(seen)}
    assert len(names) == 3 * len({ADMITTED, EVICTED, QUEUED})


def test_a_step_is_told_to_wait_once_kueue_has_said_why_or_after_a_while() -> None:
    """Before that the step may be admitted at once, or be told about without the reason."""
    seen = happenings(job(), jobset(), workload())
    early, late = 2.5, 2 + PATIENCE.total_seconds()
    assert told(seen, early) == []
    assert seen.patience("job", at(early)) == timedelta(seconds=late - early)
    assert seen.patience("job", at(late)) is None
    assert [one.reason for one in told(seen, late)] == [QUEUED]


def test_an_evicted_step_that_is_admitted_at_once_was_queued_in_between() -> None:
    """A wait that was seen is told when it is over, as of when it began."""
    seen = happenings(job(), jobset(), workload(reserved(2), admitted(2)))
    told(seen, 10)
    again = (evicted(20), requeued(20), no_quota(20, message=PREEMPTED))
    seen.known.see_workloads(Changed(workload(*again)))
    assert [one.reason for one in told(seen, 20.5)] == [EVICTED]
    seen.known.see_workloads(Changed(workload(reserved(21), admitted(21), requeued(20))))
    assert short(told(seen, 21)) == [
        (QUEUED, 20, WAITS),
        (ADMITTED, 21, "Step node was admitted after waiting for 1 s."),
    ]


def test_what_is_older_than_ten_minutes_is_not_told() -> None:
    """A replica that starts tells what is young, and does not bring forgotten Events back."""
    items = (job(), jobset(), workload(reserved(2), admitted(400)))
    after = LONGEST_AGE.total_seconds()
    assert [one.reason for one in told(happenings(*items), after + 1)] == [QUEUED, ADMITTED]
    assert [one.reason for one in told(happenings(*items), after + 2)] == [ADMITTED]
    assert told(happenings(*items), after + 400) == []


def test_the_order_in_which_the_watches_speak_does_not_matter() -> None:
    """A Workload that is seen before its Job, and that before its JobSet, is told of in the end."""
    seen = happenings(workload(no_quota(3)))
    assert told(seen) == []
    seen.known.see_jobs(Changed(job()))
    assert told(seen) == []
    seen.known.see_jobsets(Changed(jobset()))
    assert [one.reason for one in told(seen)] == [QUEUED]


def test_replicas_agree_on_names() -> None:
    """One that saw everything and one that was started late give the same names."""
    early = happenings(job(), jobset())
    names = set()
    for conditions in ((), (no_quota(3),), (reserved(9),), (reserved(9), admitted(9))):
        early.known.see_workloads(Changed(workload(*conditions)))
        names |= {one.name for one in told(early)}
    late = happenings(job(), jobset(), workload(reserved(9), admitted(9)))
    assert {one.name for one in told(late)} == names


def test_names_sort_by_time_and_are_valid() -> None:
    """Events are shown by name, so an earlier one and an earlier step come first."""
    first = job(
        condition("Complete", 9),
        uid="first",
        name="tune-dataset-initializer-0",
        creationTimestamp="2026-01-01T10:00:00Z",
        labels={"jobset.sigs.k8s.io/replicatedjob-name": "dataset-initializer"},
    )
    suspended = jobset(condition("Suspended", 50, status="False"))
    late = job(creationTimestamp="2026-01-01T10:00:09Z")
    waits = workload(reserved(9), admitted(9), creationTimestamp="2026-01-01T10:00:09Z")
    due = told(happenings(first, late, suspended, waits), 60, "job", "js", "first")
    assert [one.reason.value for one in due] == [
        "StepFinished",
        "StepQueued",
        "StepAdmitted",
        "Resumed",
    ]
    assert all(re.fullmatch(r"tune\.[0-9a-f]{29}", one.name) for one in due)


def test_a_long_name_of_a_parent_leaves_room_for_the_rest() -> None:
    """An Event's name has at most 253 characters, and no dot or hyphen meets another."""
    name = "a" * 221 + "-." + "b" * 31
    parent = jobset(condition("Suspended", 9), name=name, ownerReferences=None)
    (event,) = told(happenings(parent))
    assert len(event.name) < 253
    assert event.name.startswith("a" * 221 + ".")


def test_what_is_gone_is_forgotten() -> None:
    """After everything was deleted nothing is left of it in memory."""
    seen = happenings(job(condition("Complete", 9)), jobset(condition("Suspended", 8)), workload())
    assert told(seen)
    for see, item in (
        (seen.known.see_workloads, workload()),
        (seen.known.see_jobs, job()),
        (seen.known.see_jobsets, jobset()),
    ):
        for uid in see(Changed(item, deleted=True)):
            assert told(seen, 60, uid) == []
    assert seen == Happenings(Known())

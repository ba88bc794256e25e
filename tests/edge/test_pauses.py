"""What the companion has to do, from what it saw: pure, one sentence each."""

from typing import Any

import pytest

from tests.edge.objects_seen import MARK, job, jobset, owner, see_all, workload
from tests.edge.seen import action, known
from webhook.cluster.changes import Changed
from webhook.cluster.items import Item
from webhook.cluster.known import Known
from webhook.cluster.pauses import Action, still_applies

DUE: dict[str, tuple[Item | None, Item | None, Item | None, Action | None]] = {
    "a running step is left alone": (job(), jobset(), workload(), None),
    "a stopped step of a paused JobSet": (
        job(marked=True),
        jobset(suspended=True),
        workload(),
        Action.DEACTIVATE,
    ),
    "a step that was stopped, before its JobSet is seen": (
        job(marked=True),
        None,
        workload(),
        Action.DEACTIVATE,
    ),
    "a queued step of a paused JobSet, never marked": (
        job(),
        jobset(suspended=True),
        workload(),
        Action.DEACTIVATE,
    ),
    "what is inactive by our hand already": (
        job(marked=True),
        jobset(suspended=True),
        workload(marked=True),
        None,
    ),
    "a resumed step": (job(), jobset(), workload(marked=True), Action.ACTIVATE),
    "a resumed JobSet whose step still carries the mark": (
        job(marked=True),
        jobset(),
        workload(marked=True),
        None,
    ),
    "a step whose JobSet is not seen yet": (job(), None, workload(marked=True), None),
    "a step without a Workload yet": (job(marked=True), jobset(suspended=True), None, None),
    "a Workload of somebody else's Job": (None, jobset(suspended=True), workload(), None),
}


@pytest.mark.parametrize(("job_", "jobset_", "workload_", "expected"), DUE.values(), ids=DUE.keys())
def test_what_is_due(
    job_: Item | None, jobset_: Item | None, workload_: Item | None, expected: Action | None
) -> None:
    """A paused step's Workload is to be inactive, and active again only where we made it so."""
    assert action(known(job_, jobset_, workload_)) == expected


def test_a_change_of_a_jobset_concerns_all_its_jobs() -> None:
    """Suspending a JobSet asks for every Job of it, for itself, and for no other."""
    known = Known()
    elsewhere = job(uid="three", ownerReferences=owner("example.com/v1", "JobSet", "tune", "js"))
    see_all(known.see_jobs, [job(uid="one"), job(uid="two"), elsewhere])
    assert known.see_jobsets(Changed(jobset(suspended=True))) == {"js", "one", "two"}


def test_a_late_workload_is_asked_for() -> None:
    """A Workload that Kueue makes after the pause is looked at when it appears."""
    seen = known(job(), jobset(suspended=True), None)
    assert seen.see_workloads(Changed(workload())) == {"job"}
    assert action(seen) == Action.DEACTIVATE


OTHERS = {
    "of another namespace": workload(marked=True, namespace="other"),
    "that no Job controls": workload(marked=True, uid="other", ownerReferences=None),
    "that another Job controls": workload(
        marked=True, uid="other", ownerReferences=owner("batch/v1", "Job", "mine", "mine")
    ),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS.keys())
def test_a_workload_of_somebody_else_hides_nothing(other: Item) -> None:
    """Who only writes a Job's uid on a Workload can't put it in the place of the Job's own."""
    seen = known(job(marked=True), jobset(suspended=True), workload())
    seen.see_workloads(Changed(other))
    assert action(seen) == Action.DEACTIVATE


def test_another_workload_that_goes_takes_none_with_it() -> None:
    """Of two Workloads of a Job the one that is left stays known."""
    seen = known(job(marked=True), jobset(suspended=True), workload())
    seen.see_workloads(Changed(workload(uid="older"), deleted=True))
    assert action(seen) == Action.DEACTIVATE


def test_a_jobset_of_another_namespace_pauses_nothing() -> None:
    """Owners count in their own namespace only."""
    seen = known(job(), jobset(suspended=True, namespace="other"), workload())
    assert action(seen) is None


def stored(*, active: bool = True, marked: bool = False, finished: bool = False) -> dict[str, Any]:
    """A Workload as the API server has it now."""
    conditions = [{"type": "Finished", "status": "True"}] if finished else []
    return {
        "metadata": {"annotations": MARK} if marked else {},
        "spec": {"active": active},
        "status": {"conditions": conditions},
    }


STILL: dict[str, tuple[Action, dict[str, Any], bool]] = {
    "an active Workload is made inactive": (Action.DEACTIVATE, stored(), True),
    "what a person made inactive is not ours": (Action.DEACTIVATE, stored(active=False), False),
    "what is inactive by our hand is done": (
        Action.DEACTIVATE,
        stored(active=False, marked=True),
        False,
    ),
    "a finished Workload is left alone": (Action.DEACTIVATE, stored(finished=True), False),
    "what we made inactive is made active": (
        Action.ACTIVATE,
        stored(active=False, marked=True),
        True,
    ),
    "what another replica made active is done": (Action.ACTIVATE, stored(), False),
    "what a person made inactive stays so": (Action.ACTIVATE, stored(active=False), False),
}


@pytest.mark.parametrize(("action", "workload_", "expected"), STILL.values(), ids=STILL.keys())
def test_what_was_due_is_checked_against_what_is(
    action: Action, workload_: dict[str, Any], *, expected: bool
) -> None:
    """A Workload is read once more before it is switched."""
    assert still_applies(action, workload_) is expected

"""What the companion has to do, from what it saw: pure, one sentence each."""

from typing import Any

import pytest

from webhook.cluster.changes import Changed, Item, ItemMetadata, ItemSpec, Listed
from webhook.cluster.pauses import Action, Pauses, Workload, still_applies
from webhook.rules import names
from webhook.rules.objects import OwnerReference

MARK = {names.PAUSED: "true"}
JOBSET = OwnerReference("jobset.x-k8s.io/v1alpha2", "JobSet", "tune", "js", controller=True)


def job(*, marked: bool = False, uid: str = "job") -> Item:
    """A step's Job."""
    annotations = MARK if marked else None
    return Item(
        ItemMetadata(namespace="team", uid=uid, annotations=annotations, owner_references=[JOBSET])
    )


def jobset(*, suspended: bool = False) -> Item:
    """Its JobSet."""
    return Item(ItemMetadata(uid="js"), ItemSpec(suspend=suspended))


def workload(*, marked: bool = False, uid: str = "job", namespace: str = "team") -> Item:
    """The Job's Workload."""
    annotations = MARK if marked else None
    return Item(
        ItemMetadata(
            name="wl",
            namespace=namespace,
            uid="w",
            labels={names.JOB_UID: uid},
            annotations=annotations,
        )
    )


def known(job_: Item | None, jobset_: Item | None, workload_: Item | None) -> Pauses:
    """What is known after these were listed; None means that the list was empty."""
    pauses = Pauses()
    pauses.see_jobs(Listed((job_,) if job_ else ()))
    pauses.see_jobsets(Listed((jobset_,) if jobset_ else ()))
    pauses.see_workloads(Listed((workload_,) if workload_ else ()))
    return pauses


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


@pytest.mark.parametrize(("job_", "jobset_", "workload_", "action"), DUE.values(), ids=DUE.keys())
def test_what_is_due(
    job_: Item | None, jobset_: Item | None, workload_: Item | None, action: Action | None
) -> None:
    """A paused step's Workload is to be inactive, and active again only where we made it so."""
    due = known(job_, jobset_, workload_).due("job")
    marked = bool(workload_ and workload_.metadata.annotation(names.PAUSED))
    assert due == ((action, Workload("team", "wl", marked)) if action else None)


def test_a_change_of_a_jobset_concerns_all_its_jobs() -> None:
    """Suspending a JobSet asks for every Job of it, and for no other."""
    pauses = Pauses()
    pauses.see_jobs(Listed((job(uid="one"), job(uid="two"))))
    assert pauses.see_jobsets(Changed(jobset(suspended=True))) == {"one", "two"}


def test_a_late_workload_is_asked_for() -> None:
    """A Workload that Kueue makes after the pause is looked at when it appears."""
    pauses = known(job(), jobset(suspended=True), None)
    assert pauses.see_workloads(Changed(workload())) == {"job"}
    assert pauses.due("job") == (Action.DEACTIVATE, Workload("team", "wl", marked=False))


def test_a_workload_of_another_namespace_hides_nothing() -> None:
    """Who may make Workloads elsewhere can't put one in the place of a Job's own."""
    pauses = known(job(marked=True), jobset(suspended=True), workload())
    pauses.see_workloads(Changed(workload(marked=True, namespace="other")))
    assert pauses.due("job") == (Action.DEACTIVATE, Workload("team", "wl", marked=False))


def test_deleted_objects_are_forgotten() -> None:
    """Nothing is due for what is gone, and memory does not grow."""
    pauses = known(job(marked=True), jobset(suspended=True), workload())
    pauses.see_jobs(Changed(job(), deleted=True))
    pauses.see_jobsets(Changed(jobset(), deleted=True))
    pauses.see_workloads(Changed(workload(), deleted=True))
    assert pauses.due("job") is None
    assert (pauses.jobs, pauses.suspended, pauses.workloads) == ({}, {}, {})


def test_a_new_list_replaces_what_was_known() -> None:
    """After a loss, what is not in the list is gone."""
    pauses = known(job(marked=True), jobset(suspended=True), workload())
    pauses.see_jobs(Listed(()))
    assert pauses.due("job") is None


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

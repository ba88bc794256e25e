"""What is kept of what the companion saw, and what is forgotten: pure, one sentence each."""

import tracemalloc

import msgspec
import pytest

from tests.edge.objects_seen import Tree, condition, job, jobset, owner, see_all, text, workload
from tests.edge.seen import action, known
from webhook.cluster.changes import Begun, Changed, Ended
from webhook.cluster.items import Item
from webhook.cluster.known import Known
from webhook.cluster.pauses import Action
from webhook.rules import names

OLD: Tree = {"uid": "old"}
NEW: Tree = {"uid": "new", "creationTimestamp": text(30)}
FINISHED = condition("Finished", 40)

SLICES: dict[str, tuple[Item, Item]] = {
    "of two that are not finished the newer": (workload(**NEW), workload(**OLD)),
    "one that is not finished, though it is older": (workload(**OLD), workload(FINISHED, **NEW)),
    "of two finished ones the newer": (workload(FINISHED, **NEW), workload(FINISHED, **OLD)),
}


@pytest.mark.parametrize(("first", "second"), SLICES.values(), ids=SLICES.keys())
def test_which_of_several_workloads_of_a_job_counts(first: Item, second: Item) -> None:
    """Kueue replaces the Workload of an elastic Job; which is seen last says nothing."""
    for order in ((first, second), (second, first)):
        seen = known(job(), jobset(), None)
        see_all(seen.see_workloads, order)
        assert counts(seen) == first.metadata.uid
        seen.see_workloads(Changed(first, deleted=True))
        assert counts(seen) == second.metadata.uid


def counts(seen: Known) -> str | None:
    """The uid of the Workload that counts for the Job."""
    workload = seen.workload_of("job")
    return workload.uid if workload else None


def plain(name: str) -> Item:
    """The Workload of a Job that no JobSet has made."""
    mine = owner("batch/v1", "Job", name, name)
    made = workload(name=name, uid=name, labels={names.JOB_UID: name}, ownerReferences=mine)
    return msgspec.structs.replace(made, spec=None)


def test_workloads_of_other_jobs_are_not_kept() -> None:
    """A cluster may have any number of them; nobody is asked to look at them either."""
    seen = Known()
    assert see_all(seen.see_workloads, [plain("one"), plain("two")]) == set()
    assert seen == Known()


def test_a_workload_is_kept_before_its_job_is_seen() -> None:
    """The watches are apart: what a step's Workload told before is not told again."""
    seen = known(None, jobset(suspended=True), workload())
    assert action(seen) is None
    seen.see_jobs(Changed(job()))
    assert action(seen) == Action.DEACTIVATE


def test_of_a_known_job_every_workload_counts() -> None:
    """Even if its pods carried no label of JobSet."""
    seen = known(job(marked=True), jobset(), None)
    assert seen.see_workloads(Changed(msgspec.structs.replace(workload(), spec=None))) == {"job"}
    assert action(seen) == Action.DEACTIVATE


def test_deleted_objects_are_forgotten() -> None:
    """Nothing is due for what is gone, and memory does not grow."""
    seen = known(job(marked=True), jobset(suspended=True), workload())
    seen.see_jobs(Changed(job(), deleted=True))
    seen.see_jobsets(Changed(jobset(), deleted=True))
    seen.see_workloads(Changed(workload(), deleted=True))
    assert seen == Known()


def test_a_new_list_replaces_what_was_known() -> None:
    """After a loss, what is not in the list is gone, and is asked for a last time."""
    seen = known(job(marked=True), jobset(suspended=True), workload())
    assert see_all(seen.see_workloads) == {"job"}
    assert see_all(seen.see_jobsets) == {"js", "job"}
    assert see_all(seen.see_jobs) == {"job"}
    assert seen == Known()


def test_while_a_list_comes_in_nothing_is_forgotten() -> None:
    """Only at its end is gone what was not in it; one that breaks off counts for nothing."""
    seen = known(job(marked=True), jobset(suspended=True), workload())
    for see in (seen.see_jobs, seen.see_jobsets, seen.see_workloads):
        assert see(Begun()) == set()
    assert action(seen) == Action.DEACTIVATE
    seen.see_jobs(Begun())
    seen.see_jobs(Changed(job(marked=True)))
    assert seen.see_jobs(Ended()) == set()
    assert action(seen) == Action.DEACTIVATE


def step(number: int) -> tuple[Item, Item, Item]:
    """A step that was evicted and runs again, its JobSet and its Workload, of a team of many."""
    one = f"{number:08x}-0000-4000-8000-000000000000"
    by_jobset = owner("jobset.x-k8s.io/v1alpha2", "JobSet", "tune", f"js{one}")
    by_job = owner("batch/v1", "Job", "tune-node-0", f"job{one}")
    ends = condition("Complete", 60, "CompletionsReached", "Reached expected number of pods")
    conditions = (
        condition("QuotaReserved", 9, "QuotaReserved", f"Quota reserved for {one} in ClusterQueue"),
        condition("Admitted", 9, "Admitted", f"The workload {one} is admitted"),
        condition("Evicted", 5, "Preempted", f"Previously: by {one}", status="False"),
    )
    granted = {"cpu": "4", "nvidia.com/gpu": "8"}
    flavors = dict.fromkeys(granted, "a100")
    podset = {"flavors": flavors, "resourceUsage": granted}
    admission = {"clusterQueue": "research", "podSetAssignments": [podset]}
    labels = {names.JOB_UID: f"job{one}"}
    mine: Tree = {"uid": f"wl{one}", "labels": labels, "ownerReferences": by_job}
    return (
        job(ends, uid=f"job{one}", ownerReferences=by_jobset),
        jobset(condition("Suspended", 4, "ResumeJobs", status="False"), uid=f"js{one}"),
        workload(*conditions, admission=admission, **mine),
    )


def test_little_is_kept_of_a_step() -> None:
    """A cluster has tens of thousands; a replica has 320 MiB for all that it does."""
    count, seen = 500, Known()
    tracemalloc.start()
    for number in range(count):
        job_, jobset_, workload_ = step(number)
        seen.see_jobs(Changed(job_))
        seen.see_jobsets(Changed(jobset_))
        seen.see_workloads(Changed(workload_))
    del job_, jobset_, workload_
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(seen.workloads) == count
    assert size / count < 3000


def test_messages_are_kept_where_they_are_read() -> None:
    """The rest of what controllers say is told nowhere."""
    said = {
        "QuotaReserved": condition("QuotaReserved", 9, "Pending", "why", status="False"),
        "Admitted": condition("Admitted", 9, "Admitted", "is admitted"),
        "Evicted": condition("Evicted", 5, "Preempted", "for another"),
    }
    seen = known(job(), jobset(), workload(*said.values()))
    (kept,) = seen.workloads["job"]
    turns = (kept.reserved, kept.admitted, kept.evicted)
    assert [turn and turn.message for turn in turns] == ["why", "", "for another"]

"""What is whose: JobSets of TrainJobs, Jobs of JobSets, Workloads of both."""

from typing import Any

import msgspec
import pytest

from tests.steps.made import Object, condition, job, jobset, parent, seen, step, trainjob, workload
from webhook.steps.parents import parents
from webhook.steps.tree import State


def test_a_jobset_is_shown_with_its_trainjob_only() -> None:
    """One that has no TrainJob, or another owner, is a parent itself; the oldest comes first."""
    young, old = trainjob(name="young", made=10), trainjob(name="old", made=20)
    lone = jobset(name="lone", made=15)
    found = parents(seen(jobset(owner=young, name="young"), young, lone, old))
    assert [(one.kind, one.name, one.jobset) for one in found] == [
        ("TrainJob", "old", None),
        ("JobSet", "lone", "lone"),
        ("TrainJob", "young", "young"),
    ]


def test_a_jobset_is_not_shown_before_its_trainjob() -> None:
    """It may be younger than the list of TrainJobs; where there is no Trainer it is shown."""
    early = seen(jobset(owner=trainjob()))
    assert parents(early) == []
    [found] = parents(msgspec.structs.replace(early, trainjobs=None))
    assert (found.kind, found.name) == ("JobSet", "tune")


OTHER: dict[str, Object] = {
    "in another namespace": {"namespace": "team-b"},
    "that names another kind": {"owner": {"kind": "Other"}},
    "that names another group": {"owner": {"apiVersion": "example.com/v1"}},
}


def _but(item: Object, namespace: str = "", owner: Object | None = None) -> Object:
    """The object in another namespace, or with another owner of the same uid."""
    metadata = item["metadata"]
    [named] = metadata["ownerReferences"]
    more = {"namespace": namespace} if namespace else {}
    return {**item, "metadata": {**metadata, **more, "ownerReferences": [named | (owner or {})]}}


@pytest.mark.parametrize("other", OTHER.values(), ids=OTHER.keys())
def test_an_owner_is_told_by_namespace_kind_and_uid(other: dict[str, Any]) -> None:
    """Whoever makes an object may name any uid."""
    head = trainjob()
    found, *_ = parents(seen(head, _but(jobset(owner=head), **other)))
    assert (found.kind, found.jobset, found.steps) == ("TrainJob", None, ())
    its = jobset(steps=(step("data"),))
    [step_] = parent(its, _but(job(its, "data"), **other)).steps
    assert step_.job is None


def test_a_jobset_of_another_name_is_not_its_trainjobs() -> None:
    """Trainer gives it the TrainJob's; it is shown, as one of its own."""
    head = trainjob()
    found = parents(seen(head, jobset(owner=head, name="mine")))
    assert [(one.kind, one.name, one.jobset) for one in found] == [
        ("JobSet", "mine", "mine"),
        ("TrainJob", "tune", None),
    ]


def test_a_workload_counts_in_its_own_namespace_only() -> None:
    """Its label may name any uid."""
    its = jobset(steps=(step("data"),))
    data = job(its, "data")
    forged = workload(data, condition("QuotaReserved"), condition("Admitted"))
    forged["metadata"]["namespace"] = "team-b"
    [found] = parent(its, data, workloads=(forged,)).steps
    assert found.standing.state is State.QUEUED

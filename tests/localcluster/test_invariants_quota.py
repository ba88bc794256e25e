"""Never more GPUs in use than the quota: what is a violation, and what is not."""

import pytest

from localcluster.invariants.judge import Kind
from localcluster.invariants.violation import Invariant
from localcluster.manifests import Object
from tests.localcluster.court import (
    Court,
    cluster_queue,
    job,
    jobset,
    metadata,
    pod,
    stamp,
    workload,
)


def two_running(court: Court, at: float = 0) -> Court:
    """Two admitted steps with eight GPUs each, running from this moment."""
    for name in ("one", "two"):
        court.see(at, jobs=job(name, suspend=False), workloads=workload(name, since=0))
        court.see(at, pods=pod(f"pod-{name}", name, phase="Running"))
    return court


def test_more_gpus_than_the_quota_are_reported_with_who_uses_them() -> None:
    """The sum over a ClusterQueue's running Pods is held against its quota over all flavors."""
    court = two_running(Court())
    assert court.found(1.9) == []
    assert court.found(2.1) == [Invariant.QUOTA]
    assert court.sentence() == (
        "team-a: ClusterQueue cq has a quota of 8 GPUs and 16 in use since Pod pod-two, made at "
        "12:00:00, runs: team-a/pod-one 8, team-a/pod-two 8"
    )


def test_a_short_overlap_counts_even_if_it_is_over_when_it_is_judged() -> None:
    """What ran at the same time did so, though both Jobs are complete two seconds later."""
    court = two_running(Court())
    done = {"conditions": [{"type": "Complete", "status": "True"}]}
    for name in ("one", "two"):
        court.see(1, pods=pod(f"pod-{name}", name, phase="Succeeded"))
        court.see(1, jobs=job(name, suspend=False) | {"status": done})
    assert court.found(3) == [Invariant.QUOTA]


def test_pods_of_a_step_that_nobody_admitted_count_too() -> None:
    """Without any Workload the Job's own queue label says whose quota is used."""
    court = Court().see(0, jobs=job(suspend=False), pods=pod(gpus=9, phase="Running"))
    assert sorted(court.found(3)) == [Invariant.ADMISSION, Invariant.QUOTA]


def test_what_is_left_whole_counts_by_the_workload_of_its_parent() -> None:
    """Pods of a TrainJob's JobSet's Job use the quota of the TrainJob's Workload."""
    court = Court().see(0, workloads=workload("trainjob", since=0))
    whole = jobset()
    whole["metadata"] = metadata("jobset", "trainjob")
    court.see(0, jobsets=whole, jobs=job(suspend=False, labels={}))
    court.see(0, pods=pod(gpus=9, phase="Running"))
    assert court.found(3) == [Invariant.QUOTA]


def relieved(court: Court, **objects: Object) -> Court:
    """The first of two steps starts; then something happens; then the second starts."""
    court.see(0, jobs=job("one", suspend=False), workloads=workload("one", since=0))
    court.see(0, pods=pod("pod-one", "one", phase="Running"))
    court.see(5, **objects)
    court.see(6, jobs=job("two", suspend=False), workloads=workload("two", since=6))
    return court.see(6, pods=pod("pod-two", "two", made=6, phase="Running"))


RELIEFS: dict[str, dict[str, Object]] = {
    "it ended": {"pods": pod("pod-one", "one", phase="Succeeded")},
    "it is asked to end": {
        "pods": pod("pod-one", "one", phase="Running", deletionTimestamp=stamp(9))
    },
    "its Job is being deleted": {"jobs": job("one", suspend=False, deletionTimestamp=stamp(5))},
    "the quota was raised": {"clusterqueues": cluster_queue(16)},
    "another queue lends": {"clusterqueues": cluster_queue(8, "lender", "all")},
}


@pytest.mark.parametrize("relief", RELIEFS.values(), ids=RELIEFS.keys())
def test_gpus_that_are_given_back_or_added_are_free(relief: dict[str, Object]) -> None:
    """Kueue gives quota on when nothing active uses it, and what is added is there at once."""
    court = Court()
    if relief.get("clusterqueues", {}).get("metadata", {}).get("name") == "lender":
        court.see(0, clusterqueues=cluster_queue(8, "cq", "all"))
    assert relieved(court, **relief).found(9) == []


def test_a_quota_that_is_lowered_ends_nothing() -> None:
    """What was admitted under the higher quota may start and go on; later starts are judged."""
    court = Court().see(0, clusterqueues=cluster_queue(16))
    court.see(99, clusterqueues=cluster_queue(8))
    assert two_running(court, 100).found(103) == []
    court.judge.gone(Kind.PODS, pod("pod-one", "one"))
    court.judge.gone(Kind.PODS, pod("pod-two", "two"))
    court.see(200, pods=pod("third", "one", gpus=9, phase="Running"))
    assert court.found(203) == [Invariant.QUOTA]

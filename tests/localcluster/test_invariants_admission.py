"""No Pod of a step without its admission: what is a violation, and what is not."""

import pytest

from localcluster.invariants.judge import Judge, Kind
from localcluster.invariants.violation import Invariant
from localcluster.manifests import Object
from tests.localcluster.court import TEAM, Court, job, pod, stamp, workload


def test_a_pod_without_any_admission_is_reported_with_object_and_times() -> None:
    """The sentence names the namespace, the Pod, its Job and when it was made; once only."""
    court = Court().see(0, jobs=job(suspend=False), pods=pod(made=3))
    assert court.found(1.9) == []
    assert court.found(2.1) == [Invariant.ADMISSION]
    assert court.sentence() == (
        "team-a: Pod pod of Job train was made at 12:00:03 without an admission by Kueue "
        "(never admitted)"
    )
    court.see(3, pods=pod("next", made=4))
    assert court.found(20) == []


# The order in which watches tell of them must not matter: (what, at which moment).
ORDERS: dict[str, tuple[tuple[str, float], ...]] = {
    "Workload, Job, Pod": (("workloads", 0), ("jobs", 0), ("pods", 0)),
    "Pod, Job, and the Workload late": (("pods", 0), ("jobs", 0.1), ("workloads", 1.9)),
    "Pod, Workload, and the Job last": (("pods", 0), ("workloads", 0.5), ("jobs", 1.9)),
}


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS.keys())
@pytest.mark.parametrize(("made", "is_fine"), [(5, True), (6, True), (4, False)])
def test_times_decide_and_not_the_order_of_events(
    order: tuple[tuple[str, float], ...], made: float, *, is_fine: bool
) -> None:
    """A Pod of the second of its admission is fine, one of the second before is not."""
    items = {"workloads": workload(since=5), "jobs": job(suspend=False), "pods": pod(made=made)}
    court = Court()
    for plural, at in order:
        court.see(at, **{plural: items[plural]})
        court.found(at)
    assert court.found(3) == ([] if is_fine else [Invariant.ADMISSION])


def test_a_pod_between_two_admissions_is_reported() -> None:
    """Admitted, evicted, admitted again: a Pod of the time between was made by nobody's leave."""
    court = Court().see(0, jobs=job(suspend=False), workloads=workload(since=1))
    court.see(1, workloads=workload(admitted=False, since=10))
    court.see(2, workloads=workload(since=20))
    court.see(2, pods=pod("first", made=5)).see(2, pods=pod("second", made=22))
    assert court.found(5) == []
    court.see(6, pods=pod("between", made=15))
    assert court.found(9) == [Invariant.ADMISSION]
    assert "admitted from 12:00:01, not admitted from 12:00:10, admitted from" in court.sentence()


def test_a_deleted_workload_is_an_admission_lost() -> None:
    """What a Job starts after its Workload was deleted is unadmitted."""
    court = Court().see(0, jobs=job(suspend=False), workloads=workload(since=1))
    court.judge.gone(Kind.WORKLOADS, workload(since=1, deletionTimestamp=stamp(4)))
    court.see(1, pods=pod("before", made=3)).see(1, pods=pod("after", made=6))
    assert court.found(4) == [Invariant.ADMISSION]
    assert "Pod after" in court.sentence()


def test_a_pod_that_outlives_its_admission_is_reported_after_ten_seconds() -> None:
    """Eviction has to settle: ten seconds later the Pod is gone, at its end, or a violation."""
    court = Court().see(0, jobs=job(suspend=False), workloads=workload(since=0), pods=pod(made=1))
    court.see(30, workloads=workload(admitted=False, since=30))
    assert court.found(30) == []
    assert court.found(39.9) == []
    assert court.found(40.1) == [Invariant.ADMISSION]
    assert "goes on for 10.1 s without an admission" in court.sentence()
    assert "not admitted from 12:00:30" in court.sentence()


ENDS: dict[str, Object] = {
    "asked to end": pod(made=1, deletionTimestamp=stamp(40)),
    "failed": pod(made=1, phase="Failed"),
    "succeeded": pod(made=1, phase="Succeeded"),
}


@pytest.mark.parametrize("last", ENDS.values(), ids=ENDS.keys())
def test_a_pod_that_ends_with_its_admission_is_fine(last: Object) -> None:
    """Terminating and finished Pods may stay as long as they like."""
    court = Court().see(0, jobs=job(suspend=False), workloads=workload(since=0), pods=pod(made=1))
    court.see(30, workloads=workload(admitted=False, since=30)).found(30)
    court.see(35, pods=last)
    assert court.found(100) == []


def test_pods_from_before_the_watch_are_not_asked_when_they_were_made() -> None:
    """An admission that was given and taken before the watch began can't be known."""
    court = Court().see(0, jobs=job(suspend=False), workloads=workload(since=50))
    fresh = Judge()
    fresh.listed(Kind.JOBS, [job(suspend=False)], 0)
    fresh.listed(Kind.WORKLOADS, [workload(since=50)], 0)
    fresh.listed(Kind.PODS, [pod(made=5)], 0)
    assert fresh.check(5) == []
    court.judge.listed(Kind.PODS, [pod(made=5)], 0)
    assert court.found(5) == [Invariant.ADMISSION]


def test_pods_of_other_jobs_are_nobodys_business() -> None:
    """A Job without our label, and a Job that nobody knows, may have Pods at any time."""
    plain = job(suspend=False, labels={})
    court = Court().see(0, jobs=plain, pods=pod()).see(0, pods=pod("other", "unknown"))
    assert court.found(30) == []


def test_pods_are_undecided_until_their_admission_is_seen() -> None:
    """A test waits for this before it believes that nothing was violated."""
    court = Court().see(0, jobs=job(suspend=False), pods=pod(made=1))
    court.found(0)
    assert court.judge.is_undecided([TEAM])
    assert not court.judge.is_undecided(["another"])
    court.see(1, workloads=workload(since=1)).found(1)
    assert not court.judge.is_undecided([TEAM])

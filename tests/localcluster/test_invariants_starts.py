"""What Kueue admits runs: what is a violation, and what is not."""

import pytest

from localcluster.invariants.judge import Kind
from localcluster.invariants.violation import Invariant
from localcluster.manifests import Object
from tests.localcluster.court import Court, job, jobset, pod, stamp, workload


def test_an_admitted_job_that_stays_suspended_is_reported_after_ten_seconds() -> None:
    """The sentence says since when Kueue has admitted it."""
    court = Court().see(0, jobs=job(), workloads=workload(since=5))
    assert court.found(0) == []
    assert court.found(10) == []
    assert court.found(10.1) == [Invariant.START]
    assert court.sentence() == (
        "team-a: Job train is still suspended 10.1 s after it could start: Workload w-train is "
        "admitted from 12:00:05"
    )


MAY_WAIT: dict[str, dict[str, Object]] = {
    "not admitted": {"workloads": workload(admitted=False)},
    "not looked at": {"workloads": workload(admitted=None)},
    "being evicted": {"workloads": workload(evicted=True)},
    "inactive": {"workloads": workload(active=False)},
    "paused": {"jobs": job(annotations={"kueue-steps.io/paused": "true"})},
    "the JobSet is suspended": {"jobsets": jobset(suspend=True)},
    "being deleted": {"jobs": job(deletionTimestamp=stamp(0))},
    "it runs": {"jobs": job(suspend=False)},
}


@pytest.mark.parametrize("changed", MAY_WAIT.values(), ids=MAY_WAIT.keys())
def test_a_job_with_a_reason_to_wait_may_stay_suspended(changed: dict[str, Object]) -> None:
    """The ten seconds begin anew when the reason is gone."""
    usual = {"jobs": job(), "workloads": workload(), "jobsets": jobset()}
    court = Court().see(0, **usual)
    court.found(0)
    court.see(9, **changed)
    assert court.found(9) == []
    assert court.found(100) == []
    court.see(200, **usual)
    assert court.found(200) == []
    assert court.found(209) == []
    assert court.found(211) == [Invariant.START]


def test_patience_begins_anew_when_the_api_server_is_back() -> None:
    """While it is down nobody can start anything, nor can anything be seen."""
    court = Court().see(0, jobs=job(), workloads=workload())
    court.see(0, pods=pod("early", "other", made=0), jobs=job("other"))
    court.found(0)
    court.judge.restart(9)
    court.see(9, workloads=workload("other", since=0))
    assert court.found(18) == []
    assert court.found(29) == [Invariant.START, Invariant.START]


def test_what_a_new_list_lacks_is_gone() -> None:
    """After missed events, a Job that is no longer there is not waited for."""
    court = Court().see(0, jobs=job(), workloads=workload())
    court.found(0)
    court.judge.listed(Kind.JOBS, [], 5)
    assert court.found(30) == []

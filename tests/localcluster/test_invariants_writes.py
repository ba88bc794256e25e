"""A held Job rests: what is a violation, and what is not."""

from dataclasses import replace

import pytest

from localcluster.audit import Event
from localcluster.invariants.judge import Kind
from localcluster.invariants.violation import Invariant
from localcluster.invariants.writes import MOST_VERSIONS, MOST_WRITES
from tests.localcluster.court import NOON, TEAM, Court, job
from webhook.rules.names import JOBSET_USER


def test_a_held_job_that_is_stored_again_and_again_is_reported() -> None:
    """Thirty versions within a minute are allowed, one more is not."""
    court = Court().see(0, jobs=job(version=0))
    for version in range(1, MOST_VERSIONS + 1):
        court.see(version, jobs=job(version=version))
        court.see(version, jobs=job(version=version))  # a relist shows nothing new
    assert court.found(31) == []
    court.see(31, jobs=job(version=99))
    assert court.found(31) == [Invariant.WRITES]
    assert court.sentence() == "team-a: Job train was stored 31 times within 60 s (at most 30)"


def test_what_is_stored_slowly_or_while_it_runs_is_no_fight() -> None:
    """The minute slides, a running Job's status may change, and each start begins anew."""
    slow, running, evicted = Court(), Court(), Court()
    for version in range(100):
        slow.see(3 * version, jobs=job(version=version))
        running.see(0, jobs=job(version=version, suspend=False))
        evicted.see(0, jobs=job(version=version, suspend=version % 20 != 0))
    assert slow.found(300) == running.found(300) == evicted.found(300) == []


WRITE = Event(
    verb="update",
    group="batch",
    resource="jobs",
    subresource="",
    namespace=TEAM,
    name="train",
    user=JOBSET_USER,
    code=200,
    received=NOON,
    answered=NOON,
    annotations={},
    end=0,
)


def test_attempts_that_store_nothing_are_bounded_by_the_audit_log() -> None:
    """240 writes of a step's Job within a minute are allowed, one more is not."""
    court = Court().see(0, jobs=job())
    for _ in range(MOST_WRITES):
        court.judge.audited(WRITE, 1)
    assert court.found(1) == []
    court.judge.audited(WRITE, 60)
    assert court.found(60) == [Invariant.WRITES]
    assert court.sentence() == (
        f"team-a: Job train was written 241 times within 60 s (at most 240), last by {JOBSET_USER}"
    )


HARMLESS = {
    "status": replace(WRITE, subresource="status"),
    "another kind": replace(WRITE, resource="workloads"),
    "creates": replace(WRITE, verb="create"),
    "another Job": replace(WRITE, name="other"),
}


@pytest.mark.parametrize("event", HARMLESS.values(), ids=HARMLESS.keys())
def test_other_writes_are_not_counted(event: Event) -> None:
    """Only updates of the step's Job itself make a fight over it."""
    court = Court().see(0, jobs=job())
    for _ in range(MOST_WRITES + 1):
        court.judge.audited(event, 1)
    assert court.found(1) == []


def test_a_new_job_of_the_same_name_starts_anew() -> None:
    """JobSet's restart makes a Job of the same name, whose writes are its own."""
    court = Court().see(0, jobs=job())
    for _ in range(MOST_WRITES):
        court.judge.audited(WRITE, 1)
    court.judge.gone(Kind.JOBS, job())
    court.see(2, jobs=job(uid="second"))
    court.judge.audited(WRITE, 3)
    assert court.found(3) == []

"""Which Jobs are ours, and what decides it (C13, C16)."""

import pytest

from tests.rules.factories import (
    JOB_CONTROLLER,
    JOBSET,
    KUEUE,
    PERSON,
    PREBUILT,
    Obj,
    S,
    cases,
    changed,
    child_job,
    labelled,
    owner,
)
from tests.rules.reviews import create, decide, update
from webhook.rules.policy import Kueue, Policy

EVERYBODY = (KUEUE, JOBSET, PERSON, JOB_CONTROLLER)
HELD = child_job()
RUNNING = child_job(suspend=False)


def _owned_by(kind: str, group_version: str) -> list[Obj]:
    return [owner(kind, "x", "u", group_version)]


NOT_OURS: dict[str, Obj] = {
    "a Job of a CronJob": {"metadata": {"ownerReferences": _owned_by("CronJob", "batch/v1")}},
    "a Job of a RayJob": {"metadata": {"ownerReferences": _owned_by("RayJob", "ray.io/v1")}},
    "a Job of an MPIJob": {"metadata": {"ownerReferences": _owned_by("MPIJob", "kubeflow.org/v2")}},
    "a lone Job": {"metadata": {"ownerReferences": None}},
    "a Job of something else called JobSet": {
        "metadata": {"ownerReferences": _owned_by("JobSet", "example.com/v1")}
    },
    "a Job that its JobSet owns without controlling it": {
        "metadata": {
            "ownerReferences": [
                changed(owner("JobSet", "x", "u", "jobset.x-k8s.io/v1"), {"controller": False})
            ]
        }
    },
    "a Job without our label": {"metadata": {"labels": {S: None}}},
    "a Job with an empty label of ours": {"metadata": {"labels": {S: ""}}},
}


@cases(NOT_OURS)
@pytest.mark.parametrize("user", EVERYBODY)
def test_jobs_that_are_not_ours_pass_untouched(user: str, case: Obj) -> None:
    """A Job that no stepped JobSet controls is neither held nor labelled (C13)."""
    held, running = changed(HELD, case), changed(RUNNING, case)
    for body in (create(held), create(running), update(running, held), update(held, running)):
        decision = decide(body)
        assert decision.allowed
        assert decision.patch is None


PREBUILT_MARKS: dict[str, Obj] = {
    "as label": {"metadata": {"labels": {PREBUILT: "w"}}},
    "as annotation": {"metadata": {"annotations": {PREBUILT: "w"}}},
}


@cases(PREBUILT_MARKS)
def test_a_job_is_created_with_its_prebuilt_workload_untouched(case: Obj) -> None:
    """Kueue itself suspends a queued Job that brings its Workload along; we add nothing."""
    assert decide(create(changed(RUNNING, case), user=JOBSET)).patch is None


@cases(PREBUILT_MARKS)
def test_a_prebuilt_mark_put_on_a_held_job_does_not_free_it(case: Obj) -> None:
    """Two writes, first the mark and then the start, are no way around the hold."""
    marked = changed(HELD, case)
    assert decide(update(changed(RUNNING, case), marked, user=JOBSET)).stored == marked


def test_jobsets_without_version_drift_are_recognised() -> None:
    """The owner's group counts and not its version."""
    newer = {"metadata": {"ownerReferences": _owned_by("JobSet", "jobset.x-k8s.io/v1")}}
    assert decide(create(changed(RUNNING, newer))).stored == changed(HELD, newer)


@pytest.mark.parametrize("condition", ["Complete", "Failed"])
def test_finished_jobs_are_never_touched(condition: str) -> None:
    """A Job that is Complete or Failed passes as it came, labels stripped or not."""
    status = {"status": {"conditions": [{"type": condition, "status": "True"}]}}
    old = changed(RUNNING, status)
    assert decide(update(labelled(old, {S: None}), old)).patch is None


def test_an_unfinished_condition_does_not_finish_a_job() -> None:
    """Conditions that are not True, and Suspended, leave the Job held (C01)."""
    conditions = [{"type": "Suspended", "status": "True"}, {"type": "Failed", "status": "False"}]
    old, new = (changed(job, {"status": {"conditions": conditions}}) for job in (HELD, RUNNING))
    assert decide(update(new, old, user=JOBSET)).stored == old


def test_a_created_job_cannot_claim_to_be_finished() -> None:
    """At CREATE status is the submitter's own word: the API server drops it after admission."""
    status = {"status": {"conditions": [{"type": "Complete", "status": "True"}]}}
    stored = decide(create(changed(RUNNING, status))).stored
    assert stored["spec"]["suspend"] is True


@pytest.mark.parametrize("manager", ["kueue.x-k8s.io/multikueue", "example.com/x"])
def test_a_step_that_another_controller_manages_is_held_too(manager: str) -> None:
    """JobSet resumes it as any other, and Kueue would stop it again and again (C01)."""
    held, running = (changed(job, {"spec": {"managedBy": manager}}) for job in (HELD, RUNNING))
    assert decide(create(running, user=JOBSET)).stored == held
    assert decide(update(running, held, user=JOBSET)).stored == held
    assert decide(update(running, held, user=KUEUE)).patch is None


def test_the_new_object_alone_cannot_claim_a_prebuilt_workload_or_another_manager() -> None:
    """The stored Job decides: a mark that comes with the start does not free it."""
    for claim in (
        {"metadata": {"annotations": {PREBUILT: "w"}}},
        {"metadata": {"labels": {PREBUILT: "w"}}},
        {"spec": {"managedBy": "example.com/x"}},
        {"status": {"conditions": [{"type": "Complete", "status": "True"}]}},
    ):
        decision = decide(update(changed(RUNNING, claim), HELD, user=JOBSET))
        assert decision.stored == changed(HELD, claim)


UNABLE: dict[str, Kueue] = {
    "Kueue's Job integration is off": Kueue(frameworks=frozenset({"jobset.x-k8s.io/jobset"})),
    "Kueue manages Jobs without queue-name, and JobSets": Kueue(manages_without_queue_name=True),
}


@cases(UNABLE)
def test_nothing_is_held_where_stepping_cannot_work(case: Kueue) -> None:
    """A Job that nobody would start is not suspended by us (C16)."""
    policy = Policy(kueue=case)
    assert decide(create(RUNNING, user=JOBSET), policy=policy).patch is None
    assert decide(update(RUNNING, HELD, user=JOBSET), policy=policy).patch is None

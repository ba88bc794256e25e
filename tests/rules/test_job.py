"""The rule of a step's Job, row by row."""

import pytest

from tests.rules.factories import (
    JOB_CONTROLLER,
    JOBSET,
    KUEUE,
    PAUSED,
    PERSON,
    Obj,
    Q,
    S,
    annotated,
    cases,
    changed,
    child_job,
    labelled,
    suspended,
)
from tests.rules.reviews import create, decide, update
from webhook.rules.policy import Policy

EVERYBODY = (KUEUE, JOBSET, PERSON, JOB_CONTROLLER)
HELD = child_job()
RUNNING = child_job(suspend=False)
PAUSED_JOB = child_job(annotations={PAUSED: "true"})
STOPPING = "kueue.x-k8s.io/stopping"


@pytest.mark.parametrize("user", EVERYBODY)
def test_a_job_that_is_created_running_is_stored_held(user: str) -> None:
    """Whoever creates a step's Job un-suspended, its first stored version is suspended (C04)."""
    decision = decide(create(RUNNING, user=user))
    assert decision.stored == HELD
    assert decision.patch == [{"op": "replace", "path": "/spec/suspend", "value": True}]


@pytest.mark.parametrize("user", EVERYBODY)
@pytest.mark.parametrize("suspend", [True, False])
def test_a_created_job_gets_the_queue_label_that_it_lacks(user: str, *, suspend: bool) -> None:
    """A step's Job that carries only our label is created with Kueue's label too (C04)."""
    decision = decide(create(child_job({S: "gpu-q"}, suspend=suspend), user=user))
    assert decision.stored["metadata"]["labels"] == HELD["metadata"]["labels"]
    assert decision.stored["spec"] == HELD["spec"]


def test_a_job_created_suspended_by_jobset_is_paused() -> None:
    """JobSet creates a Job suspended only while its JobSet is suspended, so it is paused (C03)."""
    decision = decide(create(HELD, user=JOBSET))
    assert decision.stored == PAUSED_JOB


@pytest.mark.parametrize("user", [KUEUE, PERSON, JOB_CONTROLLER])
def test_a_job_created_suspended_by_others_is_not_paused(user: str) -> None:
    """Only JobSet's own suspend tells of a pause, so others' Jobs are stored as they came."""
    assert decide(create(HELD, user=user)).patch is None


def test_a_job_without_suspend_is_created_held() -> None:
    """A Job whose suspend is missing or null counts as running and is stored suspended (C04)."""
    assert decide(create(suspended(HELD, None))).stored == HELD
    assert decide(create(HELD | {"spec": HELD["spec"] | {"suspend": None}})).stored == HELD


UPDATES: dict[str, tuple[Obj, Obj, str, Obj]] = {
    "Kueue starts a held Job": (HELD, RUNNING, KUEUE, RUNNING),
    "JobSet's start is held": (HELD, RUNNING, JOBSET, HELD),
    "a person's start is held": (HELD, RUNNING, PERSON, HELD),
    "the Job controller's start is held": (HELD, RUNNING, JOB_CONTROLLER, HELD),
    "Kueue's start of a paused Job is held": (
        PAUSED_JOB,
        annotated(RUNNING, {PAUSED: "true"}),
        KUEUE,
        PAUSED_JOB,
    ),
    "Kueue's start of a paused Job is held although the mark is dropped in the same write": (
        PAUSED_JOB,
        RUNNING,
        KUEUE,
        HELD,
    ),
    "JobSet's start ends the pause and the Job stays held": (
        PAUSED_JOB,
        annotated(RUNNING, {PAUSED: "true"}),
        JOBSET,
        changed(HELD, {"metadata": {"annotations": {}}}),
    ),
    "a person's start of a paused Job is held and the pause stays": (
        PAUSED_JOB,
        annotated(RUNNING, {PAUSED: "true"}),
        PERSON,
        PAUSED_JOB,
    ),
    "JobSet's stop of a running Job marks it paused": (RUNNING, HELD, JOBSET, PAUSED_JOB),
    "Kueue's stop passes": (RUNNING, HELD, KUEUE, HELD),
    "a person's stop passes": (RUNNING, HELD, PERSON, HELD),
    "the Job controller's stop passes": (RUNNING, HELD, JOB_CONTROLLER, HELD),
    "a write that leaves a held Job suspended passes": (HELD, HELD, JOBSET, HELD),
    "a write that leaves a running Job running passes": (RUNNING, RUNNING, JOBSET, RUNNING),
    "a suspend that goes missing is a start and is held": (
        HELD,
        suspended(HELD, None),
        JOBSET,
        HELD,
    ),
}


@cases(UPDATES)
def test_who_may_start_and_stop_a_job(case: tuple[Obj, Obj, str, Obj]) -> None:
    """Kueue alone starts a step's Job, and only while it is not paused (C01, C03)."""
    old, new, user, stored = case
    decision = decide(update(new, old, user=user))
    assert decision.allowed
    assert decision.stored == stored


def test_only_a_start_by_hand_is_warned_about() -> None:
    """A person is told why the Job did not start; controllers are not talked to (C01)."""
    told = {user: decide(update(RUNNING, HELD, user=user)).warnings for user in EVERYBODY}
    assert not told[KUEUE]
    assert not told[JOBSET]
    assert len(told[PERSON]) == 1
    assert len(told[PERSON][0]) <= 120


def test_held_by_jobset_is_one_operation() -> None:
    """The hold of JobSet's resume puts suspend back and says nothing else (C01)."""
    decision = decide(update(RUNNING, HELD, user=JOBSET))
    assert decision.patch == [{"op": "replace", "path": "/spec/suspend", "value": True}]


def test_user_names_are_exact_and_configurable() -> None:
    """Kueue is who the configuration says, by the exact name."""
    policy = Policy(kueue_users=frozenset({"kueue"}), jobset_users=frozenset({"jobset"}))
    assert decide(update(RUNNING, HELD, user="kueue"), policy=policy).patch is None
    for user in (KUEUE, "kueue2", "kueu", "KUEUE", "", "jobset"):
        assert decide(update(RUNNING, HELD, user=user), policy=policy).stored == HELD
    assert decide(create(HELD, user="jobset"), policy=policy).stored == PAUSED_JOB
    assert decide(create(HELD, user=JOBSET), policy=policy).patch is None


@pytest.mark.parametrize("user", EVERYBODY)
@pytest.mark.parametrize("job", [HELD, RUNNING], ids=["held", "running"])
@pytest.mark.parametrize("stripped", [(S,), (Q,), (S, Q)])
def test_stripped_labels_are_put_back(user: str, job: Obj, stripped: tuple[str, ...]) -> None:
    """Whoever strips the queue labels of an unfinished Job finds them there again."""
    new = labelled(job, dict.fromkeys(stripped))
    assert decide(update(new, job, user=user)).stored == job
    emptied = labelled(job, dict.fromkeys(stripped, ""))
    assert decide(update(emptied, job, user=user)).stored == job


def test_labels_are_put_back_where_the_map_itself_is_gone() -> None:
    """A write without any labels map gets the two labels in a new one."""
    new = changed(HELD, {"metadata": {"labels": None}})
    stored = decide(update(new, HELD)).stored
    assert stored["metadata"]["labels"] == {Q: "gpu-q", S: "gpu-q"}


def test_a_stripped_label_does_not_free_a_held_job() -> None:
    """Stripping our label and starting the Job in one write gives the stored object (C01)."""
    new = labelled(RUNNING, {S: None, Q: None})
    assert decide(update(new, HELD, user=PERSON)).stored == HELD


def test_a_removed_owner_does_not_free_a_held_job() -> None:
    """The stored owner counts: taking the ownerReference off does not start the Job."""
    new = changed(RUNNING, {"metadata": {"ownerReferences": None}})
    assert decide(update(new, HELD, user=PERSON)).stored["spec"]["suspend"] is True


def test_a_change_of_queue_is_left_to_kueue() -> None:
    """Kueue's own validator decides about another queue of a suspended Job."""
    assert decide(update(labelled(HELD, {Q: "other"}), HELD)).patch is None


def test_our_label_cannot_be_changed() -> None:
    """Another value of our label is put back to the stored one."""
    assert decide(update(labelled(HELD, {S: "other"}), HELD)).stored == HELD


def test_a_job_being_deleted_is_still_held_and_not_relabelled() -> None:
    """Deletion does not open a way to run, and labels of a dying Job are nobody's matter."""
    dying = {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}
    old, new = changed(HELD, dying), changed(labelled(RUNNING, {Q: None}), dying)
    assert decide(update(new, old, user=JOBSET)).stored == labelled(old, {Q: None})
    without_finalizer = changed(old, {"metadata": {"finalizers": []}})
    assert decide(update(without_finalizer, old)).patch is None


def test_partial_admission_and_elastic_size_pass() -> None:
    """Kueue's smaller parallelism and JobSet's larger one pass, suspend aside (C12)."""
    smaller = changed(RUNNING, {"spec": {"parallelism": 3}})
    assert decide(update(smaller, HELD, user=KUEUE)).patch is None
    larger = changed(RUNNING, {"spec": {"parallelism": 6, "completions": 6}})
    stored = decide(update(larger, HELD, user=JOBSET)).stored
    assert stored == changed(HELD, {"spec": {"parallelism": 6, "completions": 6}})


def test_kueues_stopping_annotation_is_never_dropped() -> None:
    """The mark with which Kueue stops a Job survives whatever we answer."""
    old, new = (annotated(job, {STOPPING: "true"}) for job in (HELD, RUNNING))
    assert decide(update(new, old, user=JOBSET)).stored == old
    assert STOPPING in decide(update(old, RUNNING, user=JOBSET)).stored["metadata"]["annotations"]
    assert decide(update(old, RUNNING, user=KUEUE)).patch is None

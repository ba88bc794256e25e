"""The rule of JobSets."""

import pytest

from tests.rules.factories import (
    MAX_EXEC,
    OWNER_KEY,
    PERSON,
    PREBUILT,
    PRIORITY,
    STEP_QUEUES,
    SUBMITTED,
    TRAINER,
    TRAINJOB_OWNER,
    Obj,
    Q,
    S,
    annotated,
    cases,
    changed,
    labelled,
    owner,
    owner_facts,
    step,
    stored_jobset,
    stored_trainjob,
    suspended,
    trainer_jobset,
    user_jobset,
    with_step_labels,
)
from tests.rules.reviews import create, decide, update
from webhook.rules import admit, review
from webhook.rules.facts import Absent, Facts, Found, Unreadable
from webhook.rules.policy import Policy

CARRY = {Q: "gpu-q", S: "gpu-q"}


def test_trainers_jobset_follows_its_stepped_trainjob() -> None:
    """A JobSet that Trainer makes gets the TrainJob's queue on itself and every step (C05, C06)."""
    decision = decide(create(trainer_jobset(), user=TRAINER), owner_facts())
    assert decision.stored == stored_jobset(trainer_jobset())


def test_priority_and_execution_time_are_carried_and_no_other_label() -> None:
    """The steps get what Kueue reads of the TrainJob's labels and nothing besides (C06, C12)."""
    carried = {PRIORITY: "low", MAX_EXEC: "7200"}
    parent = stored_trainjob(
        {S: "gpu-q", "team": "a", **carried},
        {"kueue.x-k8s.io/job-min-parallelism": "2", "kueue.x-k8s.io/elastic-job": "true"},
    )
    stored = decide(create(trainer_jobset(), user=TRAINER), owner_facts(parent)).stored
    assert stored == with_step_labels(stored_jobset(trainer_jobset()), carried)


def test_a_steps_own_labels_win() -> None:
    """Queue, priority and execution time that the runtime set on a step stay there (C06)."""
    own: Obj = {Q: "cpu-q", PRIORITY: "high", MAX_EXEC: "60"}
    parent = stored_trainjob({S: "gpu-q", PRIORITY: "low", MAX_EXEC: "7200"})
    made = with_step_labels(trainer_jobset(), own, {}, {})
    stored = decide(create(made, user=TRAINER), owner_facts(parent)).stored
    rest = {**CARRY, PRIORITY: "low", MAX_EXEC: "7200"}
    steps = with_step_labels(made, {**own, S: "cpu-q"}, rest, rest)
    assert stored == labelled(steps, {S: "gpu-q"})


def test_the_queue_of_the_live_trainjob_counts_and_not_the_jobsets_word() -> None:
    """Labels that a JobSet brings are replaced by its TrainJob's queue."""
    made = labelled(trainer_jobset(), {Q: "stolen", S: "stolen"})
    stored = decide(create(made, user=PERSON), owner_facts()).stored
    assert stored == stored_jobset(trainer_jobset())


@pytest.mark.parametrize("suspend", [True, False, None])
def test_suspend_of_trainers_jobset_is_left_alone(*, suspend: bool | None) -> None:
    """Trainer owns suspend of its JobSet: a paused TrainJob's JobSet stays suspended (C03)."""
    made = suspended(trainer_jobset(), suspend)
    assert decide(create(made, user=TRAINER), owner_facts()).stored == stored_jobset(made)


def test_the_jobset_of_a_whole_trainjob_is_left_alone() -> None:
    """A JobSet whose TrainJob is not stepped gets no patch."""
    parent = stored_trainjob({Q: "gpu-q"})
    decision = decide(create(trainer_jobset(), user=TRAINER), owner_facts(parent))
    assert decision.allowed
    assert decision.patch is None


UNKNOWN_OWNERS: dict[str, Facts] = {
    "it is not there": {OWNER_KEY: Absent()},
    "it could not be read": {OWNER_KEY: Unreadable("timeout")},
    "nobody looked": {},
    "it is another TrainJob of the same name (C13)": {
        OWNER_KEY: Found(changed(stored_trainjob(), {"metadata": {"uid": "other"}}))
    },
    "it has no readable metadata": {OWNER_KEY: Found({"metadata": ["x"]})},
}


@cases(UNKNOWN_OWNERS)
def test_a_jobset_whose_trainjob_is_unknown_is_denied(case: Facts) -> None:
    """Rather refused, and tried again by Trainer, than run outside the quota (C07)."""
    decision = decide(create(trainer_jobset(), user=TRAINER), case)
    assert not decision.allowed
    assert decision.code == 403
    assert "metadata.ownerReferences" in decision.message


def test_the_owner_is_looked_up_in_the_requests_namespace() -> None:
    """A create asks for the owning TrainJob, and only there."""
    policy = Policy()
    assert admit.needs(review.read(create(trainer_jobset())), {}, policy) == [OWNER_KEY]
    asked = admit.needs(review.read(create(user_jobset())), {}, policy)
    assert {key.plural for key in asked} == {"localqueues", "configmaps"}
    assert admit.needs(review.read(update(trainer_jobset(), trainer_jobset())), {}, policy) == []


CREATED: dict[str, tuple[Obj, Obj]] = {
    "the queue goes to each step (C05)": (user_jobset(), stored_jobset(user_jobset())),
    "suspend: true becomes false and is remembered (C09)": (
        user_jobset(suspend=True),
        stored_jobset(user_jobset({}, {SUBMITTED: "true"}, suspend=False)),
    ),
    "our label wins over Kueue's default": (
        user_jobset({S: "gpu-q", Q: "default"}),
        stored_jobset(user_jobset({})),
    ),
    "an owner that does not control it is no owner": (
        changed(
            user_jobset(),
            {"metadata": {"ownerReferences": [changed(TRAINJOB_OWNER, {"controller": False})]}},
        ),
        changed(
            stored_jobset(user_jobset()),
            {"metadata": {"ownerReferences": [changed(TRAINJOB_OWNER, {"controller": False})]}},
        ),
    ),
    "a restored copy is stepped again (C32)": (
        stored_jobset(user_jobset({})),
        stored_jobset(user_jobset({})),
    ),
    "topology and exclusive placement of one step pass (C31)": (
        user_jobset(None, {"alpha.jobset.sigs.k8s.io/exclusive-topology": "rack"}),
        stored_jobset(user_jobset(None, {"alpha.jobset.sigs.k8s.io/exclusive-topology": "rack"})),
    ),
}


@cases(CREATED)
def test_a_users_own_jobset_is_stepped_at_create(case: tuple[Obj, Obj]) -> None:
    """A queued JobSet without a controller is a parent of its own."""
    submitted, stored = case
    decision = decide(create(submitted))
    assert decision.allowed
    assert decision.stored == stored


def test_a_users_jobset_carries_priority_and_execution_time() -> None:
    """The parent's priority class and execution time go to each step and stay on the parent."""
    carried = {PRIORITY: "low", MAX_EXEC: "60"}
    stored = decide(create(user_jobset({Q: "gpu-q", **carried}))).stored
    assert stored == with_step_labels(stored_jobset(user_jobset(carried)), carried)


NOT_OURS: dict[str, Obj] = {
    "no queue": user_jobset({}),
    "an AppWrapper's (C13)": {"owner": owner("AppWrapper", "a", "u", "workload.codeflare.dev/v1")},
    "a LeaderWorkerSet's": {"owner": owner("LeaderWorkerSet", "a", "u", "x-k8s.io/v1")},
    "of a TrainJob of another group (C13)": {"owner": owner("TrainJob", "a", "u", "kubeflow.org")},
    "another manager": user_jobset(managedBy="kueue.x-k8s.io/multikueue"),
    "a prebuilt Workload": user_jobset({Q: "gpu-q", PREBUILT: "w"}),
}


@cases(NOT_OURS)
def test_a_jobset_that_is_not_ours_is_created_as_it_came(case: Obj) -> None:
    """A JobSet without a queue, or of any other owner, gets no patch (C13)."""
    jobset = case
    if "owner" in case:
        jobset = changed(user_jobset(), {"metadata": {"ownerReferences": [case["owner"]]}})
    decision = decide(create(jobset))
    assert decision.allowed
    assert decision.patch is None


def test_labels_of_ours_on_a_template_do_not_outlive_a_whole_jobset() -> None:
    """A copy that is now left whole keeps no label of ours, or its Jobs would be held for ever."""
    copy_ = annotated(stored_jobset(user_jobset({})), {"kueue-steps.io/mode": "whole"})
    stored = decide(create(copy_)).stored
    assert stored["metadata"]["labels"] == {Q: "gpu-q"}
    for one in stored["spec"]["replicatedJobs"]:
        assert S not in one["template"]["metadata"]["labels"]


def test_a_steps_own_queue_is_checked() -> None:
    """A queue on a step's template that no LocalQueue can have is denied at the parent (C17)."""
    bad = [step("prepare", labels={Q: "Team_A"}), step("train", "prepare")]
    decision = decide(create(user_jobset(steps=bad)))
    assert not decision.allowed
    assert decision.code == 422


def test_step_queues_come_from_the_trainjob() -> None:
    """A JobSet made by Trainer takes the queues of its steps from its TrainJob."""
    parent = stored_trainjob(annotations={STEP_QUEUES: "dataset-initializer=cpu"})
    stored = decide(create(trainer_jobset(), user=TRAINER), owner_facts(parent)).stored
    assert stored == stored_jobset(trainer_jobset(), "cpu", "gpu-q", "gpu-q")

"""Our label where we did not put it: what was not stepped at its creation never is."""

import pytest

from tests.rules.factories import (
    KUEUE,
    MAX_EXEC,
    MODE,
    PREBUILT,
    PRIORITY,
    SUBMITTED,
    TRAINER,
    TRAINJOB_UID,
    Obj,
    Q,
    S,
    annotated,
    cases,
    changed,
    labelled,
    owner_facts,
    runtime_facts,
    step,
    stored_jobset,
    stored_trainjob,
    suspended,
    trainer_jobset,
    trainjob,
    user_jobset,
)
from tests.rules.reviews import check, create, decide, update
from webhook.rules.facts import Facts, Key, Unreadable
from webhook.rules.policy import Mode, Policy

WHOLE: dict[str, Obj] = {"a TrainJob": trainjob(), "a JobSet": user_jobset()}
MARKS: dict[str, Obj] = {
    "its own queue": {"labels": {S: "gpu-q"}},
    "another queue": {"labels": {S: "other"}},
    "our record too": {"labels": {S: "gpu-q"}, "annotations": {SUBMITTED: "true"}},
}


@pytest.mark.parametrize("mark", MARKS.values(), ids=MARKS.keys())
@cases(WHOLE)
def test_a_mark_beside_kueues_label_keeps_kueue_from_nothing(case: Obj, mark: Obj) -> None:
    """It is stored, and then Kueue stops and starts the whole as before."""
    running = suspended(changed(case, {"metadata": mark}), value=False)
    stopped = suspended(running)
    for new, old, user in (
        (running, suspended(case, value=False), "jane"),
        (stopped, running, KUEUE),
        (running, stopped, KUEUE),
        (labelled(running, {"x": "y"}), running, "jane"),
    ):
        decision = decide(update(new, old, user=user))
        assert (decision.allowed, decision.patch) == (True, None)
        assert check(update(new, old, user=user)).allowed


def test_a_mark_beside_kueues_label_makes_no_steps() -> None:
    """The JobSet of such a TrainJob is that of a whole one."""
    parent = changed(trainjob({Q: "gpu-q", S: "gpu-q"}), {"metadata": {"uid": TRAINJOB_UID}})
    assert decide(create(trainer_jobset(), user=TRAINER), owner_facts(parent)).patch is None


@cases(WHOLE)
def test_a_mark_in_place_of_kueues_label_is_refused(case: Obj) -> None:
    """It would look as if it were queued, and run without a queue."""
    decision = check(update(labelled(case, {Q: None, S: "gpu-q"}), case))
    assert not decision.allowed
    assert decision.code == 403
    assert f"delete the object and create it with {Q} in its place" in decision.message


def test_a_mark_that_a_runtime_writes_on_trainers_jobset_is_passed() -> None:
    """Trainer applies it again and again, and its TrainJob decides."""
    old = trainer_jobset()
    assert check(update(labelled(old, {S: "gpu-q"}), old, user=TRAINER)).allowed


PREBUILT_MARKS: dict[str, Obj] = {
    "as label": labelled(trainer_jobset(), {PREBUILT: "w"}),
    "as annotation": annotated(trainer_jobset(), {PREBUILT: "w"}),
}


@cases(PREBUILT_MARKS)
def test_a_runtime_cannot_take_the_steps_of_a_stepped_trainjob_out_of_their_queue(
    case: Obj,
) -> None:
    """Trainer copies labels and annotations from runtime and TrainJob onto the JobSet."""
    assert decide(create(case, user=TRAINER), owner_facts()).stored == stored_jobset(case)


def test_a_mode_that_came_after_the_creation_does_not_stop_the_jobset() -> None:
    """The user was told that it counts at creation only."""
    parent = annotated(stored_trainjob(), {MODE: "whole"})
    made = decide(create(trainer_jobset(), user=TRAINER), owner_facts(parent))
    assert made.stored == stored_jobset(trainer_jobset())


LOCAL_QUEUE = Key("kueue.x-k8s.io", "v1beta2", "localqueues", "gpu-q", "team-a")
UNREAD: Facts = {LOCAL_QUEUE: Unreadable("timeout")}


def test_a_queue_that_can_not_be_read_now_is_no_reason_to_delete_a_trainjob() -> None:
    """Trainer tries again, and its next try finds the queue."""
    fixed = Policy(default_mode=Mode.AUTO, allow_mode_override=False)
    decision = decide(create(trainer_jobset(), user=TRAINER), {**owner_facts(), **UNREAD}, fixed)
    assert not decision.allowed
    assert "could not be read. The Trainer controller tries again by itself" in decision.message


GANG = [step("leader"), step("worker", "leader", status="Ready")]
RECORDED: dict[str, Obj] = {
    "a TrainJob": trainjob({S: "gpu-q"}),
    "a JobSet": user_jobset({S: "gpu-q"}, steps=GANG),
}


@cases(RECORDED)
def test_a_gang_with_our_label_alone_is_stepped_with_a_warning(case: Obj) -> None:
    """A restored copy is stepped again; who wrote the label by hand is told what that means."""
    decision = decide(create(case), runtime_facts(GANG))
    assert S in decision.stored["metadata"]["labels"]
    assert "a step waits for another to be Ready: admitted apart" in decision.warnings[0]


@cases({"its priority class": PRIORITY, "its time limit": MAX_EXEC})
def test_an_inherited_label_that_changes_is_warned_of(case: str) -> None:
    """It stands on the steps as it was when they were made."""
    for parent in (stored_trainjob(), stored_jobset(user_jobset())):
        decision = decide(update(labelled(parent, {case: "60"}), parent))
        told = f"{case} counts at creation only: to change it for a step that waits, label its Job"
        assert decision.warnings == [told]

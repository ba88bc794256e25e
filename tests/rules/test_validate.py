"""The validating webhook: nothing runs because another webhook undid our work."""

import re

import pytest

from tests.rules.factories import (
    JOBSET,
    KUEUE,
    MAX_EXEC,
    PAUSED,
    PERSON,
    PREBUILT,
    PRIORITY,
    TRAINJOB_UID,
    Obj,
    Q,
    S,
    cases,
    changed,
    child_job,
    labelled,
    owner,
    owner_facts,
    runtime_facts,
    stored_jobset,
    stored_trainjob,
    trainer_jobset,
    trainjob,
    user_jobset,
    with_step_labels,
)
from tests.rules.reviews import again, check, create, decide, update
from webhook.rules.facts import Facts

HELD = child_job()
RUNNING = child_job(suspend=False)
PAUSED_JOB = child_job(annotations={PAUSED: "true"})
STEPPED = stored_trainjob()
BOTH = {Q: "gpu-q", S: "gpu-q"}

FINE: dict[str, bytes] = {
    "a stepped TrainJob is created": create(STEPPED),
    "a stepped TrainJob is updated": update(STEPPED, STEPPED),
    "a whole TrainJob is created": create(trainjob()),
    "a whole TrainJob gets our label beside Kueue's": update(trainjob(BOTH), trainjob()),
    "a stepped JobSet is created": create(stored_jobset(user_jobset())),
    "a whole JobSet is created": create(user_jobset()),
    "a JobSet without a queue is created": create(user_jobset({})),
    "a held Job is created": create(HELD, user=JOBSET),
    "Kueue starts a Job": update(RUNNING, HELD, user=KUEUE),
    "a running Job is written": update(RUNNING, RUNNING),
    "a Job is stopped": update(HELD, RUNNING),
    "a held Job stays held": update(HELD, HELD, user=JOBSET),
    "a plain Job is created running": create(labelled(RUNNING, {S: None})),
    "a lone Job is created running": create(
        changed(RUNNING, {"metadata": {"ownerReferences": None}})
    ),
}


@cases(FINE)
def test_what_mutate_made_is_allowed(case: bytes) -> None:
    """The final object as our first webhook left it passes."""
    decision = check(case)
    assert decision.allowed
    assert not decision.warnings


UNDONE: dict[str, bytes] = {
    "a TrainJob is created with both queue labels": create(trainjob(BOTH)),
    "a TrainJob is updated to both queue labels": update(labelled(STEPPED, BOTH), STEPPED),
    "a stepped TrainJob is updated to Kueue's label alone": update(trainjob(), STEPPED),
    "a JobSet is created with both queue labels": create(user_jobset(BOTH)),
    "a stepped JobSet is updated to Kueue's label alone": update(
        user_jobset(), stored_jobset(user_jobset())
    ),
    "a JobSet of a TrainJob is created with both": create(labelled(trainer_jobset(), BOTH)),
    "a Job is created running": create(RUNNING, user=JOBSET),
    "a Job is created running by Kueue": create(RUNNING, user=KUEUE),
    "a Job is created without Kueue's label": create(labelled(HELD, {Q: None})),
    "JobSet starts a held Job": update(RUNNING, HELD, user=JOBSET),
    "a person starts a held Job": update(RUNNING, HELD, user=PERSON),
    "Kueue starts a paused Job": update(RUNNING, PAUSED_JOB, user=KUEUE),
    "our label is stripped from a started Job": update(
        labelled(RUNNING, {S: None, Q: None}), HELD, user=PERSON
    ),
}


@cases(UNDONE)
def test_what_another_webhook_undid_is_denied(case: bytes) -> None:
    """Rather refused than admitted twice, or running without admission: 403 and the way out."""
    decision = check(case)
    assert not decision.allowed
    assert decision.code == 403
    assert "administrator" in decision.message


MADE = stored_jobset(user_jobset())
STRIPPED: dict[str, Obj] = {
    "a step lost Kueue's label": with_step_labels(MADE, {}, {Q: None}),
    "a step lost our label": with_step_labels(MADE, {S: None}, {}),
    "a step was sent to another queue": with_step_labels(MADE, {}, {Q: "other"}),
    "a step's queue became what no LocalQueue can be called": with_step_labels(
        MADE, {Q: "Team_A", S: "Team_A"}, {}
    ),
    "a step of Trainer's JobSet lost both": with_step_labels(
        stored_jobset(trainer_jobset()), {}, {}, {Q: None, S: None}
    ),
}


@cases(STRIPPED)
def test_a_jobset_whose_steps_lost_their_queue_is_denied(case: Obj) -> None:
    """Its Jobs would run without any admission: 403, the path of the label, and the way out."""
    decision = check(create(case))
    assert decision.code == 403
    assert re.search(r"spec\.replicatedJobs\[\d\]\.template\.metadata\.labels", decision.message)
    assert "administrator" in decision.message


NOT_OURS: dict[str, Obj] = {
    "an AppWrapper owns it": changed(
        user_jobset({S: "q"}),
        {"metadata": {"ownerReferences": [owner("AppWrapper", "a", "u", "codeflare.dev/v1")]}},
    ),
    "it has a Workload already": user_jobset({S: "q", PREBUILT: "w"}),
    "another controller manages it": user_jobset({S: "q"}, managedBy="kueue.x-k8s.io/multikueue"),
}


@cases(NOT_OURS)
def test_a_jobset_that_is_not_ours_is_not_judged(case: Obj) -> None:
    """C13: it passes both webhooks as it came, whatever label it carries."""
    assert decide(create(case)).patch is None
    assert check(create(case)).allowed


def test_our_label_on_a_jobset_of_a_whole_trainjob_is_taken_off() -> None:
    """Its Jobs are the whole's; a runtime that has our label makes no steps of them."""
    stray = with_step_labels(labelled(trainer_jobset(), {S: "q"}), {S: "q"})
    decision = decide(create(stray), owner_facts(trainjob() | {"metadata": {"uid": TRAINJOB_UID}}))
    bare = with_step_labels(labelled(trainer_jobset(), {S: None}), {S: None})
    assert decision.stored["spec"] == bare["spec"]
    assert S not in decision.stored["metadata"].get("labels", {})
    assert check(create(decision.stored)).allowed


SPOILT: dict[str, tuple[dict[str, str | None], str]] = {
    "our label": ({S: "Team_A"}, S),
    "the priority class": ({PRIORITY: "a_b"}, PRIORITY),
    "the time limit": ({MAX_EXEC: "2h"}, MAX_EXEC),
    "a time limit of nothing": ({MAX_EXEC: "0"}, MAX_EXEC),
}


@cases(SPOILT)
def test_kueues_rules_hold_for_the_final_object(case: tuple[dict[str, str | None], str]) -> None:
    """What another webhook makes of a carried label is judged by Kueue's own rules (C17)."""
    labels, key = case
    for parent in (STEPPED, MADE):
        created = check(create(labelled(parent, labels)))
        assert created.code == 422
        assert f"metadata.labels[{key}]" in created.message
        if key != S:
            assert check(update(labelled(parent, labels), parent)).code == 422
            assert check(update(labelled(parent, labels), labelled(parent, labels))).allowed


OURS: dict[str, tuple[bytes, Facts]] = {
    "TrainJob": (create(trainjob(suspend=True)), runtime_facts()),
    "user's JobSet": (create(user_jobset(suspend=True)), {}),
    "Trainer's JobSet": (create(trainer_jobset()), owner_facts()),
    "Job": (create(RUNNING, user=JOBSET), {}),
    "JobSet's start": (update(RUNNING, HELD, user=JOBSET), {}),
    "Kueue's start of a paused Job": (update(RUNNING, PAUSED_JOB, user=KUEUE), {}),
    "a replayed TrainJob": (update(trainjob(), STEPPED), {}),
}


@cases(OURS)
def test_validate_agrees_with_mutate(case: tuple[bytes, Facts]) -> None:
    """What the mutating webhook answers, the validating one allows."""
    body, facts = case
    stored = decide(body, facts).stored
    assert check(again(body, stored)).allowed


@pytest.mark.parametrize("obj", [HELD, STEPPED, stored_jobset(user_jobset())])
def test_deletion_is_never_refused(obj: Obj) -> None:
    """An object that is being deleted loses its finalizers without any objection."""
    dying = changed(obj, {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}})
    assert check(update(labelled(dying, {Q: None}), dying)).allowed

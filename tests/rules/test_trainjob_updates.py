"""Updates of TrainJobs: what was stepped at CREATE stays so."""

import pytest

from tests.rules.factories import (
    MODE,
    PERSON,
    PREBUILT,
    PRIORITY,
    STEP_QUEUES,
    SUBMITTED,
    TRAINER,
    Obj,
    Q,
    S,
    annotated,
    cases,
    changed,
    labelled,
    runtime_facts,
    step,
    stored_jobset,
    stored_trainjob,
    suspended,
    trainjob,
    user_jobset,
)
from tests.rules.reviews import decide, update

FACTS = runtime_facts()
REMEMBERED = {SUBMITTED: "true"}
PLAIN = stored_trainjob()
RECORDED = stored_trainjob(annotations=REMEMBERED, suspend=False)
REPLAYED = trainjob(suspend=True)  # the manifest of RECORDED, uid apart
UPDATED: dict[str, tuple[Obj, Obj, Obj]] = {
    "nothing changes": (PLAIN, PLAIN, PLAIN),
    "our label is taken off": (PLAIN, labelled(PLAIN, {S: None}), PLAIN),
    "our label is changed": (PLAIN, labelled(PLAIN, {S: "other"}), PLAIN),
    "our label is emptied": (PLAIN, labelled(PLAIN, {S: ""}), PLAIN),
    "all labels are gone": (PLAIN, changed(PLAIN, {"metadata": {"labels": None}}), PLAIN),
    "the manifest comes back beside our label (C26)": (PLAIN, labelled(PLAIN, {Q: "gpu-q"}), PLAIN),
    "the manifest replaces the object (C26)": (
        PLAIN,
        changed(trainjob(), {"metadata": {"uid": PLAIN["metadata"]["uid"]}}),
        PLAIN,
    ),
    "a suspended manifest replaces the object (C09, C26)": (
        RECORDED,
        changed(REPLAYED, {"metadata": {"uid": PLAIN["metadata"]["uid"]}}),
        RECORDED,
    ),
    "a suspended manifest comes back while paused: it stays paused": (
        suspended(RECORDED),
        labelled(suspended(RECORDED), {Q: "gpu-q"}),
        suspended(RECORDED),
    ),
    "a person pauses (C03)": (PLAIN, suspended(PLAIN), suspended(PLAIN)),
    "a person pauses what was submitted suspended (C03)": (
        RECORDED,
        suspended(RECORDED),
        suspended(RECORDED),
    ),
    "a manifest that now says suspend, and did not at create, pauses (C03)": (
        PLAIN,
        labelled(suspended(PLAIN), {Q: "gpu-q"}),
        suspended(PLAIN),
    ),
    "a record that comes with the update is not believed": (
        PLAIN,
        annotated(labelled(suspended(PLAIN), {Q: "gpu-q"}), REMEMBERED),
        annotated(suspended(PLAIN), REMEMBERED),
    ),
    "a person resumes (C03)": (
        suspended(PLAIN),
        suspended(PLAIN, value=False),
        suspended(PLAIN, value=False),
    ),
    "the record is taken off": (RECORDED, annotated(RECORDED, {SUBMITTED: None}), RECORDED),
    "the priority class is changed: Kueue's matter (C19)": (
        PLAIN,
        labelled(PLAIN, {PRIORITY: "high"}),
        labelled(PLAIN, {PRIORITY: "high"}),
    ),
    "runtimePatches change: Trainer's matter (C32)": (
        PLAIN,
        changed(PLAIN, {"spec": {"runtimePatches": [{"manager": "a"}]}}),
        changed(PLAIN, {"spec": {"runtimePatches": [{"manager": "a"}]}}),
    ),
}


@cases(UPDATED)
@pytest.mark.parametrize("user", [PERSON, TRAINER])
def test_updates_of_a_stepped_trainjob(user: str, case: tuple[Obj, Obj, Obj]) -> None:
    """Our label and record stand, the queue label never stays, suspend follows a person."""
    old, new, stored = case
    decision = decide(update(new, old, user=user))
    assert decision.allowed
    assert decision.stored == stored
    assert (decision.patch is None) == (new == stored)


@pytest.mark.parametrize("queue", ["other", "default", ""])
def test_another_queue_is_denied(queue: str) -> None:
    """A stepped TrainJob's queue cannot be changed, and the message says the way out (C19)."""
    decision = decide(update(labelled(PLAIN, {Q: queue}), PLAIN))
    assert not decision.allowed
    assert decision.code in {403, 422}
    assert f"metadata.labels[{Q}]" in decision.message
    assert "gpu-q" in decision.message


def test_a_prebuilt_workload_in_the_new_object_alone_frees_nothing() -> None:
    """Q is never stored on a stepped parent, whatever the update claims (C19)."""
    new = annotated(labelled(PLAIN, {Q: "gpu-q"}), {PREBUILT: "w"})
    decision = decide(update(new, PLAIN))
    assert not decision.allowed or Q not in decision.stored["metadata"]["labels"]


TUNED = annotated(PLAIN, {MODE: "step", STEP_QUEUES: "node=h100"})
FIXED: dict[str, tuple[Obj, Obj, set[str]]] = {
    "the mode is set": (PLAIN, annotated(PLAIN, {MODE: "whole"}), {MODE}),
    "the mode is taken off": (TUNED, annotated(TUNED, {MODE: None}), {MODE}),
    "a step gets a queue": (
        PLAIN,
        annotated(PLAIN, {STEP_QUEUES: "node=h100"}),
        {STEP_QUEUES},
    ),
    "both change": (
        TUNED,
        annotated(TUNED, {MODE: "whole", STEP_QUEUES: "node=a100"}),
        {MODE, STEP_QUEUES},
    ),
    "neither changes": (TUNED, labelled(TUNED, {"x": "y"}), set()),
}


@cases(FIXED)
def test_what_counts_at_creation_only_is_told(case: tuple[Obj, Obj, set[str]]) -> None:
    """An annotation that comes too late is stored, and its user hears that it changes nothing."""
    old, new, told = case
    for stored, sent in ((old, new), (_as_jobset(old), _as_jobset(new))):
        decision = decide(update(sent, stored), FACTS)
        assert decision.stored == sent
        assert {warning.split(" ")[0] for warning in decision.warnings} == told
        assert all(len(warning) <= 120 for warning in decision.warnings)


MALFORMED: dict[str, tuple[dict[str, str | None], str]] = {
    "a mode that there is not": ({MODE: "Step"}, "auto, step, whole"),
    "no pair": ({STEP_QUEUES: "node"}, "dataset-initializer="),
    "no queue's name": ({STEP_QUEUES: "node=Team_A"}, "LocalQueue"),
    "no step's name": ({STEP_QUEUES: "nodes=a"}, "the steps are "),
}


@cases(MALFORMED)
def test_what_could_not_be_created_cannot_be_written_later(
    case: tuple[dict[str, str | None], str],
) -> None:
    """A malformed annotation is denied at UPDATE as at CREATE; one that stands blocks nothing."""
    annotations, words = case
    for old in (PLAIN, _as_jobset(PLAIN)):
        bad = annotated(old, annotations)
        decision = decide(update(bad, old), FACTS)
        assert decision.code == 422
        assert words in decision.message
        assert decide(update(labelled(bad, {"x": "y"}), bad), FACTS).allowed


def _as_jobset(parent: Obj) -> Obj:
    """A user's stepped JobSet with the annotations of a TrainJob and a step `node`."""
    chain = [step("prepare"), step("node", "prepare")]
    jobset = stored_jobset(user_jobset(steps=chain))
    jobset["metadata"] = {**parent["metadata"], "name": "mine"}
    return jobset


WHOLE = trainjob()
NEVER_STEPPED: dict[str, tuple[Obj, Obj]] = {
    "older than our install, changed in any way (C19)": (WHOLE, labelled(WHOLE, {"x": "y"})),
    "queue changed": (WHOLE, labelled(WHOLE, {Q: "other"})),
    "queue added": (trainjob({}), WHOLE),
    "our label added by hand": (WHOLE, labelled(WHOLE, {S: "gpu-q"})),
    "asks to be stepped now": (WHOLE, annotated(WHOLE, {MODE: "step"})),
    "suspended by Kueue": (WHOLE, suspended(WHOLE)),
}


@cases(NEVER_STEPPED)
def test_what_was_not_stepped_at_create_is_never_stepped_later(case: tuple[Obj, Obj]) -> None:
    """Stepping starts at CREATE only: other updates get no patch (C19)."""
    old, new = case
    assert decide(update(new, old), FACTS).patch is None


def test_a_trainjob_being_deleted_is_left_alone() -> None:
    """Nothing stands in the way of deletion, not even a changed queue."""
    dying = changed(PLAIN, {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}})
    decision = decide(update(labelled(dying, {Q: "other", S: None}), dying))
    assert decision.allowed
    assert decision.patch is None

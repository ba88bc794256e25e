"""Updates of stepped JobSets: replicatedJobs leave as they are stored."""

from typing import Any

import pytest

from tests.rules.factories import (
    MAX_EXEC,
    PERSON,
    PREBUILT,
    PRIORITY,
    SUBMITTED,
    TRAINER,
    Obj,
    Q,
    S,
    annotated,
    cases,
    changed,
    labelled,
    stored_jobset,
    suspended,
    trainer_jobset,
    user_jobset,
    with_step_labels,
)
from tests.rules.reviews import decide, update

CARRIED = {PRIORITY: "low", MAX_EXEC: "60"}
OWNED = with_step_labels(stored_jobset(trainer_jobset(), "cpu", "cpu", "gpu-q"), CARRIED)
PLAIN = stored_jobset(user_jobset({}))
RECORDED = stored_jobset(user_jobset({}, {SUBMITTED: "true"}, suspend=False))
EVERY_LABEL: Obj = dict.fromkeys([Q, S, *CARRIED])


@pytest.mark.parametrize("suspend", [True, False])
def test_trainers_reapply_keeps_the_steps_labels(*, suspend: bool) -> None:
    """Trainer applies its JobSet again without our labels: only suspend may differ (C09)."""
    new = suspended(labelled(with_step_labels(OWNED, EVERY_LABEL), {S: None}), suspend)
    assert decide(update(new, OWNED, user=TRAINER)).stored == suspended(OWNED, suspend)


def test_labels_come_back_where_the_template_lost_its_metadata() -> None:
    """A template without metadata or with null labels gets exactly our labels back (C24)."""
    new = changed(OWNED, {})
    first, second, third = new["spec"]["replicatedJobs"]
    del first["template"]["metadata"]
    second["template"]["metadata"] = {"labels": None, "annotations": {"a": "b"}}
    third["template"]["metadata"] = None
    stored = decide(update(new, OWNED, user=TRAINER)).stored["spec"]["replicatedJobs"]
    assert stored[0]["template"]["metadata"] == {"labels": {Q: "cpu", S: "cpu", **CARRIED}}
    assert stored[1]["template"]["metadata"] == {
        "labels": {Q: "cpu", S: "cpu", **CARRIED},
        "annotations": {"a": "b"},
    }
    assert stored[2]["template"]["metadata"] == {"labels": {Q: "gpu-q", S: "gpu-q", **CARRIED}}


@pytest.mark.parametrize("key", [Q, S, PRIORITY, MAX_EXEC])
def test_other_values_of_our_labels_leave_as_stored(key: str) -> None:
    """A manifest whose template names another queue than the stored one re-applies (C26).

    Its own queue may have been overruled by the annotation step-queues at CREATE.
    """
    new = with_step_labels(OWNED, {key: "9"})
    assert decide(update(new, OWNED)).stored == OWNED


def test_steps_are_told_apart_by_name() -> None:
    """Steps in another order get their own labels back; JobSet judges the order itself."""
    new = with_step_labels(OWNED, EVERY_LABEL)
    new["spec"]["replicatedJobs"].reverse()
    expected = changed(OWNED, {})
    expected["spec"]["replicatedJobs"].reverse()
    assert decide(update(new, OWNED)).stored == expected


def test_a_step_that_is_not_stored_is_jobsets_matter() -> None:
    """Steps added by an update pass as they came, for JobSet's validator to refuse."""
    new = changed(OWNED, {})
    extra = changed(trainer_jobset()["spec"]["replicatedJobs"][0], {"name": "extra"})
    new["spec"]["replicatedJobs"].append(extra)
    assert decide(update(new, OWNED)).patch is None


UPDATED: dict[str, tuple[Obj, Obj, Obj]] = {
    "nothing changes": (PLAIN, PLAIN, PLAIN),
    "our label is taken off": (PLAIN, labelled(PLAIN, {S: None}), PLAIN),
    "our label is changed": (PLAIN, labelled(PLAIN, {S: "other"}), PLAIN),
    "the manifest comes back (C26)": (PLAIN, user_jobset(), PLAIN),
    "the suspended manifest comes back (C09, C26)": (
        RECORDED,
        user_jobset(suspend=True),
        RECORDED,
    ),
    "a person pauses (C03)": (RECORDED, suspended(RECORDED), suspended(RECORDED)),
    "a manifest that says suspend only now pauses": (
        PLAIN,
        user_jobset(suspend=True),
        suspended(PLAIN),
    ),
    "a person resumes": (
        suspended(PLAIN),
        suspended(PLAIN, value=False),
        suspended(PLAIN, value=False),
    ),
    "Trainer's suspend stands, record or not": (
        annotated(OWNED, {SUBMITTED: "true"}),
        labelled(annotated(suspended(OWNED), {SUBMITTED: "true"}), {Q: "gpu-q"}),
        annotated(suspended(OWNED), {SUBMITTED: "true"}),
    ),
    "other labels change": (
        PLAIN,
        labelled(PLAIN, {"team": "b"}),
        labelled(PLAIN, {"team": "b"}),
    ),
}


@cases(UPDATED)
def test_updates_of_a_stepped_jobset(case: tuple[Obj, Obj, Obj]) -> None:
    """Our labels and record stand, the queue label never stays, suspend follows a person."""
    old, new, stored = case
    decision = decide(update(new, old))
    assert decision.allowed
    assert decision.stored == stored
    assert (decision.patch is None) == (new == stored)


DEFAULTS: Obj = {
    "successPolicy": {"operator": "All", "targetReplicatedJobs": []},
    "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
    "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
    "failurePolicy": {
        "maxRestarts": 2,
        "rules": [{"name": "failurePolicyRule0", "action": "FailJobSet"}],
    },
    "volumeClaimPolicies": [
        {
            "templates": [{"metadata": {"name": "v"}}],
            "retentionPolicy": {"whenDeleted": "Delete"},
        }
    ],
}
DEFAULTED = changed(PLAIN, {"spec": DEFAULTS})


def _without(*path: Any) -> Obj:
    lacking = changed(DEFAULTED, {})
    place = lacking["spec"]
    for part in path[:-1]:
        place = place[part]
    del place[path[-1]]
    return lacking


LACKING: dict[str, tuple[Any, ...]] = {
    "successPolicy": ("successPolicy",),
    "startupPolicy": ("startupPolicy",),
    "network": ("network",),
    "enableDNSHostnames": ("network", "enableDNSHostnames"),
    "publishNotReadyAddresses": ("network", "publishNotReadyAddresses"),
    "a failurePolicy rule's name": ("failurePolicy", "rules", 0, "name"),
    "a claim's retentionPolicy": ("volumeClaimPolicies", 0, "retentionPolicy"),
    "completionMode": ("replicatedJobs", 0, "template", "spec", "completionMode"),
    "restartPolicy": (
        *("replicatedJobs", 1, "template", "spec", "template", "spec"),
        "restartPolicy",
    ),
}


@cases(LACKING)
@pytest.mark.parametrize("user", [PERSON, TRAINER])
def test_what_jobset_fills_in_at_create_is_taken_from_the_stored_object(
    user: str, case: tuple[Any, ...]
) -> None:
    """A manifest without what JobSet defaults at CREATE only applies again (C26)."""
    assert decide(update(_without(*case), DEFAULTED, user=user)).stored == DEFAULTED


EXPLICIT: dict[str, Obj] = {
    "successPolicy": {"successPolicy": {"operator": "Any"}},
    "startupPolicy": {"startupPolicy": {"startupPolicyOrder": "InOrder"}},
    "enableDNSHostnames: false": {"network": {"enableDNSHostnames": False}},
    "subdomain": {"network": {"subdomain": "s"}},
    "maxRestarts": {"failurePolicy": {"maxRestarts": 9}},
    "retentionPolicy": {"volumeClaimPolicies": [{"retentionPolicy": {"whenDeleted": "Retain"}}]},
    "more claims than before": {"volumeClaimPolicies": [{}, {}]},
    "ttl": {"ttlSecondsAfterFinished": 1},
}


@cases(EXPLICIT)
def test_what_an_update_states_is_left_to_jobset(case: Obj) -> None:
    """Only what is lacking is filled in: a value that is stated passes for JobSet to judge."""
    assert decide(update(changed(DEFAULTED, {"spec": case}), DEFAULTED)).patch is None


def test_another_queue_is_denied() -> None:
    """A stepped JobSet's queue cannot be changed (C19)."""
    decision = decide(update(labelled(PLAIN, {Q: "other"}), PLAIN))
    assert not decision.allowed
    assert f"metadata.labels[{Q}]" in decision.message


def test_a_prebuilt_workload_in_the_new_object_alone_frees_nothing() -> None:
    """Q is never stored on a stepped parent, whatever the update claims (C19)."""
    decision = decide(update(annotated(user_jobset(), {PREBUILT: "w"}), PLAIN))
    assert not decision.allowed or Q not in decision.stored["metadata"]["labels"]


@pytest.mark.parametrize("new", [user_jobset(), labelled(user_jobset(), {S: "gpu-q"})])
def test_what_was_not_stepped_at_create_is_never_stepped_later(new: Obj) -> None:
    """A JobSet older than our install, or left whole, gets no patch (C19)."""
    assert decide(update(new, user_jobset())).patch is None


def test_a_jobset_being_deleted_is_left_alone() -> None:
    """Nothing stands in the way of deletion."""
    dying = changed(PLAIN, {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}})
    decision = decide(update(labelled(dying, {Q: "other", S: None}), dying))
    assert decision.allowed
    assert decision.patch is None

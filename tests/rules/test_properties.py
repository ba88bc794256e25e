"""Properties that hold for every review, found out by hypothesis."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.rules.factories import (
    JOBSET,
    KUEUE,
    MAX_EXEC,
    OWNER_KEY,
    PAUSED,
    PRIORITY,
    RUNTIME_KEY,
    SUBMITTED,
    Obj,
    Q,
    S,
    changed,
    child_job,
    owner_facts,
    runtime_facts,
    stored_jobset,
    stored_trainjob,
    trainer_jobset,
    trainjob,
    user_jobset,
    with_step_labels,
)
from tests.rules.reviews import again, call, create, decide, update
from tests.rules.strategies import (
    annotations,
    bent,
    json_values,
    labels,
    objects,
    policies,
    queues,
    steps,
    users,
)
from webhook.rules import admit, review
from webhook.rules.errors import BadReview
from webhook.rules.facts import Found
from webhook.rules.policy import Policy

KINDS = ["TrainJob", "JobSet", "Job"]
MAY_CHANGE = {Q, S, PRIORITY, MAX_EXEC, PAUSED, SUBMITTED}
quick = settings(
    max_examples=40,
    derandomize=True,
    report_multiple_bugs=False,
    phases=[Phase.explicit, Phase.generate],  # shrinking takes a minute: add Phase.shrink by hand
    suppress_health_check=[HealthCheck.too_slow],
)


@pytest.mark.parametrize("kind", ["TrainJob", "JobSet"])
@quick
@given(data=st.data(), user=users, policy=policies(), runtime=steps())
def test_deciding_twice_equals_once(
    kind: str, data: st.DataObject, user: str, policy: Policy, runtime: list[Obj]
) -> None:
    """A reinvocation of a create changes nothing more: f(f(x)) = f(x) (C32).

    Creates of Jobs are registered without reinvocation: in a second call the `suspend` that we
    set could not be told from a pause of JobSet's.
    """
    facts = {**runtime_facts(runtime), **owner_facts()}
    body = create(data.draw(objects(kind)), user=user)
    once = decide(body, facts, policy)
    if once.allowed:
        twice = decide(again(body, once.stored), facts, policy)
        assert twice.allowed
        assert twice.stored == once.stored
        assert twice.patch is None


@pytest.mark.parametrize("kind", KINDS)
@quick
@given(data=st.data(), user=users)
def test_an_update_decided_twice_equals_once(kind: str, data: st.DataObject, user: str) -> None:
    """A reinvocation of an update changes nothing more (C32)."""
    body = update(data.draw(objects(kind)), data.draw(objects(kind)), user=user)
    once = decide(body)
    if once.allowed:
        assert decide(again(body, once.stored)).stored == once.stored


def _bare(value: Any) -> Any:
    """The object without the labels, annotations and flags that the rules may edit."""
    if isinstance(value, list):
        return [_bare(one) for one in value]
    if not isinstance(value, dict):
        return value
    below = {
        key: _bare(member)
        for key, member in value.items()
        if key not in MAY_CHANGE and key != "suspend"
    }
    return {
        key: member
        for key, member in below.items()
        if not (key in {"labels", "annotations", "metadata"} and not member)
    }


@pytest.mark.parametrize("kind", KINDS)
@quick
@given(data=st.data(), user=users, runtime=steps())
def test_a_patch_touches_nothing_but_our_fields(
    kind: str, data: st.DataObject, user: str, runtime: list[Obj]
) -> None:
    """Applied by an RFC 6902 library, the patch leaves all but our fields as they came (C24)."""
    new = data.draw(objects(kind))
    decision = decide(create(new, user=user), {**runtime_facts(runtime), **owner_facts()})
    assert _bare(decision.stored) == _bare(new)


@pytest.mark.parametrize("kind", KINDS)
@quick
@given(data=st.data(), user=users, runtime=steps())
def test_the_patched_object_is_the_edited_one(
    kind: str, data: st.DataObject, user: str, runtime: list[Obj]
) -> None:
    """What the rules decided on and what the API server makes of the patch are one (C24)."""
    facts = {**runtime_facts(runtime), **owner_facts()}
    body = create(data.draw(objects(kind)), user=user)
    request = review.read(body)
    verdict = admit.mutate(request, facts, Policy())
    if verdict.after is not None:
        patched = review.read(again(body, decide(body, facts).stored))
        assert patched.new(type(verdict.after)) == verdict.after


@pytest.mark.parametrize("kind", KINDS)
@quick
@given(data=st.data(), user=users, policy=policies())
def test_objects_without_our_labels_are_left_without_any_patch(
    kind: str, data: st.DataObject, user: str, policy: Policy
) -> None:
    """No queue label, Kueue's or ours, no patch, no denial: on CREATE and on UPDATE."""
    new, old = data.draw(objects(kind, ours=False)), data.draw(objects(kind, ours=False))
    if kind == "JobSet":
        new = with_step_labels(new, {S: None})
    whole = owner_facts(trainjob())
    owner = whole[OWNER_KEY]
    assert isinstance(owner, Found)
    facts = {OWNER_KEY: Found(changed(dict(owner.content), {"metadata": {"uid": _uid(new)}}))}
    for body in (create(new, user=user), update(new, old, user=user)):
        decision = decide(body, facts, policy)
        assert decision.allowed
        assert decision.patch is None


def _uid(obj: Obj) -> str:
    owners = obj["metadata"].get("ownerReferences") or [{"uid": ""}]
    return str(owners[0]["uid"])


def _answers(body: bytes, facts: Any) -> None:
    """Runs a review through every door; only BadReview may come out."""
    try:
        request = review.read(body)
    except BadReview:
        return
    try:
        admit.needs(request, {}, Policy())
        for verdict in (
            admit.mutate(request, facts, Policy()),
            admit.validate(request, Policy()),
        ):
            json.loads(review.write(request, verdict))
    except BadReview:
        return


FULL = {
    "TrainJob": stored_trainjob({S: "gpu-q", Q: "gpu-q"}, {SUBMITTED: "true"}, suspend=True),
    "JobSet": changed(
        stored_jobset(user_jobset(None, {SUBMITTED: "true"})),
        {
            "spec": {
                "suspend": False,
                "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
                "successPolicy": {"operator": "All"},
                "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
                "failurePolicy": {"rules": [{"name": "r", "action": "FailJobSet"}]},
                "volumeClaimPolicies": [{"retentionPolicy": {"whenDeleted": "Delete"}}],
            }
        },
    ),
    "Job": changed(
        child_job(tolerations=[{"key": "a"}], schedulingGates=[{"name": "g"}]),
        {"status": {"conditions": [{"type": "Suspended", "status": "True"}]}},
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@settings(quick, max_examples=100)
@given(data=st.data(), user=users)
def test_no_object_raises_outside_the_error_tree(kind: str, data: st.DataObject, user: str) -> None:
    """Odd JSON at any place of an object is allowed or denied, never a server error."""
    full = FULL[kind]
    new, old = data.draw(bent(full)), data.draw(bent(full) | st.just(full))
    facts = {**runtime_facts(), **owner_facts()}
    plural = {"resource": json.loads(create(full))["request"]["resource"]}
    _answers(call("CREATE", new, None, user=user, **plural), facts)
    _answers(call("UPDATE", new, old, user=user, **plural), facts)


@quick
@given(odd=bent(stored_trainjob()), runtime=json_values)
def test_no_fact_raises_outside_the_error_tree(odd: Any, runtime: Any) -> None:
    """What the cluster tells is material too: odd answers are answered safely."""
    content = odd if isinstance(odd, dict) else {"metadata": odd}
    facts = {OWNER_KEY: Found(content), RUNTIME_KEY: Found({"spec": runtime})}
    _answers(create(trainer_jobset()), facts)
    _answers(create(trainjob()), facts)


@quick
@given(body=st.binary(max_size=60), request=json_values)
def test_no_body_raises_outside_the_error_tree(body: bytes, request: Any) -> None:
    """Whatever is posted is a review or a malformed call."""
    _answers(body, {})
    head = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
    _answers(json.dumps(head | {"request": request}).encode(), {})


@quick
@given(
    user=users,
    ours=queues,
    more=labels(),
    marks=annotations(),
    stated=st.sampled_from([{"suspend": False}, {"suspend": None}]),
    lists=st.lists(st.sampled_from([{"key": "a"}, {"key": "b"}]), max_size=4),
)
def test_a_job_that_kueue_has_not_started_leaves_suspended(
    user: str, ours: str, more: Obj, marks: Obj, stated: Obj, lists: list[Obj]
) -> None:
    """No label, annotation or list lets a Job of ours run before Kueue starts it (C01, C04)."""
    held = child_job({**more, S: ours}, marks, tolerations=lists)
    started = child_job(more, marks, tolerations=lists[::-1])
    started["spec"].update(stated)
    assert decide(create(started | {"metadata": held["metadata"]}, user=user)).stored["spec"][
        "suspend"
    ]
    stored = decide(update(started, held, user=user)).stored
    if user != KUEUE or PAUSED in marks:
        assert stored["spec"]["suspend"] is True


@quick
@given(user=users, runtime=steps(), other=steps(), data=st.data())
def test_an_update_leaves_the_steps_labels_of_ours_as_stored(
    user: str, runtime: list[Obj], other: list[Obj], data: st.DataObject
) -> None:
    """Whatever an update does to them, our labels on the templates stay as stored (C09)."""
    bare = {"template": {"metadata": {"labels": dict.fromkeys([Q, S, PRIORITY, MAX_EXEC])}}}
    made = user_jobset(steps=[changed(one, bare) for one in runtime])
    kept = {Q: "cpu-q", S: "cpu-q", PRIORITY: "low", MAX_EXEC: "60"}
    old = with_step_labels(stored_jobset(made), kept)
    new = changed(data.draw(objects("JobSet")), {"metadata": {"labels": None, "annotations": None}})
    new["spec"]["replicatedJobs"] = other
    before = {one["name"] for one in runtime}
    for one in decide(update(new, old, user=user)).stored["spec"]["replicatedJobs"]:
        if one["name"] in before:
            got = one["template"]["metadata"]["labels"]
            assert {key: got.get(key) for key in kept} == kept


@quick
@given(user=st.sampled_from([JOBSET, "jane"]), marks=annotations())
def test_a_held_write_is_settled_at_once(user: str, marks: Obj) -> None:
    """The write that follows a held one, by the same hand, stores nothing (C01)."""
    old = child_job(annotations=marks, tolerations=[{"key": "a"}, {"key": "b"}])
    new = changed(old, {"spec": {"suspend": False}})
    first = decide(update(new, old, user=user)).stored
    resumed = changed(first, {"spec": {"suspend": False}})
    assert decide(update(resumed, first, user=user)).stored == first

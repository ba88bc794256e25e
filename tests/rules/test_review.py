"""Reviews on the wire: malformed calls, tolerance, and the shape of answers."""

import json
from typing import Any

import pytest

from tests.rules.factories import (
    MODE,
    TRAINER,
    Obj,
    Q,
    S,
    cases,
    changed,
    child_job,
    labelled,
    runtime_facts,
    stored_jobset,
    stored_trainjob,
    trainer_jobset,
    trainjob,
    user_jobset,
)
from tests.rules.reviews import UID, call, check, create, decide, update
from webhook.rules import admit, review
from webhook.rules.errors import BadReview
from webhook.rules.policy import Policy
from webhook.rules.reasons import Reason


def _with(body: bytes, request: Obj | None = None, **review_: Any) -> bytes:
    whole = json.loads(body)
    whole["request"].update(request or {})
    return json.dumps(whole | review_).encode()


def _lacking(*path: str) -> bytes:
    whole = json.loads(create(child_job()))
    place = whole
    for part in path[:-1]:
        place = place[part]
    del place[path[-1]]
    return json.dumps(whole).encode()


MALFORMED: dict[str, bytes] = {
    "nothing": b"",
    "no JSON": b"apiVersion: admission.k8s.io/v1",
    "half of it": create(child_job())[:-20],
    "something after it": create(child_job()) + b"{}",
    "a list": b"[]",
    "null": b"null",
    "a number": b"1",
    "no UTF-8": b'{"apiVersion": "\xff\xfe"}',
    "nested too deeply": b"[" * 100_000,
    "members nested too deeply": b'{"a":' * 100_000,
    "no apiVersion": _lacking("apiVersion"),
    "no kind": _lacking("kind"),
    "no request": _lacking("request"),
    "no uid": _lacking("request", "uid"),
    "no operation": _lacking("request", "operation"),
    "no resource": _lacking("request", "resource"),
    "no resource name": _lacking("request", "resource", "resource"),
    "an empty request": _with(
        b'{"request": {}}', apiVersion="admission.k8s.io/v1", kind="AdmissionReview"
    ),
    "an older version": _with(create(child_job()), apiVersion="admission.k8s.io/v1beta1"),
    "another kind": _with(create(child_job()), kind="ConversionReview"),
    "an operation that there is not": _with(create(child_job()), {"operation": "PATCH"}),
    "a uid that is a number": _with(create(child_job()), {"uid": 1}),
    "a user that is a text": _with(create(child_job()), {"userInfo": "jane"}),
}


@cases(MALFORMED)
def test_a_body_that_is_no_review_is_refused_in_plain_words(case: bytes) -> None:
    """A malformed call is the caller's mistake: one sentence and a 4xx status."""
    with pytest.raises(BadReview) as refused:
        review.read(case)
    assert refused.value.code in {400, 413, 415}
    assert str(refused.value).endswith(".")
    assert "\n" not in str(refused.value)


MISSING: dict[str, bytes] = {
    "CREATE without object": call("CREATE", None, child_job()),
    "UPDATE without object": call("UPDATE", None, child_job()),
    "UPDATE of a Job without oldObject": call("UPDATE", child_job(), None),
    "UPDATE of a TrainJob without oldObject": call("UPDATE", trainjob(), None),
    "UPDATE of a JobSet without oldObject": call("UPDATE", user_jobset(), None),
}


@cases(MISSING)
def test_a_review_without_its_objects_is_malformed(case: bytes) -> None:
    """A missing object is an error, never silence."""
    request = review.read(case)
    with pytest.raises(BadReview):
        admit.mutate(request, {}, Policy())
    with pytest.raises(BadReview):
        admit.validate(request, Policy())


def test_unknown_fields_are_tolerated() -> None:
    """Reviews of newer API servers, and fields of newer objects, decode and decide the same."""
    job = child_job(suspend=False) | {"newer": {"x": [1]}}
    job["spec"]["newer"] = job["metadata"]["newer"] = {"a": None}
    body = _with(create(job), {"newer": {"deep": [{}]}}, newer=[1, 2])
    decision = decide(body)
    job["spec"]["suspend"] = True
    assert decision.stored == job


def test_the_uid_is_echoed() -> None:
    """An answer carries its review's uid, version and kind, whatever it says."""
    for body in (
        create(child_job(suspend=False)),
        create(trainjob({})),
        create(trainjob({Q: "B_"})),
    ):
        request = review.read(body)
        answer = json.loads(review.write(request, admit.mutate(request, {}, Policy())))
        assert answer["apiVersion"] == "admission.k8s.io/v1"
        assert answer["kind"] == "AdmissionReview"
        assert answer["response"]["uid"] == UID
        assert isinstance(answer["response"]["allowed"], bool)


def test_patch_and_patch_type_come_together_or_not_at_all() -> None:
    """The API server refuses one without the other."""
    patched = decide(create(trainjob()), runtime_facts()).response
    assert patched["patchType"] == "JSONPatch"
    assert patched["patch"]
    for body in (create(trainjob({})), create(trainjob({Q: "Team_A"})), create(child_job())):
        answer = decide(body, runtime_facts()).response
        assert "patch" not in answer
        assert "patchType" not in answer


def test_the_validating_answer_never_patches() -> None:
    """A patch in a validating answer would be an error of ours."""
    stepped = stored_trainjob()
    for body in (create(stepped), create(child_job()), update(stepped, stepped)):
        assert "patch" not in check(body).response


def test_the_reason_is_in_the_audit_log() -> None:
    """Each answer names its reason, a word of the closed list."""
    for body in (
        create(trainjob()),
        create(trainjob({})),
        create(trainjob({Q: "Team_A"})),
        create(child_job(suspend=False)),
        update(child_job(), child_job()),
        create(trainer_jobset(), user=TRAINER),
    ):
        audit = decide(body, runtime_facts()).response["auditAnnotations"]
        assert audit
        assert set(audit.values()) <= set(Reason)


def test_a_wrong_value_is_denied_as_invalid() -> None:
    """A value that is wrong: 422, Invalid, the field's path and the way out."""
    decision = decide(create(trainjob(annotations={MODE: "never"})), runtime_facts())
    status = decision.response["status"]
    assert (status["code"], status["reason"]) == (422, "Invalid")
    assert status["message"].startswith(f"metadata.annotations[{MODE}]: ")


def test_a_change_that_is_not_allowed_is_denied_as_forbidden() -> None:
    """A write that may not be: 403, Forbidden, the field's path and the way out."""
    decision = decide(create(trainer_jobset(), user=TRAINER))
    status = decision.response["status"]
    assert (status["code"], status["reason"]) == (403, "Forbidden")
    assert status["message"].startswith("metadata.ownerReferences: ")


OTHER: dict[str, bytes] = {
    "DELETE": call("DELETE", None, child_job()),
    "CONNECT": call("CONNECT", child_job(), None),
    "a status write": update(
        labelled(child_job(suspend=False), {S: None}), child_job(), subResource="status"
    ),
    "a scale write": update(child_job(suspend=False), child_job(), subResource="scale"),
    "another resource": create(
        child_job(suspend=False), resource={"group": "", "version": "v1", "resource": "pods"}
    ),
    "Jobs of another group": create(
        child_job(suspend=False), resource={"group": "x", "version": "v1", "resource": "jobs"}
    ),
}


@cases(OTHER)
def test_other_operations_and_resources_pass(case: bytes) -> None:
    """Deletes, subresources and other resources are never touched."""
    for decision in (decide(case), check(case)):
        assert decision.allowed
        assert decision.patch is None


ODD_OBJECTS: dict[str, Any] = {
    "a text": "x",
    "a list": [],
    "metadata is a list": {"metadata": []},
    "labels are a list": {"metadata": {"labels": ["a"]}},
    "a label is a number": {"metadata": {"labels": {Q: 1}}},
    "spec is a text": {**trainjob(), "spec": "x"},
    "suspend is a text": trainjob(suspend="true"),
    "the runtime's name is a number": trainjob(runtimeRef={"name": 1}),
}


@cases(ODD_OBJECTS)
def test_an_object_of_another_shape_is_denied_and_not_a_server_error(case: Any) -> None:
    """Custom resources come before their schema is checked: the user hears what is wrong."""
    trainjobs = {"group": "trainer.kubeflow.org", "version": "v1alpha1", "resource": "trainjobs"}
    decision = decide(create(case, resource=trainjobs))
    assert not decision.allowed
    assert decision.code == 422
    assert decision.patch is None


NOT_OURS: dict[str, Obj] = {
    "a TrainJob without queue": trainjob({}, suspend="true"),
    "a JobSet without queue": user_jobset({}, replicatedJobs="x"),
}


@cases(NOT_OURS)
def test_an_object_of_another_shape_that_asks_for_no_queue_is_left_alone(case: Obj) -> None:
    """What is wrong with an object that is not ours, the API server's schema says."""
    decision = decide(create(case))
    assert decision.allowed
    assert decision.patch is None


ODD_UPDATES: dict[str, Obj] = {
    "network is a text": {"network": "x"},
    "network is a list": {"network": [1]},
    "a claim policy is a number": {"volumeClaimPolicies": [1]},
    "a failure rule is a number": {"failurePolicy": {"rules": [5]}},
    "failure rules are an object": {"failurePolicy": {"rules": {"a": 1}}},
    "failurePolicy is a list": {"failurePolicy": [1]},
    "successPolicy is a number": {"successPolicy": 1},
    "startupPolicy is a text": {"startupPolicy": "InOrder"},
}


@cases(ODD_UPDATES)
def test_a_jobset_update_of_another_shape_is_answered(case: Obj) -> None:
    """A schema error in an update is passed on or denied, never a server error."""
    stored: Obj = {
        "network": {"enableDNSHostnames": True},
        "failurePolicy": {"rules": [{"name": "r"}]},
        "volumeClaimPolicies": [{"retentionPolicy": {"whenDeleted": "Delete"}}],
    }
    old = changed(stored_jobset(user_jobset()), {"spec": stored})
    decision = decide(update(old | {"spec": old["spec"] | case}, old))
    assert decision.allowed or decision.code == 422


def test_a_lone_surrogate_is_answered() -> None:
    """Half of a surrogate pair in a label is refused, not a server error."""
    body = create(trainjob({Q: "QUEUE"})).replace(b"QUEUE", b"\\ud800")
    try:
        request = review.read(body)
    except BadReview:
        return
    answer = review.write(request, admit.mutate(request, runtime_facts(), Policy()))
    assert json.loads(answer)["response"]["allowed"] is False

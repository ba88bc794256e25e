"""AdmissionReviews as the API server posts them, and the way of one through the rules."""

import json
from base64 import b64decode
from dataclasses import dataclass
from typing import Any

import jsonpatch

from tests.rules.factories import PERSON, RESOURCES, Obj
from webhook.rules import admit, kueue, names, review
from webhook.rules.facts import Absent, Answer, Facts, Found, Key
from webhook.rules.policy import Policy

ALL = ["batch/job", "jobset.x-k8s.io/jobset", "trainer.kubeflow.org/trainjob"]
KUEUES_CONFIGURATION = kueue.configuration_key(Policy())
UID = "705ab4f5-6393-11e8-b7cc-42010a800002"


def call(operation: str, new: Any, old: Any, *, user: str = PERSON, **request: Any) -> bytes:
    """The body of an AdmissionReview as the API server (1.36) posts it."""
    kinds = [one.get("kind") for one in (new, old) if isinstance(one, dict)]
    kind = next((one for one in kinds if isinstance(one, str) and one in RESOURCES), "Job")
    group, version, plural = RESOURCES[kind]
    gvk = {"group": group, "version": version, "kind": kind}
    gvr = {"group": group, "version": version, "resource": plural}
    whole = {
        "uid": UID,
        "kind": gvk,
        "resource": gvr,
        "requestKind": gvk,
        "requestResource": gvr,
        "name": "any",
        "namespace": "team-a",
        "operation": operation,
        "userInfo": {"username": user, "uid": "u", "groups": ["system:authenticated"]},
        "object": new,
        "oldObject": old,
        "dryRun": False,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
        **request,
    }
    review_ = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": whole}
    return json.dumps(review_).encode()


def create(new: Any, **request: Any) -> bytes:
    """A CREATE."""
    return call("CREATE", new, None, **request)


def update(new: Any, old: Any, **request: Any) -> bytes:
    """An UPDATE."""
    return call("UPDATE", new, old, **request)


def again(body: bytes, stored: Any) -> bytes:
    """The same review once more, now of the object that came out of it."""
    whole = json.loads(body)
    whole["request"]["object"] = stored
    return json.dumps(whole).encode()


@dataclass(frozen=True)
class Decision:
    """What the API server sees of an answer, and the object that it would go on with."""

    response: Obj
    patch: list[Obj] | None
    stored: Any

    @property
    def allowed(self) -> bool:
        """Whether the write goes on."""
        return bool(self.response["allowed"])

    @property
    def warnings(self) -> list[str]:
        """What the user is told."""
        return list(self.response.get("warnings", ()))

    @property
    def message(self) -> str:
        """Why the write was refused, empty where it was not."""
        return str(self.response.get("status", {}).get("message", ""))

    @property
    def code(self) -> int | None:
        """The HTTP status that the user's client gets, None where the write goes on."""
        code = self.response.get("status", {}).get("code")
        return None if code is None else int(code)


def decide(body: bytes, facts: Facts | None = None, policy: Policy | None = None) -> Decision:
    """The mutating webhook from bytes to bytes, knowing only those facts that it asked for."""
    request = review.read(body)
    policy, known = policy or Policy(), dict[Key, Answer]()
    while keys := admit.needs(request, known, policy):
        known |= {key: (facts or {}).get(key, _unsaid(key)) for key in keys}
    complete = _Complete(known)
    verdict = admit.mutate(request, complete, policy)
    # A step's priority class counts only where the parent is stepped.
    left = verdict.reason.startswith("Whole")
    classes = {key for key in known if left and key.plural == "workloadpriorityclasses"}
    asked = set(known) == complete.used | classes
    assert verdict.denial or asked, "a rule asks for what it decides by"
    return _decision(body, review.write(request, verdict))


class _Complete(dict[Key, Answer]):
    """Facts that note what a rule decided by; it may be nothing that it had not asked for."""

    def __init__(self, known: Facts) -> None:
        super().__init__(known)
        self.used: set[Key] = set()

    def get(self, key: Key, _default: object = None) -> Any:
        self.used.add(key)
        return super().get(key)


def _unsaid(key: Key) -> Answer:
    """What a test says nothing about: Kueue's objects are plain ones, Trainer's are not there."""
    if key == KUEUES_CONFIGURATION:
        return Found({"data": {kueue.CONFIGURATION_KEY: f"integrations: {{frameworks: {ALL}}}"}})
    return Absent() if key.group == names.TRAINER_GROUP else Found({})


def check(body: bytes, policy: Policy | None = None) -> Decision:
    """The validating webhook from bytes to bytes."""
    request = review.read(body)
    return _decision(body, review.write(request, admit.validate(request, policy or Policy())))


def _decision(body: bytes, answer: bytes) -> Decision:
    response = json.loads(answer)["response"]
    new = json.loads(body)["request"]["object"]
    if "patch" not in response:
        return Decision(response, None, new)
    patch = json.loads(b64decode(response["patch"], validate=True))
    return Decision(response, patch, jsonpatch.apply_patch(new, patch))

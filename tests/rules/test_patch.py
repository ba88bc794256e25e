"""JSON patches: the edges of case C24."""

from typing import Any

import pytest

from tests.rules.factories import (
    JOBSET,
    PAUSED,
    SUBMITTED,
    Obj,
    Q,
    S,
    annotated,
    cases,
    changed,
    child_job,
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
from tests.rules.reviews import create, decide, update

S_POINTER = "kueue-steps.io~1queue-name"
Q_POINTER = "kueue.x-k8s.io~1queue-name"


def _labels(obj: Obj, value: Any) -> Obj:
    result = changed(obj, {"metadata": {"labels": None}})
    return result if value is ... else result | {"metadata": result["metadata"] | {"labels": value}}


MAPS: dict[str, tuple[Any, Obj]] = {
    "missing": (
        ...,
        {"op": "add", "path": "/metadata/labels", "value": {S: "gpu-q"}},
    ),
    "null": (
        None,
        {"op": "replace", "path": "/metadata/labels", "value": {S: "gpu-q"}},
    ),
    "empty": (
        {},
        {"op": "add", "path": f"/metadata/labels/{S_POINTER}", "value": "gpu-q"},
    ),
    "holding others": (
        {"a~b/c": "d", "~1": "~0"},
        {"op": "add", "path": f"/metadata/labels/{S_POINTER}", "value": "gpu-q"},
    ),
}


@cases(MAPS)
def test_a_labels_map_is_added_only_where_there_is_none(case: tuple[Any, Obj]) -> None:
    """Labels missing or null get a map, an existing map gets a member (C24)."""
    value, operation = case
    decision = decide(create(_labels(trainer_jobset(), value)), owner_facts())
    assert decision.patch is not None
    at_metadata = [one for one in decision.patch if one["path"].startswith("/metadata")]
    assert at_metadata == [operation]
    others = value if isinstance(value, dict) else {}
    assert decision.stored["metadata"]["labels"] == {**others, S: "gpu-q"}


@pytest.mark.parametrize("value", [..., None, {}, {"a~b/c": "d"}])
def test_an_annotations_map_is_added_only_where_there_is_none(value: Any) -> None:
    """Annotations missing or null get a map, others stay (C24)."""
    metadata = trainjob(suspend=True)["metadata"]
    if value is not ...:
        metadata = metadata | {"annotations": value}
    decision = decide(create(trainjob(suspend=True) | {"metadata": metadata}), runtime_facts())
    kept = value if isinstance(value, dict) else {}
    assert decision.stored["metadata"]["annotations"] == {**kept, SUBMITTED: "true"}
    paths = {one["path"] for one in decision.patch or ()}
    assert ("/metadata/annotations" in paths) == (not isinstance(value, dict))


TEMPLATES: dict[str, Obj] = {
    "no metadata": {},
    "null metadata": {"metadata": None},
    "empty metadata": {"metadata": {}},
    "null labels": {"metadata": {"labels": None}},
    "empty labels": {"metadata": {"labels": {}}},
    "annotations only": {"metadata": {"annotations": {"a/b": "c"}}},
    "null creationTimestamp": {"metadata": {"creationTimestamp": None}},
    "labels of others": {"metadata": {"labels": {"a~b/c": "d"}}},
}


@cases(TEMPLATES)
def test_a_template_gets_its_labels_whatever_it_holds(case: Obj) -> None:
    """A replicatedJob's template without metadata or labels gets exactly ours (C24)."""
    first = step("prepare")
    first["template"] = {"spec": first["template"]["spec"], **case}
    made = user_jobset(steps=[first, step("train", "prepare")])
    stored = decide(create(made)).stored
    metadata = case.get("metadata") or {}
    wanted = {**metadata, "labels": {**(metadata.get("labels") or {}), Q: "gpu-q", S: "gpu-q"}}
    template = stored["spec"]["replicatedJobs"][0]["template"]
    assert template == {**first["template"], "metadata": wanted}
    stored["spec"]["replicatedJobs"][0]["template"] = first["template"]
    expected = stored_jobset(user_jobset(steps=[first, step("train", "prepare")]))
    expected["spec"]["replicatedJobs"][0]["template"] = first["template"]
    assert stored == expected


def test_a_jobset_whose_step_has_no_template_gets_a_patch_that_applies() -> None:
    """A patch never reaches below what is not there: the API server would answer 500 (C24)."""
    made = user_jobset(steps=[{"name": "prepare"}, step("train", "prepare")])
    decision = decide(create(made))
    assert decision.allowed or decision.code == 422


def test_a_jobset_update_without_spec_gets_a_patch_that_applies() -> None:
    """The same for an update that lost what the stored object has (C24)."""
    old = changed(stored_jobset(user_jobset()), {"spec": {"network": {"enableDNSHostnames": True}}})
    new = changed(old, {"spec": None})
    decision = decide(update(new, old))
    assert decision.allowed or decision.code == 422


def test_a_jobset_update_without_a_pod_template_gets_a_patch_that_applies() -> None:
    """The same for a step whose pod template is gone (C24)."""
    old = stored_jobset(user_jobset())
    new = changed(old, {})
    new["spec"]["replicatedJobs"][0]["template"]["spec"] = {"completionMode": "Indexed"}
    decision = decide(update(new, old))
    assert decision.allowed or decision.code == 422


def test_a_stepped_trainjobs_patch_is_exactly_this() -> None:
    """Slashes are written ~1, and one operation stands for one edit (C24)."""
    patch = decide(create(trainjob(suspend=True)), runtime_facts()).patch or []
    assert sorted(patch, key=lambda one: str(one["path"])) == [
        {"op": "add", "path": "/metadata/annotations", "value": {SUBMITTED: "true"}},
        {"op": "add", "path": f"/metadata/labels/{S_POINTER}", "value": "gpu-q"},
        {"op": "remove", "path": f"/metadata/labels/{Q_POINTER}"},
        {"op": "replace", "path": "/spec/suspend", "value": False},
    ]


EDITS: dict[str, bytes] = {
    "a TrainJob": create(trainjob({Q: "gpu-q", "a": "b"}, {"c": "d"}, suspend=True)),
    "a JobSet": create(user_jobset({Q: "gpu-q", "a": "b"}, {"c": "d"}, suspend=True)),
    "a restored JobSet": update(labelled(user_jobset(), {"a": "b"}), stored_jobset(user_jobset())),
    "a Job": create(child_job({S: "gpu-q"}, {"c": "d"}), user=JOBSET),
    "a stripped Job": update(labelled(child_job(), {S: None}), child_job()),
    "a resumed Job": update(
        child_job(annotations={PAUSED: "true", "a": "b"}, suspend=False),
        child_job(annotations={PAUSED: "true", "a": "b"}),
        user=JOBSET,
    ),
}


@cases(EDITS)
def test_an_existing_map_is_never_replaced_whole(case: bytes) -> None:
    """Other labels and annotations, even those of other webhooks, stay theirs (C24)."""
    decision = decide(case, runtime_facts())
    assert decision.patch
    for one in decision.patch:
        assert not one["path"].endswith(("/labels", "/metadata", "/template", "/spec"))
        assert one["path"] != "/metadata/annotations"
        assert "managedFields" not in one["path"]


def test_suspend_is_added_where_it_is_missing() -> None:
    """A Job without suspend gets it; one with null has it replaced (C24)."""
    job = suspended(child_job(), None)
    assert decide(create(job)).patch == [{"op": "add", "path": "/spec/suspend", "value": True}]
    null = job | {"spec": job["spec"] | {"suspend": None}}
    assert decide(create(null)).stored["spec"]["suspend"] is True


def test_managed_fields_are_never_in_a_patch() -> None:
    """ManagedFields pass as they are, however large (C26)."""
    fields = [{"manager": "kubectl", "fieldsV1": {"f:metadata": {"f:labels": {f"f:{Q}": {}}}}}]
    made = changed(trainjob(), {"metadata": {"managedFields": fields}})
    decision = decide(create(made), runtime_facts())
    assert decision.stored["metadata"]["managedFields"] == fields
    assert "managedFields" not in str(decision.patch)


def test_no_change_means_no_patch() -> None:
    """Where nothing is edited there is no empty patch either."""
    stored = annotated(stored_trainjob(), {SUBMITTED: "true"})
    assert decide(update(stored, stored)).patch is None

"""spec.runtimePatches of a TrainJob count as if they stood in its runtime."""

from typing import Any

from tests.rules.factories import (
    MAX_EXEC,
    PODSET_GROUP,
    Obj,
    Q,
    S,
    cases,
    runtime_facts,
    trainjob,
)
from tests.rules.reviews import create, decide
from webhook.rules.facts import Absent, Found, Key

GANG = {"annotations": {PODSET_GROUP: "both"}}


def _patched(*steps: Obj) -> Obj:
    spec = {"template": {"spec": {"replicatedJobs": list(steps)}}}
    return trainjob(runtimePatches=[{"manager": "example.com/x", "trainingRuntimeSpec": spec}])


def _of_job(name: str, **metadata: Obj) -> Obj:
    return {"name": name, "template": {"metadata": metadata}}


def _of_pods(name: str, **metadata: Obj) -> Obj:
    return {"name": name, "template": {"spec": {"template": {"metadata": metadata}}}}


def test_steps_that_are_placed_together_by_a_patch_stay_whole() -> None:
    """C31: Kueue tells users to name the group there."""
    made = _patched(_of_pods("dataset-initializer", **GANG), _of_pods("node", **GANG))
    decision = decide(create(made), runtime_facts())
    assert decision.patch is None
    assert "steps share a podset group" in decision.warnings[0]


def test_a_queue_that_a_patch_names_is_looked_up() -> None:
    """It may be missing, or lead to other clusters."""
    away = Key("kueue.x-k8s.io", "v1beta2", "localqueues", "away", "team-a")
    made = _patched(_of_job("dataset-initializer", labels={Q: "away"}))
    missing = decide(create(made), {**runtime_facts(), away: Absent()})
    assert missing.warnings == [
        "LocalQueue away does not exist in this namespace: the steps wait until it does"
    ]
    far = {
        away: Found({"spec": {"clusterQueue": "far"}}),
        Key("kueue.x-k8s.io", "v1beta2", "clusterqueues", "far"): Found(
            {"spec": {"admissionChecksStrategy": {"admissionChecks": [{"name": "mk"}]}}}
        ),
        Key("kueue.x-k8s.io", "v1beta2", "admissionchecks", "mk"): Found(
            {"spec": {"controllerName": "kueue.x-k8s.io/multikueue"}}
        ),
    }
    whole = decide(create(made), {**runtime_facts(), **far})
    assert whole.warnings == ["admitted whole, since its queue leads to other clusters"]


BAD: dict[str, Obj] = {"a queue": {Q: "Bad_Q"}, "a time limit": {MAX_EXEC: "2h"}}


@cases(BAD)
def test_a_bad_label_in_a_patch_is_refused_at_the_trainjob(case: Obj) -> None:
    """C17: its JobSet would be refused for ever, where its user does not look."""
    decision = decide(create(_patched(_of_job("node", labels=case))), runtime_facts())
    assert decision.code == 422
    assert "with spec.runtimePatches" in decision.message


ODD: dict[str, Any] = {
    "no step": (),
    "a step that there is not": (_of_job("nobody", labels={Q: "cpu-q"}),),
    "a step without a template": ({"name": "node"},),
    "a template that is none": ({"name": "node", "template": None},),
    "metadata that is none": ({"name": "node", "template": {"metadata": None, "spec": None}},),
}


@cases(ODD)
def test_a_patch_that_says_nothing_of_steps_changes_nothing(case: tuple[Obj, ...]) -> None:
    """The TrainJob is stepped, and its patches stay as they are."""
    made = _patched(*case)
    stored = decide(create(made), runtime_facts()).stored
    assert stored["metadata"]["labels"] == {S: "gpu-q"}
    assert stored["spec"] == made["spec"]

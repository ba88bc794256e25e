"""The rule of TrainJobs."""

from typing import Any

from tests.rules.factories import (
    ANCESTOR,
    MAX_EXEC,
    PREBUILT,
    PRIORITY,
    RUNTIME_KEY,
    SUBMITTED,
    Obj,
    Q,
    S,
    cases,
    changed,
    labelled,
    runtime,
    runtime_facts,
    step,
    stored_trainjob,
    trainjob,
)
from tests.rules.reviews import create, decide, update
from webhook.rules import admit, names, review
from webhook.rules.facts import Found, Key, trainer_key
from webhook.rules.policy import Policy

FACTS = runtime_facts()
REMEMBERED = {SUBMITTED: "true"}

CREATED: dict[str, tuple[Obj, Obj]] = {
    "the queue moves to our label (C05)": (trainjob(), trainjob({S: "gpu-q"})),
    "priority and execution time stay on the TrainJob (C05)": (
        trainjob({Q: "gpu-q", PRIORITY: "low", MAX_EXEC: "7200"}),
        trainjob({S: "gpu-q", PRIORITY: "low", MAX_EXEC: "7200"}),
    ),
    "other labels and annotations stay": (
        trainjob({Q: "gpu-q", "a~b/c": "d"}, {"e/f": "g"}),
        trainjob({S: "gpu-q", "a~b/c": "d"}, {"e/f": "g"}),
    ),
    "suspend: true becomes false and is remembered (C09)": (
        trainjob(suspend=True),
        trainjob({S: "gpu-q"}, REMEMBERED, suspend=False),
    ),
    "suspend: false stays": (trainjob(suspend=False), trainjob({S: "gpu-q"}, suspend=False)),
    "a queue called default is a queue": (trainjob({Q: "default"}), trainjob({S: "default"})),
    "our label wins over Kueue's default (reinvocation)": (
        trainjob({S: "gpu-q", Q: "default"}, suspend=True),
        trainjob({S: "gpu-q"}, suspend=False),
    ),
    "Kueue's label wins over ours where somebody chose it": (
        trainjob({S: "old-q", Q: "new-q"}),
        trainjob({S: "new-q"}),
    ),
    "a restored copy is stepped from its record (C32)": (
        trainjob({S: "gpu-q"}, REMEMBERED, suspend=False),
        trainjob({S: "gpu-q"}, REMEMBERED, suspend=False),
    ),
    "sixteen runtimePatches stay sixteen, Kueue's own among them (C32)": (
        trainjob(runtimePatches=[{"manager": f"m{n}/x"} for n in range(16)]),
        trainjob({S: "gpu-q"}, runtimePatches=[{"manager": f"m{n}/x"} for n in range(16)]),
    ),
    "fields of older Trainers pass (C07)": (
        trainjob(podTemplateOverrides=[{"x": 1}], labels_={"y": "z"}),
        trainjob({S: "gpu-q"}, podTemplateOverrides=[{"x": 1}], labels_={"y": "z"}),
    ),
}


@cases(CREATED)
def test_a_trainjob_is_stepped_at_create(case: tuple[Obj, Obj]) -> None:
    """A queued TrainJob of a runtime that steps is stored stepped, and in nothing else changed."""
    submitted, stored = case
    decision = decide(create(submitted), FACTS)
    assert decision.allowed
    assert decision.stored == stored


def test_a_generated_name_changes_nothing() -> None:
    """A TrainJob whose name is still to be generated is stepped like any other."""
    unnamed = {"metadata": {"name": None, "generateName": "tune-"}}
    stored = decide(create(changed(trainjob(), unnamed)), FACTS).stored
    assert stored == changed(trainjob({S: "gpu-q"}), unnamed)


def test_a_dry_run_gets_the_same_answer() -> None:
    """A dry run has no side effect to leave out, so its answer is the same (C26)."""
    assert decide(create(trainjob(), dryRun=True), FACTS).stored == trainjob({S: "gpu-q"})


def test_a_deadline_is_warned_about() -> None:
    """ActiveDeadlineSeconds is left as it is, and its user hears that queueing counts (C11)."""
    decision = decide(create(trainjob(activeDeadlineSeconds=600)), FACTS)
    assert decision.stored == trainjob({S: "gpu-q"}, activeDeadlineSeconds=600)
    assert any("activeDeadlineSeconds" in warning for warning in decision.warnings)
    assert not decide(create(trainjob()), FACTS).warnings


def test_a_name_too_long_for_its_jobs_is_warned_about() -> None:
    """A TrainJob whose Jobs' names cannot be valid is told so while it is created."""
    long = changed(trainjob(), {"metadata": {"name": "n" * 60}})
    assert any("name" in warning for warning in decide(create(long), FACTS).warnings)


def test_a_queue_written_as_annotation_is_warned_about() -> None:
    """A queue annotation is not a queue: nothing changes, and the user hears why (C17)."""
    decision = decide(create(trainjob({}, {Q: "gpu-q"})), FACTS)
    assert decision.patch is None
    assert len(decision.warnings) == 1


NOT_OURS: dict[str, Obj] = {
    "no queue": trainjob({}),
    "no labels at all": changed(trainjob(), {"metadata": {"labels": None}}),
    "a prebuilt Workload as label": trainjob({Q: "gpu-q", PREBUILT: "w"}),
    "a prebuilt Workload as annotation": trainjob(annotations={PREBUILT: "w"}),
    "another manager": trainjob(managedBy="kueue.x-k8s.io/multikueue"),
}


@cases(NOT_OURS)
def test_a_trainjob_that_is_not_ours_is_created_as_it_came(case: Obj) -> None:
    """Without a queue, or in another's hands, a TrainJob gets no patch."""
    decision = decide(create(case), FACTS)
    assert decision.allowed
    assert decision.patch is None
    assert not decision.warnings


def test_trainers_own_managed_by_is_ours() -> None:
    """ManagedBy that names Trainer itself changes nothing."""
    own: dict[str, Any] = {"managedBy": "trainer.kubeflow.org/trainjob-controller"}
    assert decide(create(trainjob(**own)), FACTS).stored == trainjob({S: "gpu-q"}, **own)


RUNTIMES: dict[str, tuple[Obj, tuple[Key, ...]]] = {
    "cluster-wide without a kind": ({"name": "torchtune"}, (RUNTIME_KEY,)),
    "cluster-wide by kind": (
        {"name": "r", "kind": "ClusterTrainingRuntime", "apiGroup": "trainer.kubeflow.org"},
        (trainer_key("clustertrainingruntimes", "r"),),
    ),
    "of the namespace": (
        {"name": "r", "kind": "TrainingRuntime"},
        (trainer_key("trainingruntimes", "r", "team-a"),),
    ),
    "of an unknown kind": ({"name": "r", "kind": "Secret"}, ()),
    "of a foreign group": ({"name": "r", "apiGroup": "example.com"}, ()),
    "without a name": ({"kind": "TrainingRuntime"}, ()),
}


@cases(RUNTIMES)
def test_which_runtime_is_read(case: tuple[Obj, tuple[Key, ...]]) -> None:
    """A create asks for its runtime, in the request's own namespace only."""
    ref, keys = case
    body = create(trainjob(runtimeRef=ref))
    asked = admit.needs(review.read(body), {}, Policy())
    assert tuple(key for key in asked if key.group == names.TRAINER_GROUP) == keys


def test_nothing_is_read_for_updates_and_for_others() -> None:
    """Only the create of a queued TrainJob costs a lookup."""
    stored = stored_trainjob()
    for body in (update(stored, stored), create(trainjob({})), create(trainjob(managedBy="x/y"))):
        assert admit.needs(review.read(body), {}, Policy()) == []


def test_a_runtime_of_the_namespace_decides() -> None:
    """A TrainJob of a TrainingRuntime is stepped by that runtime's steps."""
    job = trainjob(runtimeRef={"name": "r", "kind": "TrainingRuntime"})
    facts = {trainer_key("trainingruntimes", "r", "team-a"): Found(runtime())}
    assert decide(create(job), facts).stored == labelled(job, {Q: None, S: "gpu-q"})
    alone = {
        trainer_key("trainingruntimes", "r", "team-a"): Found(
            runtime([step("node", labels={ANCESTOR: "trainer"})])
        )
    }
    assert decide(create(job), alone).patch is None


TRAINERS: dict[str, Obj] = {
    "2.0: podSpecOverrides": {
        "podSpecOverrides": [{"targetJobs": [{"name": "node"}], "nodeSelector": {"zone": "a"}}]
    },
    "2.1: podTemplateOverrides, and labels for the JobSet": {
        "labels": {"team": "a"},
        "annotations": {"note": "x"},
        "podTemplateOverrides": [
            {"targetJobs": [{"name": "node"}], "spec": {"tolerations": [{"key": "gpu"}]}}
        ],
    },
    "2.2 and 2.3: sixteen runtimePatches": {
        "runtimePatches": [{"manager": f"m{n}", "trainingRuntimeSpec": {}} for n in range(16)]
    },
    "a version to come": {"stages": [{"name": "download", "queue": {"x": 1.5}}]},
}


@cases(TRAINERS)
def test_c07_objects_of_every_trainer_pass_unharmed(case: Obj) -> None:
    """C07: what this or another Trainer knows stays to the byte, at CREATE and at UPDATE."""
    job = changed(trainjob(), {"spec": case})
    created = decide(create(job), runtime_facts())
    assert created.stored == labelled(job, {Q: None, S: "gpu-q"})
    assert {operation["path"].split("/")[1] for operation in created.patch or ()} == {"metadata"}
    stored = changed(stored_trainjob(), {"spec": case})
    replayed = decide(update(labelled(stored, {Q: "gpu-q", S: None}), stored))
    assert replayed.stored == stored

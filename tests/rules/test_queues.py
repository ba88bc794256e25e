"""A step's queue."""

import pytest

from tests.rules.factories import (
    MAX_EXEC,
    MODE,
    PRIORITY,
    RUNTIME_KEY,
    STEP_QUEUES,
    Obj,
    Q,
    S,
    cases,
    owner_facts,
    runtime_facts,
    step,
    stored_trainjob,
    trainer_jobset,
    trainjob,
    user_jobset,
    with_step_labels,
)
from tests.rules.reviews import create, decide
from webhook.rules.facts import Absent, Key, Unreadable

STEPS = ("dataset-initializer", "model-initializer", "node")
QUEUES: dict[str, tuple[str | None, dict[str, str], tuple[str, str, str]]] = {
    "the parent's queue": (None, {}, ("gpu-q", "gpu-q", "gpu-q")),
    "an empty annotation": ("", {}, ("gpu-q", "gpu-q", "gpu-q")),
    "the template's queue beats the parent's (C06)": (
        None,
        {"dataset-initializer": "cpu-q"},
        ("cpu-q", "gpu-q", "gpu-q"),
    ),
    "the annotation beats the parent's": (
        "dataset-initializer=cpu,model-initializer=cpu",
        {},
        ("cpu", "cpu", "gpu-q"),
    ),
    "the annotation beats the template's": (
        "dataset-initializer=cpu",
        {"dataset-initializer": "own", "model-initializer": "own"},
        ("cpu", "own", "gpu-q"),
    ),
    "the annotation may name every step": (
        "node=h100,model-initializer=b,dataset-initializer=a",
        {},
        ("a", "b", "h100"),
    ),
    "space around the names": (" node = h100 ", {}, ("gpu-q", "gpu-q", "h100")),
    "a queue with dots and digits": ("node=9.a-b.c", {}, ("gpu-q", "gpu-q", "9.a-b.c")),
}


@cases(QUEUES)
def test_a_steps_queue_is_the_first_match(
    case: tuple[str | None, dict[str, str], tuple[str, str, str]],
) -> None:
    """Annotation, then the template's own label, then the parent's queue; for both kinds."""
    text, own, queues = case
    annotations: Obj | None = None if text is None else {STEP_QUEUES: text}
    templates = [{Q: own[name]} if name in own else {} for name in STEPS]
    wanted = [{Q: queue, S: queue} for queue in queues]

    made = with_step_labels(trainer_jobset(), *templates)
    facts = owner_facts(stored_trainjob(annotations=annotations))
    steps = decide(create(made), facts).stored["spec"]["replicatedJobs"]
    assert steps == with_step_labels(made, *wanted)["spec"]["replicatedJobs"]

    made = user_jobset(None, annotations, steps=made["spec"]["replicatedJobs"])
    steps = decide(create(made)).stored["spec"]["replicatedJobs"]
    assert steps == with_step_labels(made, *wanted)["spec"]["replicatedJobs"]


def test_a_trainers_jobset_ignores_its_own_annotation() -> None:
    """A JobSet made by Trainer takes its steps' queues from its TrainJob only."""
    made = trainer_jobset()
    made["metadata"]["annotations"] = {STEP_QUEUES: "node=stolen"}
    stored = decide(create(made), owner_facts()).stored
    assert {s["template"]["metadata"]["labels"][Q] for s in stored["spec"]["replicatedJobs"]} == {
        "gpu-q"
    }


def test_the_trainjob_keeps_its_annotation() -> None:
    """The annotation stays on the TrainJob, from which the JobSet's review reads it."""
    text = {STEP_QUEUES: "node=h100"}
    stored = decide(create(trainjob(None, text)), runtime_facts()).stored
    assert stored == trainjob({S: "gpu-q"}, text)


REFUSED: dict[str, str] = {
    "no equals sign": "node",
    "no queue": "node=",
    "no step": "=cpu",
    "an empty pair": "node=a,,prepare=b",
    "a comma at the end": "node=a,",
    "a queue that no LocalQueue can be called": "node=Team_A",
    "a queue of 64 characters": "node=" + "q" * 64,
    "two equals signs": "node=a=b",
    "a step named twice": "node=a,node=b",
    "a step that there is not": "nodes=a",
}


@cases(REFUSED)
def test_an_annotation_that_cannot_be_followed_is_denied(case: str) -> None:
    """What names no step or no possible queue is refused at the parent, with the way out (C17)."""
    annotations = {STEP_QUEUES: case}
    chain = [step("prepare"), step("node", "prepare")]
    for decision in (
        decide(create(trainjob(None, annotations)), runtime_facts(chain)),
        decide(create(user_jobset(None, annotations, steps=chain))),
    ):
        assert not decision.allowed
        assert decision.code == 422
        assert f"metadata.annotations[{STEP_QUEUES}]" in decision.message
        assert "dataset-initializer=" in decision.message
        assert "the steps are prepare, node" in decision.message


def test_a_thousand_steps_are_enough() -> None:
    """More would keep every other review waiting while labels are put on them."""
    steps = [step("s0"), *(step(f"s{n}", f"s{n - 1}") for n in range(1, 1001))]
    assert decide(create(user_jobset(steps=steps[:1000]))).allowed
    for body in (create(user_jobset(steps=steps)), create(trainer_jobset(steps))):
        decision = decide(body, owner_facts())
        assert decision.code == 422
        assert "spec.replicatedJobs" in decision.message


@pytest.mark.parametrize("text", ["node", "node=Team_A"])
def test_a_malformed_annotation_is_denied_although_the_runtime_is_unknown(text: str) -> None:
    """Otherwise its JobSet would be refused for ever, out of the user's sight (C17)."""
    body = create(trainjob(None, {STEP_QUEUES: text, MODE: "step"}))
    decision = decide(body, {RUNTIME_KEY: Unreadable("timeout")})
    assert not decision.allowed
    assert decision.code == 422


def test_more_queues_than_are_looked_up_are_refused() -> None:
    """One review would wait for all of them, and for what they lead to."""
    names = ",".join(f"s{n}=queue-{n}" for n in range(30))
    own = [step(f"s{n}", labels={Q: f"queue-{n}"}) for n in range(30)]
    for parent in (trainjob(annotations={STEP_QUEUES: names}), user_jobset(steps=own)):
        decision = decide(create(parent))
        assert decision.code == 422
        assert '"31": its steps name so many LocalQueues; at most 30 can be' in decision.message


BAD_STEPS: dict[str, Obj] = {
    "a queue": {Q: "Team_A"},
    "a priority class": {PRIORITY: "Not A Class"},
    "a time limit": {MAX_EXEC: "2h"},
}


@cases(BAD_STEPS)
def test_a_bad_label_of_a_step_is_told_where_the_user_looks(case: Obj) -> None:
    """Its Job would be refused for ever, on an object that the user never made."""
    key, value = next(iter(case.items()))
    steps = [step("prepare", labels=case), step("node", "prepare")]
    place = f'replicatedJobs[0].template.metadata.labels[{key}]: Invalid value: "{value}"'
    of_runtime = decide(create(trainjob()), runtime_facts(steps))
    assert of_runtime.message.startswith(
        f"spec.runtimeRef: with spec.runtimePatches, the runtime's spec.template.spec.{place}"
    )
    own = decide(create(user_jobset(steps=steps)))
    assert own.message.startswith(f"spec.{place}")


def test_a_template_queue_that_the_annotation_replaces_is_not_looked_up() -> None:
    """Nothing waits there, so it may be missing."""
    steps = [step("a"), step("b", "a", labels={Q: "gone"})]
    facts = {Key("kueue.x-k8s.io", "v1beta2", "localqueues", "gone", "team-a"): Absent()}
    made = user_jobset({Q: "gpu-q"}, {STEP_QUEUES: "b=cpu-q"}, steps)
    assert decide(create(made), facts).warnings == []

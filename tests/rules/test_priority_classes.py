"""A WorkloadPriorityClass that is not there: Kueue makes no Workload, and says so nowhere."""

from tests.rules.factories import RUNTIME_KEY, Obj, Q, runtime, trainjob
from tests.rules.reviews import create, decide
from webhook.http.admission import MOST_READS
from webhook.rules import admit, review
from webhook.rules.facts import Absent, Answer, Found, Key
from webhook.rules.policy import Policy

PRIORITY = "kueue.x-k8s.io/priority-class"


def class_key(name: str) -> Key:
    """A WorkloadPriorityClass."""
    return Key("kueue.x-k8s.io", "v1beta2", "workloadpriorityclasses", name)


def with_own_classes(*own: str) -> Obj:
    """A runtime whose steps, as far as they go, have priority classes of their own."""
    made = runtime()
    steps = made["spec"]["template"]["spec"]["replicatedJobs"]
    for step, name in zip(steps, own, strict=False):
        labels = step["template"].setdefault("metadata", {}).setdefault("labels", {})
        labels[PRIORITY] = name
    return made


def _pipeline(length: int) -> Obj:
    """A runtime of so many steps, one after another, each with a priority class of its own."""
    made = runtime()
    made["spec"]["template"]["spec"]["replicatedJobs"] = [
        {
            "name": f"step-{number}",
            "template": {"metadata": {"labels": {PRIORITY: f"class-{number}"}}},
            "dependsOn": [{"name": f"step-{number - 1}", "status": "Complete"}] if number else [],
        }
        for number in range(length)
    ]
    return made


def missing_classes(runtime: Obj, *missing: str, **annotations: str) -> list[str]:
    """What is said of classes where these do not exist."""
    facts: dict[Key, Answer] = {
        RUNTIME_KEY: Found(runtime),
        **{class_key(name): Absent() for name in missing},
    }
    job = trainjob({Q: "gpu-q", PRIORITY: "low"})
    job["metadata"]["annotations"] = annotations
    return [text for text in decide(create(job), facts).warnings if "PriorityClass" in text]


def test_a_priority_class_of_one_step_that_is_not_there_is_warned_about() -> None:
    """Its Job would wait without a word, while the others run."""
    warnings = missing_classes(with_own_classes("hihg", "low"), "hihg")
    assert warnings == ["WorkloadPriorityClass hihg does not exist: Jobs wait until it does"]


def test_a_parent_that_stays_whole_is_not_warned_of_its_steps_classes() -> None:
    """Kueue looks only at the parent's."""
    whole = {"kueue-steps.io/mode": "whole"}
    assert missing_classes(with_own_classes("hihg"), "hihg", **whole) == []
    (warning,) = missing_classes(with_own_classes("hihg"), "hihg", "low", **whole)
    assert "WorkloadPriorityClass low" in warning


def test_a_parent_that_stays_whole_is_not_warned_of_its_steps_queues() -> None:
    """It has one Workload, in its own queue."""
    job = trainjob({Q: "gpu-q"})
    queues = {"kueue-steps.io/step-queues": "dataset-initializer=cpus"}
    facts: dict[Key, Answer] = {
        RUNTIME_KEY: Found(runtime()),
        Key("kueue.x-k8s.io", "v1beta2", "localqueues", "cpus", "team-a"): Absent(),
    }
    job["metadata"]["annotations"] = queues
    (warning,) = decide(create(job), facts).warnings
    assert "LocalQueue cpus does not exist" in warning
    job["metadata"]["annotations"] = queues | {"kueue-steps.io/mode": "whole"}
    assert decide(create(job), facts).warnings == []


def test_many_priority_classes_of_steps_are_not_all_looked_up() -> None:
    """Each is a read before the answer, and a warning is all that it is for."""
    asked = _asked(_pipeline(100))
    assert len([key for key in asked if key.plural == "workloadpriorityclasses"]) == 5


def test_classes_of_steps_never_leave_a_parent_whole_for_its_many_reads() -> None:
    """Thirty queues, each with a ClusterQueue and a check of its own, are still decided by."""
    many = _pipeline(100)
    for number, step in enumerate(many["spec"]["template"]["spec"]["replicatedJobs"]):
        step["template"]["metadata"]["labels"][Q] = f"queue-{number % 29}"
    assert 90 < len(_asked(many)) <= MOST_READS


def _asked(runtime: Obj) -> dict[Key, Answer]:
    """What is looked up for a TrainJob where each LocalQueue leads to its own check."""
    request = review.read(create(trainjob({Q: "gpu-q"})))
    facts: dict[Key, Answer] = {}
    while keys := admit.needs(request, facts, Policy()):
        facts |= {key: _found(key, runtime) for key in keys}
    return facts


def _found(key: Key, runtime: Obj) -> Answer:
    rule = {"admissionChecks": [{"name": f"check-{key.name}"}]}
    return Found(
        {
            RUNTIME_KEY.plural: runtime,
            "localqueues": {"spec": {"clusterQueue": f"of-{key.name}"}},
            "clusterqueues": {"spec": {"admissionChecksStrategy": rule}},
        }.get(key.plural, {})
    )

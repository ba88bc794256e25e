"""`kueue-steps preview --cluster` says what the server then does, on the real control plane."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from localcluster.cluster import Cluster
from tests.stack.objects import (
    PRIORITY,
    QUEUE,
    STEP_QUEUE,
    Object,
    jobset,
    local_queue,
    named,
    step,
    training_runtime,
    trainjob,
)
from tests.stack.team import Team, eventually

STEP_QUEUES = "kueue-steps.io/step-queues"
MODE = "kueue-steps.io/mode"
OURS = (QUEUE, STEP_QUEUE, PRIORITY)


@dataclass(frozen=True)
class Preview:
    """What the command printed, and its exit code."""

    code: int
    report: Object

    @property
    def one(self) -> Object:
        """The single object that was previewed."""
        [found] = self.report["objects"]
        return dict(found)


def preview(cluster: Cluster, *objects: Object, user: str = "admin") -> Preview:
    """Run the command as a person would, with the objects on standard input."""
    arguments = ["--cluster", "--kubeconfig", str(cluster.kubeconfig(user)), "-o", "json"]
    run = subprocess.run(
        [sys.executable, "-m", "webhook", "preview", "-f", "-", *arguments],
        input="\n".join(map(json.dumps, objects)),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert run.stderr == ""
    return Preview(run.returncode, json.loads(run.stdout))


def created(cluster: Cluster, item: Object) -> tuple[Object | None, list[str], str]:
    """The object as the API server would store it, the warnings, and everything on stderr."""
    kubectl = [str(cluster.bin_dir / "kubectl"), f"--kubeconfig={cluster.kubeconfig()}"]
    run = subprocess.run(
        [*kubectl, "create", "--dry-run=server", "-o", "json", "-f", "-"],
        input=json.dumps(item),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    head = "Warning: "
    warnings = [line.removeprefix(head) for line in run.stderr.splitlines() if head in line]
    return (None if run.returncode else json.loads(run.stdout)), warnings, run.stderr


def annotated(item: Object, **annotations: str) -> Object:
    """The object with these annotations; their keys are `mode` and `step_queues`."""
    keys = {"mode": MODE, "step_queues": STEP_QUEUES}
    item["metadata"]["annotations"] = {keys[key]: value for key, value in annotations.items()}
    return item


def is_within(said: Any, stored: Any) -> bool:
    """Whether everything that the preview says is stored; what others add is not its matter."""
    match said, stored:
        case dict(), dict():
            return all(key in stored and is_within(said[key], stored[key]) for key in said)
        case list(), list():
            return len(said) == len(stored) and all(map(is_within, said, stored))
        case _:
            return bool(said == stored)


def marks(item: Object) -> list[Any]:
    """The labels and annotations that are ours to set, on the parent and on its steps."""
    steps = item["spec"].get("replicatedJobs", ())
    labels = [one["template"].get("metadata", {}).get("labels") for one in steps]
    metadata = item["metadata"]
    return [metadata.get("labels"), metadata.get("annotations"), *labels]


TAKEN: dict[str, Callable[[Team], Object]] = {
    "a stepped TrainJob": lambda team: trainjob(
        "work", team.namespace, {**team.label, PRIORITY: "none"}, suspend=True
    ),
    "a TrainJob whose deadline counts the queueing": lambda team: trainjob(
        "work", team.namespace, team.label, activeDeadlineSeconds=600
    ),
    "a TrainJob with queues of its steps": lambda team: annotated(
        trainjob("work", team.namespace, team.label), step_queues="dataset-initializer=cpus"
    ),
    "a TrainJob left whole on request": lambda team: annotated(
        trainjob("work", team.namespace, team.label), mode="whole"
    ),
    "a TrainJob on a runtime that Trainer ships": lambda team: trainjob(
        "work", team.namespace, team.label, runtimeRef={"name": "torch-distributed"}
    ),
    "a TrainJob without a queue": lambda team: trainjob("work", team.namespace, {"app": "work"}),
    "a stepped JobSet": lambda team: jobset(
        "work", team.namespace, team.label, step("a"), step("b", "a", gpus=1), suspend=True
    ),
    "a gang": lambda team: jobset(
        "work", team.namespace, team.label, step("a"), step("b", "a", status="Ready")
    ),
}
REFUSED: dict[str, Callable[[Team], Object]] = {
    "a queue that is no name": lambda team: jobset(
        "work", team.namespace, {QUEUE: "Not.A_Queue"}, step("a"), step("b", "a")
    ),
    "a mode that there is not": lambda team: annotated(
        trainjob("work", team.namespace, team.label), mode="stepwise"
    ),
    "a step that there is not": lambda team: annotated(
        trainjob("work", team.namespace, team.label), step_queues="model=cpus"
    ),
}


@pytest.fixture
def crew(team: Team) -> Team:
    """A team with a runtime of three steps."""
    team.apply([training_runtime("steps", team.namespace, gpus=2, download="1s", train="1s")])
    return team


def test_what_it_says_is_what_would_be_stored(crew: Team) -> None:
    """The object, our labels and annotations to the last, and the warnings."""
    items = {sentence: make(crew) for sentence, make in TAKEN.items()}
    found = preview(crew.cluster, *items.values())
    for (sentence, item), said in zip(items.items(), found.report["objects"], strict=True):
        stored, warnings, stderr = created(crew.cluster, item)
        assert stored is not None, f"{sentence}: {stderr}"
        assert is_within(said["object"], stored), sentence
        assert marks(said["object"]) == marks(stored), sentence
        assert said["warnings"] == warnings, sentence
    assert found.report["assumed"] == []
    assert found.code == 0


def test_what_it_refuses_is_refused(crew: Team) -> None:
    """In the same words, and with exit code 1."""
    items = {sentence: make(crew) for sentence, make in REFUSED.items()}
    found = preview(crew.cluster, *items.values())
    for (sentence, item), said in zip(items.items(), found.report["objects"], strict=True):
        stored, _, stderr = created(crew.cluster, item)
        assert stored is None, sentence
        assert said["denial"] in stderr, sentence
    assert found.code == 1


@pytest.mark.parametrize("kind", ["TrainJob", "JobSet"])
def test_a_default_queue_is_seen(crew: Team, kind: str) -> None:
    """An unlabelled parent is shown as it is stored after Kueue has put it into that queue."""
    crew.apply([local_queue("default", crew.namespace, crew.namespace)])
    item = {
        "TrainJob": trainjob("work", crew.namespace, {}),
        "JobSet": jobset("work", crew.namespace, {}, step("a"), step("b", "a")),
    }[kind]
    said = preview(crew.cluster, item)
    stored, _, stderr = created(crew.cluster, item)
    assert stored is not None, stderr
    assert marks(said.one["object"]) == marks(stored)
    assert is_within(said.one["object"], stored)


def test_the_steps_are_those_that_trainer_makes(crew: Team) -> None:
    """Labels and pods of the JobSet that there is after the TrainJob was created."""
    crew.apply([local_queue("cpus", crew.namespace, crew.namespace)])
    resources = {"requests": {"cpu": "2"}, "limits": {"nvidia.com/gpu": "1"}}
    item = annotated(
        trainjob(
            "work",
            crew.namespace,
            crew.label,
            trainer={"numNodes": 3, "resourcesPerNode": resources},
        ),
        step_queues="model-initializer=cpus",
    )
    said = preview(crew.cluster, item)
    crew.submit(item)
    made = eventually(lambda: crew.find("jobsets", "work"), "the JobSet")
    templates = {one["name"]: one["template"] for one in made["spec"]["replicatedJobs"]}
    assert [row["name"] for row in said.one["steps"]] == list(templates)
    for row in said.one["steps"]:
        template = templates[row["name"]]
        labels = template["metadata"]["labels"]
        assert row["labels"] == {key: labels[key] for key in OURS if key in labels}
        assert row["pods"] == template["spec"]["parallelism"]
        [container] = template["spec"]["template"]["spec"]["containers"]
        asked = container["resources"].get("limits", {}) | container["resources"]["requests"]
        assert row["resourcesPerPod"] == asked
    assert said.code == 0


def test_a_runtime_that_does_not_exist_is_a_finding(team: Team) -> None:
    """Trainer refuses such a TrainJob."""
    item = trainjob("work", team.namespace, team.label)
    said = preview(team.cluster, item)
    stored, _, _ = created(team.cluster, item)
    assert stored is None
    place = f"TrainingRuntime {team.namespace}/steps"
    assert said.one["problems"] == [f"{place} does not exist: Trainer would refuse it"]
    assert said.code == 1


def test_a_file_wins_over_the_cluster(team: Team) -> None:
    """A runtime and a queue that are only about to be applied."""
    other = named("LocalQueue", "kueue.x-k8s.io/v1beta2", "later", team.namespace)
    runtime = training_runtime("steps", team.namespace, gpus=2, download="1s", train="1s")
    said = preview(team.cluster, trainjob("work", team.namespace, {QUEUE: "later"}), runtime, other)
    assert (said.one["outcome"], said.one["warnings"], said.code) == ("step", [], 0)


def test_a_plain_user_is_told_what_was_assumed(crew: Team) -> None:
    """What only administrators may read is taken as plain, and named with the reason."""
    runtime = training_runtime("steps", crew.namespace, gpus=2, download="1s", train="1s")
    item = trainjob("work", crew.namespace, crew.label)
    said = preview(crew.cluster, item, runtime, user="alice")
    assumed = {entry["object"]: entry["why"] for entry in said.report["assumed"]}
    assert "403" in assumed["ConfigMap kueue-system/kueue-manager-config"]
    assert (said.one["outcome"], said.code) == ("step", 0)

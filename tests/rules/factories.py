"""Objects for the tests of the rules.

Keys and user names are written out here, not imported: they are public contract.
"""

import copy
from collections.abc import Mapping
from typing import Any, TypeAlias

import pytest

from webhook.rules.facts import Facts, Found, trainer_key

Obj: TypeAlias = dict[str, Any]

Q = "kueue.x-k8s.io/queue-name"
S = "kueue-steps.io/queue-name"
MODE = "kueue-steps.io/mode"
STEP_QUEUES = "kueue-steps.io/step-queues"
SUBMITTED = "kueue-steps.io/submitted-suspended"
PAUSED = "kueue-steps.io/paused"
PRIORITY = "kueue.x-k8s.io/priority-class"
MAX_EXEC = "kueue.x-k8s.io/max-exec-time-seconds"
PREBUILT = "kueue.x-k8s.io/prebuilt-workload-name"
ANCESTOR = "trainer.kubeflow.org/trainjob-ancestor-step"
PODSET_GROUP = "kueue.x-k8s.io/podset-group-name"

KUEUE = "system:serviceaccount:kueue-system:kueue-controller-manager"
JOBSET = "system:serviceaccount:jobset-system:jobset-controller-manager"
TRAINER = "system:serviceaccount:kubeflow-system:kubeflow-trainer-controller-manager"
JOB_CONTROLLER = "system:serviceaccount:kube-system:job-controller"
PERSON = "jane@example.com"

TRAINJOB_UID = "11111111-0000-4000-8000-000000000001"
JOBSET_UID = "22222222-0000-4000-8000-000000000002"
RUNTIME_KEY = trainer_key("clustertrainingruntimes", "torchtune")
OWNER_KEY = trainer_key("trainjobs", "tune-a", "team-a", TRAINJOB_UID)
RESOURCES = {
    "TrainJob": ("trainer.kubeflow.org", "v1alpha1", "trainjobs"),
    "JobSet": ("jobset.x-k8s.io", "v1alpha2", "jobsets"),
    "Job": ("batch", "v1", "jobs"),
}


def cases(table: Mapping[str, Any]) -> pytest.MarkDecorator:
    """Parametrizes `case` with a table whose keys are sentences."""
    return pytest.mark.parametrize("case", list(table.values()), ids=list(table))


def changed(obj: Obj, change: Obj) -> Obj:
    """A copy with a JSON merge patch (RFC 7386) applied: None takes a member away."""
    result = copy.deepcopy(obj)
    for key, value in change.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            below = result.get(key)
            result[key] = changed(below if isinstance(below, dict) else {}, value)
        else:
            result[key] = copy.deepcopy(value)
    return result


def labelled(obj: Obj, labels: Mapping[str, str | None]) -> Obj:
    """A copy with these labels set, or taken away where the value is None."""
    return changed(obj, {"metadata": {"labels": dict(labels)}})


def annotated(obj: Obj, annotations: Mapping[str, str | None]) -> Obj:
    """A copy with these annotations set, or taken away where the value is None."""
    return changed(obj, {"metadata": {"annotations": dict(annotations)}})


def suspended(obj: Obj, value: bool | None = True) -> Obj:  # noqa: FBT001, FBT002
    """A copy with spec.suspend set, or taken away where it is None."""
    return changed(obj, {"spec": {"suspend": value}})


def _object(kind: str, name: str, spec: Obj) -> Obj:
    group, version, _ = RESOURCES[kind]
    return {
        "apiVersion": f"{group}/{version}",
        "kind": kind,
        "metadata": {"name": name, "namespace": "team-a"},
        "spec": spec,
    }


def trainjob(labels: Obj | None = None, annotations: Obj | None = None, **spec: Any) -> Obj:
    """A TrainJob as a user writes it; without labels it asks for queue gpu-q."""
    made = _object(
        "TrainJob",
        "tune-a",
        {
            "runtimeRef": {"name": "torchtune"},
            "initializer": {"dataset": {"storageUri": "hf://d"}, "model": {"storageUri": "hf://m"}},
            "trainer": {"numNodes": 2},
            **spec,
        },
    )
    made["metadata"]["labels"] = {Q: "gpu-q"} if labels is None else dict(labels)
    return annotated(made, annotations) if annotations is not None else made


def stored_trainjob(labels: Obj | None = None, annotations: Obj | None = None, **spec: Any) -> Obj:
    """A stepped TrainJob as it is stored; without labels its queue is gpu-q."""
    made = trainjob({S: "gpu-q"} if labels is None else labels, annotations, **spec)
    return changed(made, {"metadata": {"uid": TRAINJOB_UID}})


def step(name: str, *after: str, status: str = "Complete", labels: Obj | None = None) -> Obj:
    """A replicatedJob that depends on others."""
    made: Obj = {
        "name": name,
        "replicas": 1,
        "template": {
            "metadata": {"labels": {"app": name, **(labels or {})}},
            "spec": {
                "completionMode": "Indexed",
                "parallelism": 2,
                "template": {
                    "metadata": {"annotations": {"note": "kept"}},
                    "spec": {
                        "restartPolicy": "OnFailure",
                        "containers": [{"name": "main", "image": "i"}],
                    },
                },
            },
        },
    }
    if after:
        made["dependsOn"] = [{"name": other, "status": status} for other in after]
    return made


def torchtune_steps() -> list[Obj]:
    """The three steps of Trainer's torchtune runtimes."""
    return [
        step("dataset-initializer", labels={ANCESTOR: "dataset-initializer"}),
        step("model-initializer", labels={ANCESTOR: "model-initializer"}),
        step("node", "dataset-initializer", "model-initializer", labels={ANCESTOR: "trainer"}),
    ]


def runtime(steps: list[Obj] | None = None, **spec: Any) -> Obj:
    """A ClusterTrainingRuntime like torchtune."""
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "torchtune"},
        "spec": {
            "template": {
                "spec": {
                    "replicatedJobs": torchtune_steps() if steps is None else steps,
                    **spec,
                }
            }
        },
    }


def runtime_facts(steps: list[Obj] | None = None, **spec: Any) -> Facts:
    """Facts in which the runtime of `trainjob()` is found."""
    return {RUNTIME_KEY: Found(runtime(steps, **spec))}


def owner(kind: str, name: str, uid: str, group_version: str) -> Obj:
    """A controlling ownerReference."""
    return {
        "apiVersion": group_version,
        "kind": kind,
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


TRAINJOB_OWNER = owner("TrainJob", "tune-a", TRAINJOB_UID, "trainer.kubeflow.org/v1alpha1")
JOBSET_OWNER = owner("JobSet", "tune-a", JOBSET_UID, "jobset.x-k8s.io/v1alpha2")


def trainer_jobset(steps: list[Obj] | None = None, **spec: Any) -> Obj:
    """A JobSet as Trainer applies it for `stored_trainjob()`: no label of Kueue's or ours."""
    made = _object(
        "JobSet",
        "tune-a",
        {
            "replicatedJobs": torchtune_steps() if steps is None else steps,
            "suspend": False,
            **spec,
        },
    )
    made["metadata"]["ownerReferences"] = [copy.deepcopy(TRAINJOB_OWNER)]
    return made


def owner_facts(trainjob_: Obj | None = None) -> Facts:
    """Facts in which the owner of `trainer_jobset()` is found."""
    return {OWNER_KEY: Found(stored_trainjob() if trainjob_ is None else trainjob_)}


def user_jobset(
    labels: Obj | None = None,
    annotations: Obj | None = None,
    steps: list[Obj] | None = None,
    **spec: Any,
) -> Obj:
    """A JobSet as a user writes it: `prepare`, then `train`; without labels in queue gpu-q."""
    chain = [step("prepare"), step("train", "prepare")]
    made = _object("JobSet", "mine", {"replicatedJobs": chain if steps is None else steps, **spec})
    made["metadata"]["labels"] = {Q: "gpu-q"} if labels is None else dict(labels)
    return annotated(made, annotations) if annotations is not None else made


def with_step_labels(jobset: Obj, *labels: Mapping[str, str | None]) -> Obj:
    """A copy with labels changed on each step's template, in order; one for all if only one."""
    result = copy.deepcopy(jobset)
    steps = result["spec"]["replicatedJobs"]
    every = labels * len(steps) if len(labels) == 1 else labels
    result["spec"]["replicatedJobs"] = [
        changed(one, {"template": {"metadata": {"labels": dict(change)}}})
        for one, change in zip(steps, every, strict=True)
    ]
    return result


def stored_jobset(jobset: Obj, *queues: str) -> Obj:
    """A JobSet as it is stored once stepped in gpu-q: each step in a queue, gpu-q without any."""
    chosen = queues or ("gpu-q",)
    steps = with_step_labels(jobset, *({Q: queue, S: queue} for queue in chosen))
    return labelled(steps, {Q: None, S: "gpu-q"})


def child_job(
    labels: Obj | None = None, annotations: Obj | None = None, *, suspend: bool = True, **pods: Any
) -> Obj:
    """A step's Job as JobSet makes it; `pods` goes into the pod template's spec."""
    made = _object(
        "Job",
        "tune-a-node-0",
        {
            "suspend": suspend,
            "completionMode": "Indexed",
            "parallelism": 4,
            "completions": 4,
            "template": {
                "metadata": {"labels": {"app": "node"}, "annotations": {"note": "kept"}},
                "spec": {"containers": [{"name": "main", "image": "i"}], **pods},
            },
        },
    )
    made["metadata"]["labels"] = {
        "jobset.sigs.k8s.io/jobset-name": "tune-a",
        **({Q: "gpu-q", S: "gpu-q"} if labels is None else labels),
    }
    made["metadata"]["ownerReferences"] = [copy.deepcopy(JOBSET_OWNER)]
    return annotated(made, annotations) if annotations is not None else made

"""What the stack tests submit: queues, runtimes, TrainJobs, JobSets, Jobs, as users do."""

from typing import Any

Object = dict[str, Any]

QUEUE = "kueue.x-k8s.io/queue-name"
STEP_QUEUE = "kueue-steps.io/queue-name"
PAUSED = "kueue-steps.io/paused"
PRIORITY = "kueue.x-k8s.io/priority-class"
STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
RUN_FOR = "localcluster.kueue-steps.io/run-for"
GPU = "nvidia.com/gpu"

FLAVOR = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "ResourceFlavor",
    "metadata": {"name": "default"},
    "spec": {},
}


def named(kind: str, version: str, name: str, namespace: str | None, **metadata: Any) -> Object:
    """The head of an object."""
    place = {"namespace": namespace} if namespace else {}
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, **place, **metadata},
    }


def cluster_queue(name: str, *, gpus: int = 8, cpus: int = 64) -> Object:
    """A ClusterQueue with this quota."""
    quota = {"cpu": cpus, "memory": "256Gi", GPU: gpus}
    resources = [{"name": key, "nominalQuota": value} for key, value in quota.items()]
    return named("ClusterQueue", "kueue.x-k8s.io/v1beta2", name, None) | {
        "spec": {
            "namespaceSelector": {},
            "resourceGroups": [
                {
                    "coveredResources": list(quota),
                    "flavors": [{"name": "default", "resources": resources}],
                }
            ],
        }
    }


def local_queue(name: str, namespace: str, queue: str) -> Object:
    """A LocalQueue that leads to this ClusterQueue."""
    return named("LocalQueue", "kueue.x-k8s.io/v1beta2", name, namespace) | {
        "spec": {"clusterQueue": queue}
    }


def pods(*, gpus: int = 0, run_for: str = "1s", container: str = "main") -> Object:
    """A pod template whose simulated pod runs for so long."""
    requests = {"cpu": "1", "memory": "1Gi"} | ({GPU: str(gpus)} if gpus else {})
    resources = {"requests": requests} | ({"limits": {GPU: str(gpus)}} if gpus else {})
    return {
        "metadata": {"annotations": {RUN_FOR: run_for}},
        "spec": {"containers": [{"name": container, "image": "simulated", "resources": resources}]},
    }


def step(name: str, *after: str, status: str = "Complete", **overrides: Any) -> Object:
    """A replicatedJob that depends on other steps; `gpus` and `run_for` describe its pod."""
    ancestor = overrides.pop("ancestor", None)
    labels = overrides.pop("labels", {}) | ({STEP: ancestor} if ancestor else {})
    template: Object = {"spec": {"template": pods(**overrides)}}
    if labels:
        template["metadata"] = {"labels": labels}
    depends = [{"name": other, "status": status} for other in after]
    return {"name": name, "template": template} | ({"dependsOn": depends} if depends else {})


def training_runtime(name: str, namespace: str, *, gpus: int, download: str, train: str) -> Object:
    """Two initializers that run side by side, then one training step with all the GPUs."""
    first, second = "dataset-initializer", "model-initializer"
    steps = [
        step(first, run_for=download, container=first, ancestor=first),
        step(second, run_for=download, container=second, ancestor=second),
        step("node", first, second, gpus=gpus, run_for=train, container="node", ancestor="trainer"),
    ]
    return named(
        "TrainingRuntime",
        "trainer.kubeflow.org/v1alpha1",
        name,
        namespace,
        labels={"trainer.kubeflow.org/framework": "torch"},
    ) | {
        "spec": {
            "mlPolicy": {"numNodes": 1, "torch": {}},
            "template": {"spec": {"replicatedJobs": steps}},
        }
    }


def trainjob(name: str, namespace: str, labels: dict[str, str], **spec: Any) -> Object:
    """A TrainJob on the namespace's runtime `steps`, unless `runtimeRef` says otherwise."""
    ref = {"apiGroup": "trainer.kubeflow.org", "kind": "TrainingRuntime", "name": "steps"}
    return named(
        "TrainJob", "trainer.kubeflow.org/v1alpha1", name, namespace, labels=dict(labels)
    ) | {"spec": {"runtimeRef": ref, **spec}}


def jobset(
    name: str, namespace: str, labels: dict[str, str], *steps: Object, **spec: Any
) -> Object:
    """A JobSet with these steps."""
    return named("JobSet", "jobset.x-k8s.io/v1alpha2", name, namespace, labels=dict(labels)) | {
        "spec": {"replicatedJobs": list(steps), **spec}
    }


def controlled_by(owner: Object) -> Object:
    """A reference to the object that controls another."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
    }


def job(name: str, namespace: str, labels: dict[str, str], **metadata: Any) -> Object:
    """A Job of one pod."""
    template = pods()
    template["spec"]["restartPolicy"] = "Never"
    return named("Job", "batch/v1", name, namespace, labels=dict(labels), **metadata) | {
        "spec": {"template": template}
    }

"""What the demo submits, and where: equal lanes, equal TrainJobs.

Nothing here knows of stepping: the TrainJobs of both plays are the same objects, with the one label
that every user of Kueue sets.
"""

from dataclasses import dataclass

from localcluster import users
from localcluster.kwok import RUN_FOR
from localcluster.manifests import Object
from webhook.rules.names import QUEUE

GPU = "nvidia.com/gpu"
GPUS = 8
USER = "alice"
LOCAL_QUEUE = "gpu"
RUNTIME = "download-then-train"
SHIPPED_RUNTIME = "torchtune-llama3.2-1b"
DOWNLOAD_FOR = "8s"
TRAIN_FOR = "10s"
DATASET, MODEL, NODE = "dataset-initializer", "model-initializer", "node"
STEPS = (DATASET, MODEL, NODE)
TRAINJOBS = ("train-a", "train-b", "train-c")
FLAVOR = "default"

KUEUE = "kueue.x-k8s.io/v1beta2"
TRAINER = "trainer.kubeflow.org/v1alpha1"
ANCESTOR_STEP = "trainer.kubeflow.org/trainjob-ancestor-step"


@dataclass(frozen=True)
class Lane:
    """A namespace with a ClusterQueue of the same name and a quota of `GPUS`."""

    namespace: str
    title: str


WHOLE = Lane("whole", "whole: Kueue as it is, one Workload per TrainJob")
STEPPED = Lane("stepped", "stepped: with our webhook, one Workload per step")
SHIPPED = Lane("shipped", f"stepped: Trainer's own runtime {SHIPPED_RUNTIME}")


def flavor() -> Object:
    """The one ResourceFlavor: all nodes are alike."""
    return {
        "apiVersion": KUEUE,
        "kind": "ResourceFlavor",
        "metadata": {"name": FLAVOR},
        "spec": {},
    }


def lane_objects(lane: Lane) -> list[Object]:
    """What an administrator sets up before anybody can submit."""
    place = lane.namespace
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": place}},
        cluster_queue(place),
        local_queue(LOCAL_QUEUE, place, leads_to=place),
        users.grant(place, USER),
        training_runtime(place),
    ]


def cluster_queue(name: str) -> Object:
    """A quota of eight GPUs, and of more CPU and memory than the trace can use."""
    quota = {"cpu": 64, "memory": "256Gi", GPU: GPUS}
    resources = [{"name": key, "nominalQuota": value} for key, value in quota.items()]
    flavors = [{"name": FLAVOR, "resources": resources}]
    return {
        "apiVersion": KUEUE,
        "kind": "ClusterQueue",
        "metadata": {"name": name},
        "spec": {
            "namespaceSelector": {},
            "resourceGroups": [{"coveredResources": list(quota), "flavors": flavors}],
        },
    }


def local_queue(name: str, namespace: str, *, leads_to: str) -> Object:
    """A LocalQueue of that ClusterQueue."""
    return {
        "apiVersion": KUEUE,
        "kind": "LocalQueue",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"clusterQueue": leads_to},
    }


def training_runtime(namespace: str) -> Object:
    """Two downloads side by side that need a CPU, then training on all the GPUs."""
    steps = [
        step(DATASET, DATASET, _pods(DATASET, DOWNLOAD_FOR)),
        step(MODEL, MODEL, _pods(MODEL, DOWNLOAD_FOR)),
        step(NODE, "trainer", _pods(NODE, TRAIN_FOR, GPUS), DATASET, MODEL),
    ]
    return runtime(RUNTIME, namespace, steps)


def runtime(name: str, namespace: str, steps: list[Object]) -> Object:
    """A TrainingRuntime of these steps."""
    return {
        "apiVersion": TRAINER,
        "kind": "TrainingRuntime",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {"trainer.kubeflow.org/framework": "torch"},
        },
        "spec": {
            "mlPolicy": {"numNodes": 1, "torch": {}},
            "template": {"spec": {"replicatedJobs": steps}},
        },
    }


def trainjobs(lane: Lane) -> list[Object]:
    """The trace: the same TrainJobs in each lane."""
    return [_trainjob(name, lane, "TrainingRuntime", RUNTIME) for name in TRAINJOBS]


def another_trainjob() -> Object:
    """One more for the stepped lane, with a new name at each `kubectl create`."""
    trainjob = _trainjob("", STEPPED, "TrainingRuntime", RUNTIME)
    del trainjob["metadata"]["name"]
    trainjob["metadata"]["generateName"] = "train-"
    return trainjob


def shipped_trainjob() -> Object:
    """A TrainJob on a runtime that Trainer ships, initializers filled in as its users do."""
    trainjob = _trainjob("llama", SHIPPED, "ClusterTrainingRuntime", SHIPPED_RUNTIME)
    trainjob["spec"]["initializer"] = {
        "dataset": {"storageUri": "hf://tatsu-lab/alpaca"},
        "model": {"storageUri": "hf://meta-llama/Llama-3.2-1B-Instruct"},
    }
    return trainjob


def _trainjob(name: str, lane: Lane, runtime_kind: str, runtime: str) -> Object:
    group = TRAINER.partition("/")[0]
    return {
        "apiVersion": TRAINER,
        "kind": "TrainJob",
        "metadata": {
            "name": name,
            "namespace": lane.namespace,
            "labels": {QUEUE: LOCAL_QUEUE},
        },
        "spec": {"runtimeRef": {"apiGroup": group, "kind": runtime_kind, "name": runtime}},
    }


def step(name: str, ancestor: str, pods: Object, *after: str) -> Object:
    """One step of a runtime, to begin when those before it are complete."""
    template = {"metadata": {"labels": {ANCESTOR_STEP: ancestor}}, "spec": {"template": pods}}
    depends = [{"name": other, "status": "Complete"} for other in after]
    return {"name": name, "template": template} | ({"dependsOn": depends} if depends else {})


def _pods(container: str, run_for: str, gpus: int = 0) -> Object:
    requests = {"cpu": "1", "memory": "1Gi"} | ({GPU: str(gpus)} if gpus else {})
    resources: Object = {"requests": requests}
    if gpus:
        resources["limits"] = {GPU: str(gpus)}
    return {
        "metadata": {"annotations": {RUN_FOR: run_for}},
        "spec": {"containers": [{"name": container, "image": "simulated", "resources": resources}]},
    }

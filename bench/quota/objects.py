"""The objects of one play: queues of three tenants, a runtime and a TrainJob each. Pure."""

from collections.abc import Iterable, Iterator

from bench.quota.plan import CPU_QUEUE, QUOTA, Mode, Play
from bench.quota.trace import TENANTS, Planned, Shape
from localcluster import users
from localcluster.demo.trace import (
    ANCESTOR_STEP,
    DATASET,
    FLAVOR,
    GPU,
    KUEUE,
    MODEL,
    NODE,
    TRAINER,
    USER,
    local_queue,
    runtime,
)
from localcluster.kwok import FAIL, RUN_FOR
from localcluster.manifests import Object
from webhook.rules.names import QUEUE

LAUNCHER = "launcher"
PLENTY = {"cpu": 1000, "memory": "2000Gi"}


def surroundings(play: Play, trace: Iterable[Planned]) -> list[Object]:
    """What is there before anybody submits."""
    place = play.namespace
    tenants = {tenant: f"{place}-{tenant}" for tenant in TENANTS}
    gpus = {**PLENTY, GPU: QUOTA // len(TENANTS)}
    queues = [_cluster_queue(name, gpus, place) for name in tenants.values()]
    queues += [local_queue(tenant, place, leads_to=name) for tenant, name in tenants.items()]
    if play.mode is Mode.CPU:
        name = f"{place}-{CPU_QUEUE}"
        queues += [_cluster_queue(name, PLENTY, None), local_queue(CPU_QUEUE, place, leads_to=name)]
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": place}},
        users.grant(place, USER),
        *queues,
        *(_runtime(place, item) for item in trace),
    ]


def trainjob(play: Play, item: Planned) -> Object:
    """What the tenant submits."""
    return {
        "apiVersion": TRAINER,
        "kind": "TrainJob",
        "metadata": {
            "name": item.name,
            "namespace": play.namespace,
            "labels": {QUEUE: item.tenant},
            "annotations": dict(play.mode.annotations(item.shape)),
        },
        "spec": {
            "runtimeRef": {
                "apiGroup": TRAINER.partition("/")[0],
                "kind": "TrainingRuntime",
                "name": item.name,
            }
        },
    }


def _cluster_queue(name: str, quotas: Object, cohort: str | None) -> Object:
    resources = [{"name": key, "nominalQuota": value} for key, value in quotas.items()]
    group = {
        "coveredResources": list(quotas),
        "flavors": [{"name": FLAVOR, "resources": resources}],
    }
    return {
        "apiVersion": KUEUE,
        "kind": "ClusterQueue",
        "metadata": {"name": name},
        "spec": {"namespaceSelector": {}, "resourceGroups": [group]}
        | ({"cohortName": cohort} if cohort else {}),
    }


def _runtime(namespace: str, item: Planned) -> Object:
    return runtime(item.name, namespace, list(_steps(item)))


def _steps(item: Planned) -> Iterator[Object]:
    """The dataset takes half as long as the model; both are fetched side by side."""
    downloads: tuple[str, ...] = ()
    if item.shape is not Shape.SINGLE:
        downloads = (DATASET, MODEL)
        yield _step(DATASET, DATASET, _pod(DATASET, item.initializes / 2))
        yield _step(MODEL, MODEL, _pod(MODEL, item.initializes))
    training = _pod(NODE, item.trains, gpus=item.gpus, fails=item.fails)
    yield _step(NODE, "trainer", training, *((other, "Complete") for other in downloads))
    if item.shape is Shape.GANG:
        yield _step(LAUNCHER, LAUNCHER, _pod(LAUNCHER, item.trains), (NODE, "Ready"))


def _step(name: str, ancestor: str, pod: Object, *after: tuple[str, str]) -> Object:
    # A Job that tries again ten seconds later would tell of the Job controller's patience.
    spec = {"backoffLimit": 0, "template": pod}
    step: Object = {
        "name": name,
        "template": {"metadata": {"labels": {ANCESTOR_STEP: ancestor}}, "spec": spec},
    }
    if after:
        step["dependsOn"] = [{"name": other, "status": status} for other, status in after]
    return step


def _pod(container: str, seconds: float, *, gpus: int = 0, fails: bool = False) -> Object:
    resources: Object = {"requests": {"cpu": "1", "memory": "1Gi"}}
    if gpus:
        resources["requests"][GPU] = str(gpus)
        resources["limits"] = {GPU: str(gpus)}
    annotations = {RUN_FOR: f"{round(seconds * 1000)}ms"} | ({FAIL: "true"} if fails else {})
    return {
        "metadata": {"annotations": annotations},
        "spec": {"containers": [{"name": container, "image": "simulated", "resources": resources}]},
    }

"""A namespace in which something is in every state: what the goldens and the documentation show."""

from typing import Final

from tests.steps.made import (
    ADMISSION,
    PAUSED,
    QUEUE,
    STARTED,
    Object,
    ago,
    condition,
    job,
    jobset,
    pending,
    seen,
    step,
    trainjob,
    workload,
)
from webhook.steps.objects import Seen

RUNS: Final = {"suspend": False}
INITIALIZED: Final = (
    step("dataset-initializer"),
    step("model-initializer"),
    step("node", "dataset-initializer", "model-initializer", gpus=8),
)
NO_QUOTA: Final = (
    "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in "
    "flavor h100, 8 more needed"
)
ADMITTED: Final = (condition("QuotaReserved", 3600), condition("Admitted", 3600))


def everything() -> Seen:
    """Every state, in parents of every kind of admission."""
    families = [_failed(), _tuned(), _evicted(), _downloading(), _whole(), _paused(), _unqueued()]
    objects = [item for one in families for item in one[0]]
    workloads = [item for one in families for item in one[1]]
    waiting = job(jobset(name="eval"), "node")
    return seen(*objects, workloads=tuple(workloads), places=(pending(waiting, 1, 6),))


Family = tuple[list[Object], list[Object]]


def _family(
    name: str, *conditions: Object, suspend: bool = False, made: int = 3700, **more: object
) -> tuple[Object, Object]:
    whole = trainjob(*conditions, name=name, suspend=suspend, made=made)
    its = jobset(owner=whole, name=name, steps=INITIALIZED, suspend=suspend, made=made)
    return whole, its


def _downloads(its: Object, seconds: int = 3000) -> Family:
    times = {"startTime": ago(seconds + 250), "completionTime": ago(seconds)}
    jobs = [
        job(its, name, condition("Complete", seconds), spec=RUNS, status=times)
        for name in ("dataset-initializer", "model-initializer")
    ]
    admitted = (condition("QuotaReserved", seconds + 250), condition("Admitted", seconds + 250))
    return jobs, [workload(one, *admitted, made=seconds + 262) for one in jobs]


def _failed() -> Family:
    why = {
        "reason": "BackoffLimitExceeded",
        "message": "Job has reached the specified backoff limit",
    }
    whole, its = _family("broken", condition("Failed", 1000, **why), made=90000)
    jobs, workloads = _downloads(its, 80000)
    node = job(
        its, "node", condition("Failed", 1000, **why), spec=RUNS, status={"startTime": ago(4600)}
    )
    return [whole, its, *jobs, node], [*workloads, workload(node, *ADMITTED, made=80000)]


def _tuned() -> Family:
    whole, its = _family("eval")
    jobs, workloads = _downloads(its)
    node = job(its, "node")
    refused = condition("QuotaReserved", 60, status="False", reason="Pending", message=NO_QUOTA)
    return [whole, its, *jobs, node], [*workloads, workload(node, refused, made=2998)]


def _evicted() -> Family:
    its = jobset(name="sweep", made=3600)
    data = job(its, "data")
    why = (
        "Preempted to accommodate a workload (UID: 4711) due to prioritization in the ClusterQueue"
    )
    evicted = condition("Evicted", 100, reason="Preempted", message=why)
    refused = condition("QuotaReserved", 100, status="False", reason="Pending", message=NO_QUOTA)
    return [its, data], [
        workload(
            data, refused, evicted, made=3590, status={"accumulatedPastExecutionTimeSeconds": 3400}
        )
    ]


def _downloading() -> Family:
    whole, its = _family("tune", made=400)
    dataset = job(its, "dataset-initializer")
    status = {"startTime": ago(300), "ready": 1}
    model = job(its, "model-initializer", spec=RUNS, status=status)
    admitted = (condition("QuotaReserved", 305), condition("Admitted", 305))
    plain = {
        "admission": {
            "clusterQueue": "team-a",
            "podSetAssignments": [{"name": "main", "flavors": {"cpu": "plain"}}],
        }
    }
    return [whole, its, dataset, model], [
        workload(
            dataset, condition("QuotaReserved", 2), condition("Admitted", 1), made=390, status=plain
        ),
        workload(model, *admitted, made=390, status=plain),
    ]


def _whole() -> Family:
    whole = trainjob(name="gang", labels={QUEUE: "gpus"}, made=350)
    steps = (
        step("launcher"),
        step("node", "launcher", status="Ready", gpus=4, job={"parallelism": 2}),
    )
    its = jobset(owner=whole, name="gang", steps=steps, labels={}, made=350)
    running = {"startTime": ago(200), "ready": 1}
    launcher = job(its, "launcher", spec=RUNS, status=running)
    node = job(its, "node", spec=RUNS, status={"startTime": ago(190), "ready": 1})
    flavors = [
        {"name": "launcher", "flavors": {"cpu": "plain"}},
        {"name": "node", "flavors": {"cpu": "plain", "nvidia.com/gpu": "h100"}},
    ]
    admission = {"admission": {**ADMISSION, "podSetAssignments": flavors}}
    conditions = (condition("QuotaReserved", 210), condition("Admitted", 205))
    return [whole, its, launcher, node], [workload(whole, *conditions, made=349, status=admission)]


def _paused() -> Family:
    whole, its = _family("tune-2", suspend=True, made=300)
    made = [
        job(its, name, annotations={PAUSED: "true"})
        for name in ("dataset-initializer", "model-initializer")
    ]
    return [whole, its, *made], [workload(one, made=295, spec={"active": False}) for one in made]


def _unqueued() -> Family:
    its = jobset(name="free", labels={}, steps=(step("only", gpus=1),), made=200)
    return [its, job(its, "only", spec=RUNS, status=STARTED | {"ready": 1})], []

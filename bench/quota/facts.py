"""What the meter needs of each object, and when it was seen. Pure."""

from dataclasses import dataclass
from typing import Final

from localcluster.demo.scene import is_running, is_true, requested_gpus, reserved_gpus
from localcluster.invariants.judge import Kind
from localcluster.manifests import Object
from webhook.rules.names import JOBSET_NAME, REPLICATED_JOB

EVERYTHING: Final = "the TrainJob"
"""The step of a Workload that is for all of them."""


@dataclass(frozen=True, slots=True)
class Workload:
    """A Workload: `gpus` are those that it holds, of whatever step."""

    uid: str
    trainjob: str
    step: str
    gpus: int
    is_reserved: bool
    is_evicted: bool


@dataclass(frozen=True, slots=True)
class Pod:
    """A Pod and the GPUs that it asks for."""

    uid: str
    trainjob: str
    step: str
    gpus: int
    is_running: bool


@dataclass(frozen=True, slots=True)
class Ended:
    """The TrainJob's JobSet came to its end, in which its TrainJob follows at once."""

    trainjob: str
    has_failed: bool


Fact = Workload | Pod | Ended


@dataclass(frozen=True, slots=True)
class Seen:
    """A fact that holds from `at` on, in monotonic seconds."""

    at: float
    namespace: str
    fact: Fact


def fact(kind: Kind, item: Object, *, is_deleted: bool) -> Fact | None:
    """What an object says, if it is one that counts; a deleted one holds and uses nothing."""
    match kind:
        case Kind.WORKLOADS:
            return _workload(item, is_deleted=is_deleted)
        case Kind.PODS:
            return _pod(item, is_deleted=is_deleted)
        case Kind.JOBSETS:
            return _ended(item)
    return None


def _workload(item: Object, *, is_deleted: bool) -> Workload:
    metadata = item["metadata"]
    owners = metadata.get("ownerReferences", [])
    owner = next((one["name"] for one in owners if one.get("controller")), "")
    # <TrainJob> of a whole one, <TrainJob>-<step>-<index> of a step's Job.
    trainjob, _, rest = owner.partition("-")
    return Workload(
        uid=metadata["uid"],
        trainjob=trainjob,
        step=rest.rpartition("-")[0] or EVERYTHING,
        gpus=0 if is_deleted else reserved_gpus(item),
        is_reserved=is_true(item, "QuotaReserved"),
        is_evicted=is_true(item, "Evicted"),
    )


def _pod(item: Object, *, is_deleted: bool) -> Pod:
    labels = item["metadata"].get("labels", {})
    return Pod(
        uid=item["metadata"]["uid"],
        trainjob=labels.get(JOBSET_NAME, ""),
        step=labels.get(REPLICATED_JOB, ""),
        gpus=requested_gpus(item),
        is_running=is_running(item) and not is_deleted,
    )


def _ended(item: Object) -> Ended | None:
    if is_true(item, "Completed"):
        return Ended(item["metadata"]["name"], has_failed=False)
    return Ended(item["metadata"]["name"], has_failed=True) if is_true(item, "Failed") else None

"""What Kueue says of a Workload, and what is due on its parent then."""

from collections.abc import Iterable

from tests.edge.objects_seen import Tree, at, condition, see_all
from webhook.cluster.happenings import Happening, Happenings
from webhook.cluster.items import Item
from webhook.cluster.known import Known
from webhook.rules.reasons import EventReason

QUEUED, ADMITTED, EVICTED = (
    EventReason.STEP_QUEUED,
    EventReason.STEP_ADMITTED,
    EventReason.STEP_EVICTED,
)
GRANT: Tree = {
    "clusterQueue": "research",
    "podSetAssignments": [
        {
            "flavors": {"cpu": "default", "nvidia.com/gpu": "a100"},
            "resourceUsage": {"cpu": 4, "nvidia.com/gpu": "8"},
        }
    ],
}
SHORT = "insufficient unused quota for nvidia.com/gpu in flavor a100, 8 more needed"
PREEMPTED = "Preempted to accommodate a workload"


def no_quota(seconds: float, reason: str = "Pending", message: str = SHORT) -> Tree:
    """Kueue has no quota for a Workload."""
    return condition("QuotaReserved", seconds, reason, message, status="False")


def reserved(seconds: float) -> Tree:
    """Kueue has given quota."""
    return condition("QuotaReserved", seconds, "QuotaReserved", "Quota reserved in ClusterQueue x")


def admitted(seconds: float) -> Tree:
    """Kueue has admitted a Workload."""
    return condition("Admitted", seconds, "Admitted", "The workload is admitted")


def evicted(seconds: float, reason: str = "Preempted", message: str = PREEMPTED) -> Tree:
    """Kueue has taken the quota away."""
    return condition("Evicted", seconds, reason, message)


def requeued(seconds: float, reason: str = "Preempted", status: str = "True") -> Tree:
    """Kueue has put an evicted Workload back into its queue, or has not."""
    return condition("Requeued", seconds, reason, status=status)


def happenings(*items: Item) -> Happenings:
    """What is due after these were listed, whatever they are."""
    known = Known()
    for see, kind in (
        (known.see_jobs, "JobSet"),
        (known.see_jobsets, "TrainJob"),
        (known.see_workloads, "Job"),
    ):
        see_all(see, (item for item in items if _controller_kind(item) == kind))
    return Happenings(known)


def _controller_kind(item: Item) -> str:
    """Tells the kind; what nobody controls is a JobSet here."""
    controller = item.metadata.controller
    return controller.kind if controller else "TrainJob"


def told(seen: Happenings, seconds: float = 60, *uids: str) -> list[Happening]:
    """What is told at this time, in the order in which kubectl shows it."""
    due = [(uid, one) for uid in uids or ("js", "job") for one in seen.due(uid, at(seconds))]
    for uid, happening in due:
        seen.tell(uid, happening)
    return sorted((happening for _, happening in due), key=lambda one: one.name)


def short(due: Iterable[Happening]) -> list[tuple[EventReason, float, str]]:
    """What happened, when, and what is said of it."""
    return [(one.reason, (one.at - at(0)).total_seconds(), one.note) for one in due]

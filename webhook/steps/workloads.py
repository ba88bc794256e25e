"""What a Workload tells: queued since when and why, admitted with what, evicted and why."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from webhook.rules import names
from webhook.steps.objects import Condition, PendingWorkload, Workload
from webhook.steps.tree import Eviction, Position, Span, Standing, State

NO_WORKLOAD: Final = "Kueue has made no Workload of it yet"
INACTIVE: Final = "its Workload is inactive: Kueue queues it again when spec.active of that is true"
NOT_BACK: Final = "Kueue does not put it back into its queue"
CHECKED: Final = "Ready"
DEACTIVATED: Final = "Deactivated"


@dataclass(frozen=True, slots=True)
class Workloads:
    """Workloads by the uid of what they are of, and the places of those that wait."""

    by_owner: Mapping[tuple[str, str], Workload]
    places: Mapping[tuple[str, str], Position]

    def of(self, namespace: str, uid: str) -> Workload | None:
        """The Workload of a Job or of a parent."""
        return self.by_owner.get((namespace, uid))

    def standing(self, workload: Workload | None, queue: str | None) -> Standing:
        """Where it stands with Kueue: queued, evicted or admitted."""
        if workload is None:
            return Standing(State.QUEUED, message=NO_WORKLOAD, queue=queue)
        metadata = workload.metadata
        place = self.places.get((metadata.namespace, metadata.name))
        return replace(_standing(workload, place), queued=_queued(workload))


def indexed(workloads: Iterable[Workload], pending: Sequence[PendingWorkload] | None) -> Workloads:
    """Of several Workloads of one owner the newest counts, one that is not finished above all."""
    ordered = sorted(workloads, key=_importance)
    return Workloads(
        {(one.metadata.namespace, one.metadata.label(names.JOB_UID) or ""): one for one in ordered},
        {
            (one.metadata.namespace, one.metadata.name): Position(
                one.position_in_local_queue + 1, one.position_in_cluster_queue + 1
            )
            for one in pending or ()
        },
    )


def waits_in_queue(workload: Workload) -> bool:
    """Whether it has a place in its queue."""
    has_turn = workload.status.held("QuotaReserved", "Finished")
    return workload.is_active and has_turn is None


def flavors_of(workload: Workload | None, pod_set: str | None = None) -> dict[str, str]:
    """The flavor of each resource, of all pods or of those of one name."""
    admission = workload.status.admission if workload else None
    assignments = (admission and admission.pod_set_assignments) or ()
    return {
        resource: flavor
        for one in assignments
        if pod_set in {None, one.name}
        for resource, flavor in sorted((one.flavors or {}).items())
    }


def _importance(workload: Workload) -> tuple[bool, float]:
    created = workload.metadata.creation_timestamp
    return workload.status.held("Finished") is None, created.timestamp() if created else 0.0


def _standing(workload: Workload, place: Position | None) -> Standing:
    status = workload.status
    standing = Standing(
        State.QUEUED,
        queue=workload.spec.queue_name or None,
        cluster_queue=status.admission.cluster_queue if status.admission else None,
        flavors=flavors_of(workload),
    )
    if evicted := _eviction(workload):
        why = Eviction(evicted.reason, evicted.message, evicted.last_transition_time)
        return replace(_waiting(standing, workload, place), state=State.EVICTED, eviction=why)
    if admitted := status.held("Admitted"):
        elsewhere = f"in cluster {status.cluster_name}" if status.cluster_name else ""
        return replace(
            standing,
            state=State.ADMITTED,
            message=elsewhere,
            since=admitted.last_transition_time,
        )
    if reserved := status.held("QuotaReserved"):
        return replace(
            standing,
            reason=reserved.reason,
            message=_checks(workload),
            since=reserved.last_transition_time,
        )
    return _waiting(standing, workload, place)


def _waiting(standing: Standing, workload: Workload, place: Position | None) -> Standing:
    if not workload.is_active:
        return replace(standing, message=INACTIVE)
    refused, back = _refusal(workload), _not_back(workload)
    return replace(
        standing,
        reason=refused.reason,
        message="; ".join(filter(None, (refused.message, back))),
        since=None if back else _since(workload),
        position=place,
    )


def _refusal(workload: Workload) -> Condition:
    """Why it has no quota, empty where that is not said yet.

    Until Kueue has tried again after an eviction, the old condition stands, or repeats its words.
    """
    refused, evicted = workload.status.condition("QuotaReserved"), _eviction(workload)
    is_old = refused and (refused.is_true or (evicted and refused.message == evicted.message))
    return Condition() if refused is None or is_old else refused


def _not_back(workload: Workload) -> str:
    """That Kueue keeps it out of the queue, and until when; empty while it is in there."""
    back, again = workload.status.condition("Requeued"), workload.status.requeue_state
    if back is None or back.is_true:
        return ""
    until = f" before {again.requeue_at:%H:%M:%SZ}" if again and again.requeue_at else " yet"
    return f"{NOT_BACK}{until}"


def _checks(workload: Workload) -> str:
    lacking = [
        f"{check.name} ({check.message or check.state})"
        for check in workload.status.admission_checks or ()
        if check.state != CHECKED
    ]
    return f"quota reserved, waits for admission check {', '.join(lacking)}" if lacking else ""


def _eviction(workload: Workload) -> Condition | None:
    """The eviction that the Workload has not recovered from.

    One by deactivation stays in the status after the Workload is active again, as after a pause.
    """
    evicted = workload.status.held("Evicted")
    is_over = evicted and evicted.reason.startswith(DEACTIVATED) and workload.is_active
    return None if is_over else evicted


def _since(workload: Workload) -> datetime | None:
    """Since when it is in the queue: its last coming back, else since it was made."""
    back = (_eviction(workload), workload.status.held("Requeued"))
    moments = (one.last_transition_time for one in back if one)
    return max(filter(None, moments), default=workload.metadata.creation_timestamp)


def _queued(workload: Workload) -> Span | None:
    """Time without admission; what was admitted before is Kueue's own sum."""
    created, status = workload.metadata.creation_timestamp, workload.status
    if created is None:
        return None
    before = status.accumulated_past_execution_time_seconds or 0
    end = status.held("Admitted", "Finished")
    if admitted := status.held("Admitted"):
        end = admitted
    if end is None or end.last_transition_time is None:
        return Span(-before, created)
    return Span(max(0, int((end.last_transition_time - created).total_seconds()) - before))

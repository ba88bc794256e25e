"""No Pod of a step without its admission. Pure.

The watches of Pods and of Workloads are not in step with each other. So a Pod is judged by the
times that the objects carry, once its admission has been seen, or when the watch of Workloads has
had time enough to show it.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime

from localcluster.invariants.known import Known
from localcluster.invariants.views import Job, Pod, Workload
from localcluster.invariants.violation import Invariant, Violation, clock, violation

SKEW_SECONDS = 2.0
STOP_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Turn:
    """From this time on a step was admitted, or was not."""

    is_admitted: bool
    since: datetime


class Admission:
    """Judges each Pod once when it appears, and again when its admission is gone."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._turns: dict[str, list[Turn]] = defaultdict(list)
        self._seen: set[str] = set()
        self._undecided: dict[str, tuple[Pod, float]] = {}
        self._unwanted: dict[str, float] = {}

    def pod(self, pod: Pod, at: float, *, from_before: bool) -> None:
        """A Pod was made or changed; one from before the watch is not asked when it was made."""
        if pod.uid not in self._seen:
            self._seen.add(pod.uid)
            if not from_before:
                self._undecided[pod.uid] = (pod, at)

    def workload(self, workload: Workload) -> None:
        """A Workload was made or changed."""
        turns = self._turns[workload.owner]
        if workload.since:
            turn = Turn(workload.is_admitted, workload.since)
            if turn not in turns[-1:]:
                turns.append(turn)

    def workload_gone(self, workload: Workload) -> None:
        """A Workload was deleted, and with it the admission."""
        if workload.is_admitted and workload.deleted:
            self._turns[workload.owner].append(Turn(False, workload.deleted))

    def restart(self, at: float) -> None:
        """Nothing was seen for a while: all patience begins anew."""
        self._undecided = {uid: (pod, at) for uid, (pod, _) in self._undecided.items()}
        self._unwanted.clear()

    def is_undecided(self, namespaces: Collection[str]) -> bool:
        """May a Pod of these namespaces yet turn out to have come too early?"""
        return any(
            pod.namespace in namespaces and self._known.stepped(pod)
            for pod, _ in self._undecided.values()
        )

    def check(self, at: float) -> Iterator[tuple[str, Violation]]:
        """What is known to be wrong by now, with the uid of the Job."""
        yield from self._came_early(at)
        yield from self._stayed(at)

    def _came_early(self, at: float) -> Iterator[tuple[str, Violation]]:
        for uid, (pod, seen) in list(self._undecided.items()):
            job = self._known.stepped(pod)
            if job is None:
                # Not a step's, or its Job will be told of at once.
                if at - seen > SKEW_SECONDS:
                    del self._undecided[uid]
            elif _was_admitted(self._turns[job.uid], pod.created):
                del self._undecided[uid]
            elif at - seen > SKEW_SECONDS:
                del self._undecided[uid]
                yield job.uid, self._early(pod, job)

    def _stayed(self, at: float) -> Iterator[tuple[str, Violation]]:
        unwanted = {pod.uid: (pod, job) for pod, job in self._running_unadmitted()}
        self._unwanted = {uid: self._unwanted.get(uid, at) for uid in unwanted}
        for uid, since in self._unwanted.items():
            if at - since > STOP_SECONDS:
                pod, job = unwanted[uid]
                yield job.uid, self._late(pod, job, at - since)

    def _running_unadmitted(self) -> Iterator[tuple[Pod, Job]]:
        for pod in self._known.pods.values():
            if pod.is_active and (job := self._known.stepped(pod)):
                workload = self._known.workloads.get(job.uid)
                if workload is None or not workload.is_admitted:
                    yield pod, job

    def _early(self, pod: Pod, job: Job) -> Violation:
        turns = ", ".join(
            f"{'admitted' if turn.is_admitted else 'not admitted'} from {clock(turn.since)}"
            for turn in self._turns[job.uid][-4:]
        )
        return violation(
            Invariant.ADMISSION,
            pod.namespace,
            f"Pod {pod.name} of Job {job.name} was made at {clock(pod.created)} without an "
            f"admission by Kueue ({turns or 'never admitted'})",
        )

    def _late(self, pod: Pod, job: Job, seconds: float) -> Violation:
        turns = self._turns[job.uid]
        return violation(
            Invariant.ADMISSION,
            pod.namespace,
            f"Pod {pod.name} of Job {job.name}, made at {clock(pod.created)}, goes on for "
            f"{seconds:.1f} s without an admission by Kueue (not admitted from "
            f"{clock(turns[-1].since if turns else None)})",
        )


def _was_admitted(turns: list[Turn], moment: datetime) -> bool:
    """In doubt yes: times are whole seconds."""
    ends = [turn.since for turn in turns[1:]] + [None]
    return any(
        turn.is_admitted and turn.since <= moment and (end is None or moment <= end)
        for turn, end in zip(turns, ends, strict=False)
    )

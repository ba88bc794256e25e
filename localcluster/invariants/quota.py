"""Never more GPUs in use than the quota. Pure.

The watch of Pods alone tells what ran at the same time, and in which order. Kueue gives quota on as
soon as a Job has no active Pods, so a Pod that is asked to end does not count any more.
"""

from collections.abc import Iterator

from localcluster.invariants.admission import SKEW_SECONDS
from localcluster.invariants.known import Known
from localcluster.invariants.views import Pod
from localcluster.invariants.violation import Invariant, Violation, clock

# From an admission to the running Pod, on a busy machine.
START_SECONDS = 10.0


class Quota:
    """At each start of a GPU Pod notes what runs, and counts when its owners are known."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._running: dict[str, tuple[Pod, float]] = {}
        self._uncounted: list[tuple[float, Pod, list[tuple[Pod, float]]]] = []

    def pod(self, pod: Pod, at: float) -> None:
        """A Pod was made or changed."""
        if pod.phase != "Running" or pod.is_terminating or not pod.gpus:
            self._running.pop(pod.uid, None)
        elif pod.uid not in self._running:
            self._running[pod.uid] = (pod, at)
            self._uncounted.append((at, pod, list(self._running.values())))

    def pod_gone(self, uid: str) -> None:
        """A Pod was deleted."""
        self._running.pop(uid, None)

    def restart(self, at: float) -> None:
        """Nothing was seen for a while: all patience begins anew."""
        self._uncounted = [(at, pod, running) for _, pod, running in self._uncounted]

    def check(self, at: float) -> Iterator[tuple[str, Violation]]:
        """What is known to be too much by now, with the name of the group of ClusterQueues."""
        while self._uncounted and at - self._uncounted[0][0] > SKEW_SECONDS:
            _, started, running = self._uncounted.pop(0)
            if group := self._known.group_of(started):
                yield from self._count(group, started, running)

    def _count(
        self, group: str, started: Pod, running: list[tuple[Pod, float]]
    ) -> Iterator[tuple[str, Violation]]:
        counted = [(pod, at) for pod, at in running if self._known.group_of(pod) == group]
        used = sum(pod.gpus for pod, _ in counted)
        # A quota that was lowered meanwhile does not end what was admitted before.
        quota = self._known.most_gpus(group, min(at for _, at in counted) - START_SECONDS)
        if used > quota:
            names = ", ".join(f"{pod.namespace}/{pod.name} {pod.gpus}" for pod, _ in counted)
            sentence = (
                f"{started.namespace}: ClusterQueue {group} has a quota of {quota} GPUs and {used} "
                f"in use since Pod {started.name}, made at {clock(started.created)}, runs: {names}"
            )
            namespaces = frozenset(pod.namespace for pod, _ in counted)
            yield group, Violation(Invariant.QUOTA, namespaces, sentence)

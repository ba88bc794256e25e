"""A held Job rests: it is not stored again and again, and nobody tries to for ever. Pure.

What is stored is counted for one hold: until the Job controller has seen a stop, Kueue takes up to
twenty writes to restore the pod template (v0.19.2, of any Job with a flavor: each second one is
refused as "field is immutable", and the one before stores and removes its stopping annotation).
JobSet tries at each event of the JobSet, of its Jobs or its Pods, and what stores nothing makes no
event: all together at most 35 writes a minute were seen, in tests that evict and pause all the
time. A fight is dozens a second.
"""

from collections import defaultdict, deque
from collections.abc import Iterator

from localcluster.audit import Event
from localcluster.invariants.known import Known
from localcluster.invariants.views import Job
from localcluster.invariants.violation import Invariant, Violation, violation

WINDOW_SECONDS = 60.0
MOST_VERSIONS = 30
MOST_WRITES = 240


class Writes:
    """Counts by Job over the last minute."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._versions: dict[str, deque[float]] = defaultdict(deque)
        self._writes: dict[tuple[str, str], deque[float]] = defaultdict(deque)
        self._found: list[tuple[str, Violation]] = []

    def job(self, old: Job | None, new: Job, at: float) -> None:
        """A Job was made or changed."""
        if not new.is_held:
            self._versions.pop(new.uid, None)
        elif old and old.is_held and new.version != old.version:
            count = _counted(self._versions[new.uid], at)
            if count > MOST_VERSIONS:
                self._note(new, f"was stored {count} times", MOST_VERSIONS)

    def job_gone(self, job: Job) -> None:
        """A Job was deleted: one of its name starts anew."""
        self._versions.pop(job.uid, None)
        self._writes.pop((job.namespace, job.name), None)

    def audited(self, event: Event, at: float) -> None:
        """A write was answered, whatever it stored."""
        if event.resource != "jobs" or event.subresource or event.verb not in {"update", "patch"}:
            return
        count = _counted(self._writes[event.namespace, event.name], at)
        if count > MOST_WRITES and (job := self._step(event.namespace, event.name)):
            self._note(job, f"was written {count} times", MOST_WRITES, f", last by {event.user}")

    def check(self, _at: float) -> Iterator[tuple[str, Violation]]:
        """What was found since the last time, with the uid of the Job."""
        found, self._found = self._found, []
        yield from found

    def _note(self, job: Job, what: str, most: int, who: str = "") -> None:
        sentence = f"Job {job.name} {what} within {WINDOW_SECONDS:.0f} s (at most {most}){who}"
        self._found.append((job.uid, violation(Invariant.WRITES, job.namespace, sentence)))

    def _step(self, namespace: str, name: str) -> Job | None:
        return next(
            (
                job
                for job in self._known.jobs.values()
                if job.is_stepped and (job.namespace, job.name) == (namespace, name)
            ),
            None,
        )


def _counted(times: deque[float], at: float) -> int:
    times.append(at)
    while at - times[0] > WINDOW_SECONDS:
        times.popleft()
    return len(times)

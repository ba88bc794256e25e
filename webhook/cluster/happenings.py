"""Which Events are due on a parent, from what is known of its Jobs, JobSet and Workloads.

Pure: the time is passed in. Every replica finds the same Events under the same names, whatever
it saw first: a name follows from who it is about, what happened and when that was, as the object
itself tells it.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from webhook.cluster import notes
from webhook.cluster.known import Known
from webhook.cluster.views import Job, JobSet, Kept, Parent, Turn, Workload
from webhook.rules.family import is_step
from webhook.rules.reasons import EventReason

LONGEST_AGE: Final = timedelta(minutes=10)
"""What is older is not told: API servers forget Events after an hour, and a restart would repeat
those that they have forgotten."""

PATIENCE: Final = timedelta(seconds=3)
"""How long Kueue is given to say why a step waits, before it is told without a reason."""

UNTOLD: Final = frozenset({"PendingEvaluation"})
"""Reasons of Kueue that only say that it has not looked yet."""

DEACTIVATED: Final = "Deactivated"
LONGEST_NAME: Final = 253
ORDER: Final = tuple(EventReason)


class Key(Kept, frozen=True):
    """What makes a happening one of its own among those of one Job or JobSet."""

    reason: EventReason
    about: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Happening:
    """An Event: `about` is the uid of the Job, Workload or JobSet, `born` when that step began."""

    reason: EventReason
    parent: Parent
    about: str
    born: datetime
    at: datetime
    note: str

    @property
    def key(self) -> Key:
        """What is remembered of it once it is told."""
        return Key(self.reason, self.about, self.at)

    @property
    def name(self) -> str:
        """The Event's name.

        It sorts by time, since kubectl sorts by whole seconds only: within one, what happened to
        the earlier step comes first, a pause last and its end first.
        """
        content = f"{self.parent.uid}/{self.about}/{self.reason}/{self.at.isoformat()}"
        digest = hashlib.sha256(content.encode()).hexdigest()[:12]
        moments = "".join(f"{int(one.timestamp()):08x}" for one in (self.at, self.born))
        end = f".{moments}{ORDER.index(self.reason)}{digest}"
        return self.parent.name[: LONGEST_NAME - len(end)].rstrip(".-") + end


@dataclass(slots=True)
class Happenings:
    """What is due, each once."""

    known: Known
    _told: dict[str, tuple[Key, ...]] = field(default_factory=dict)

    def due(self, uid: str, now: datetime) -> list[Happening]:
        """The Events of one Job with its Workload, or of one JobSet, that were not told yet."""
        current = {
            happening.key: happening
            for happening in self._all(uid, now)
            if now - happening.at < LONGEST_AGE
        }
        # What is due no longer will not be due again, or is too old then.
        if told := tuple(key for key in self._told.pop(uid, ()) if key in current):
            self._told[uid] = told
        return [happening for key, happening in current.items() if key not in told]

    def tell(self, uid: str, happening: Happening) -> None:
        """One that was due for this uid is told: it is not due again."""
        self._told[uid] = (*self._told.get(uid, ()), happening.key)

    def patience(self, uid: str, now: datetime) -> timedelta | None:
        """How long Kueue may still say why a step waits; None if nothing is waited for.

        A clock that is behind Kueue's makes that longer than `PATIENCE`.
        """
        workload = self.known.workload_of(uid)
        if workload is None or workload.since is None or _is_settled(workload, now):
            return None
        return PATIENCE - (now - workload.since)

    def _all(self, uid: str, now: datetime) -> Iterator[Happening]:
        if jobset := self.known.jobsets.get(uid):
            yield from _of_jobset(jobset, uid)
        job = self.known.jobs.get(uid)
        jobset = self.known.jobset_of(job) if job else None
        if job is None or jobset is None or not _is_step(job, jobset):
            return
        yield from _of_job(job, jobset, uid)
        if workload := self.known.workload_of(uid):
            yield from _of_workload(workload, job, jobset, now)


def _of_jobset(jobset: JobSet, uid: str) -> Iterator[Happening]:
    parent, turn = jobset.parent, jobset.turned
    if parent and turn:
        reason = EventReason.PAUSED if turn.is_true else EventReason.RESUMED
        note = notes.paused(parent) if turn.is_true else notes.resumed(parent)
        born = turn.at if turn.is_true else jobset.created
        yield Happening(reason, parent, uid, born, turn.at, note)


def _of_job(job: Job, jobset: JobSet, uid: str) -> Iterator[Happening]:
    if (parent := jobset.parent) is None:
        return
    step = notes.step(job, jobset.steps[job.step])
    if turn := _true(job.complete):
        note = notes.finished(step, turn.at - job.started if job.started else None)
        yield Happening(EventReason.STEP_FINISHED, parent, uid, job.created, turn.at, note)
    if turn := _true(job.failed):
        note = notes.failed(step, turn)
        yield Happening(EventReason.STEP_FAILED, parent, uid, job.created, turn.at, note)


def _of_workload(
    workload: Workload, job: Job, jobset: JobSet, now: datetime
) -> Iterator[Happening]:
    if (parent := jobset.parent) is None:
        return
    step, since = notes.step(job, jobset.steps[job.step]), workload.since
    is_paused = not workload.active or job.marked or jobset.suspended
    if since and not is_paused and _is_settled(workload, now):
        note = notes.queued(step, workload.queue, _why(workload))
        yield Happening(EventReason.STEP_QUEUED, parent, workload.uid, job.created, since, note)
    if turn := _true(workload.admitted):
        note = notes.admitted(step, workload.grant, turn.at - since if since else None)
        yield Happening(EventReason.STEP_ADMITTED, parent, workload.uid, job.created, turn.at, note)
    if (turn := _true(workload.evicted)) and not _is_of_a_pause(workload, turn):
        note = notes.evicted(step, turn)
        yield Happening(EventReason.STEP_EVICTED, parent, workload.uid, job.created, turn.at, note)


def _is_step(job: Job, jobset: JobSet) -> bool:
    """Whether the JobSet has such a Job."""
    return is_step(job.name, jobset.name, job.step, jobset.steps.get(job.step, 0))


def _is_settled(workload: Workload, now: datetime) -> bool:
    """Whether it is known if the step waits and why, or it can't be waited for any longer."""
    if workload.since is None or _true(workload.reserved) or _why(workload):
        return True
    return now - workload.since >= PATIENCE


def _why(workload: Workload) -> Turn | None:
    """What Kueue says of a step that waits; right after an eviction it only repeats that."""
    turn = workload.reserved
    if turn is None or turn.is_true or turn.reason in UNTOLD:
        return None
    repeats = workload.evicted is not None and turn.message == workload.evicted.message
    return None if repeats else turn


def _is_of_a_pause(workload: Workload, turn: Turn) -> bool:
    """Whether the companion itself has made the Workload inactive: that is told as `Paused`."""
    return turn.reason == DEACTIVATED and (workload.marked or workload.active)


def _true(turn: Turn | None) -> Turn | None:
    return turn if turn and turn.is_true else None

"""Which Workloads a pause concerns: what is known of Jobs, JobSets and Workloads, and what is due.

Pure: what was seen goes in, what is to be done comes out. A Job is paused while it carries our
mark (its JobSet stopped it) or its JobSet is suspended (it was not started yet). The Workload of
a paused Job is to be inactive, with an annotation that says that it was us; only such a Workload
is made active again.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

from webhook.cluster.changes import Change, Item, Listed
from webhook.rules import names

K = TypeVar("K")
T = TypeVar("T")


class Action(StrEnum):
    """What is to be done with a Workload."""

    DEACTIVATE = "deactivate"
    ACTIVATE = "activate"


@dataclass(frozen=True, slots=True)
class Job:
    """A step's Job: where it is, whether it carries the mark, and the uid of its JobSet."""

    namespace: str
    marked: bool
    jobset: str


@dataclass(frozen=True, slots=True)
class Workload:
    """A Job's Workload, and whether it carries our annotation."""

    namespace: str
    name: str
    marked: bool


@dataclass(slots=True)
class Pauses:
    """Everything that is known, by uid. Each `see` tells the uids of Jobs to look at again.

    A Workload names its Job's uid in a label, which anybody may write who may make Workloads: so
    it counts in its own namespace only.
    """

    jobs: dict[str, Job] = field(default_factory=dict)
    suspended: dict[str, bool] = field(default_factory=dict)
    workloads: dict[tuple[str, str], Workload] = field(default_factory=dict)
    _of_jobset: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def see_jobs(self, change: Change) -> set[str]:
        """Jobs with our label were listed, or one changed."""
        if isinstance(change, Listed):
            self.jobs.clear()
            self._of_jobset.clear()
        seen = set[str]()
        for uid, item, deleted in _each(change):
            owner = item.metadata.controller
            job = Job(
                item.metadata.namespace,
                item.metadata.annotation(names.PAUSED) is not None,
                owner.uid if owner else "",
            )
            _put(self.jobs, uid, None if deleted else job)
            relation = self._of_jobset[job.jobset]
            (relation.discard if deleted else relation.add)(uid)
            seen.add(uid)
        return seen

    def see_jobsets(self, change: Change) -> set[str]:
        """JobSets with our label were listed, or one changed."""
        if isinstance(change, Listed):
            self.suspended.clear()
        seen = set[str]()
        for uid, item, deleted in _each(change):
            suspended = bool(item.spec and item.spec.suspend)
            _put(self.suspended, uid, None if deleted else suspended)
            seen |= self._of_jobset.get(uid, set())
        return seen

    def see_workloads(self, change: Change) -> set[str]:
        """Workloads of Jobs were listed, or one changed."""
        if isinstance(change, Listed):
            self.workloads.clear()
        seen = set[str]()
        for _, item, deleted in _each(change):
            metadata = item.metadata
            marked = metadata.annotation(names.PAUSED) is not None
            workload = Workload(metadata.namespace, metadata.name, marked)
            uid = metadata.label(names.JOB_UID) or ""
            _put(self.workloads, (metadata.namespace, uid), None if deleted else workload)
            seen.add(uid)
        return seen

    def due(self, uid: str) -> tuple[Action, Workload] | None:
        """What is to be done for one Job now."""
        job = self.jobs.get(uid)
        workload = self.workloads.get((job.namespace, uid)) if job else None
        if job is None or workload is None:
            return None
        suspended = self.suspended.get(job.jobset)
        if job.marked or suspended:
            return None if workload.marked else (Action.DEACTIVATE, workload)
        if workload.marked and suspended is not None:
            return Action.ACTIVATE, workload
        return None


def still_applies(action: Action, stored: Mapping[str, Any]) -> bool:
    """Whether a Workload as it is now still wants what was due when it was seen.

    What a person made inactive, that person alone makes active again.
    """
    is_ours = names.PAUSED in (stored["metadata"].get("annotations") or {})
    if action is Action.ACTIVATE:
        return is_ours
    return not is_ours and stored["spec"].get("active", True) and not _is_finished(stored)


def _is_finished(workload: Mapping[str, Any]) -> bool:
    conditions = (workload.get("status") or {}).get("conditions") or []
    return any(c["type"] == "Finished" and c["status"] == "True" for c in conditions)


def _each(change: Change) -> Iterator[tuple[str, Item, bool]]:
    if isinstance(change, Listed):
        items: Iterable[tuple[Item, bool]] = ((item, False) for item in change.items)
    else:
        items = ((change.item, change.deleted),)
    for item, deleted in items:
        yield item.metadata.uid, item, deleted


def _put(known: dict[K, T], key: K, value: T | None) -> None:
    if value is None:
        known.pop(key, None)
    else:
        known[key] = value

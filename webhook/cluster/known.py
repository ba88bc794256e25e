"""What is known of Jobs, JobSets and Workloads, by uid: what was seen goes in.

Pure. Who judges it (`pauses`, `happenings`) is told which uids to look at again.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from webhook.cluster import views
from webhook.cluster.changes import Change, Listed
from webhook.cluster.items import Item
from webhook.cluster.views import Job, JobSet, Workload

K = TypeVar("K")
T = TypeVar("T")


@dataclass(slots=True)
class Known:
    """Everything that is known. Each `see` tells the uids of Jobs and JobSets to look at again.

    Those that are gone are among them. An owner's uid may be written by whoever makes Jobs or
    Workloads: so it counts in its own namespace only.
    """

    jobs: dict[str, Job] = field(default_factory=dict)
    jobsets: dict[str, JobSet] = field(default_factory=dict)
    workloads: dict[tuple[str, str], Workload] = field(default_factory=dict)
    _of_jobset: dict[str, set[str]] = field(default_factory=dict)

    def see_jobs(self, change: Change) -> set[str]:
        """Jobs with our label were listed, or one changed."""
        seen = set[str]()
        if isinstance(change, Listed):
            seen.update(self.jobs)
            self.jobs.clear()
            self._of_jobset.clear()
        for item, deleted in _each(change):
            uid = item.metadata.uid
            self._put_job(uid, None if deleted else views.job(item))
            seen.add(uid)
        return seen

    def see_jobsets(self, change: Change) -> set[str]:
        """JobSets with our label were listed, or one changed."""
        seen = set[str]()
        if isinstance(change, Listed):
            seen.update(self.jobsets)
            self.jobsets.clear()
        for item, deleted in _each(change):
            uid = item.metadata.uid
            _put(self.jobsets, uid, None if deleted else views.jobset(item))
            seen |= {uid} | self._of_jobset.get(uid, set())
        return seen

    def see_workloads(self, change: Change) -> set[str]:
        """Workloads of Jobs were listed, or one changed."""
        before = self.workloads
        if isinstance(change, Listed):
            self.workloads = {}
        seen = set[str]()
        for item, deleted in _each(change):
            uid = views.job_uid(item)
            place = (item.metadata.namespace, uid)
            known = before.get(place)
            is_same = known is not None and known.uid == item.metadata.uid
            if not uid or (deleted and not is_same):
                continue
            new = None if deleted else views.workload(item, known if is_same else None)
            _put(self.workloads, place, new)
            seen.add(uid)
        return seen

    def jobset_of(self, job: Job) -> JobSet | None:
        """The JobSet that controls a Job, if it is known and in the Job's namespace."""
        jobset = self.jobsets.get(job.jobset)
        return jobset if jobset and jobset.namespace == job.namespace else None

    def workload_of(self, uid: str) -> Workload | None:
        """The Workload of a Job in its namespace, if both are known."""
        job = self.jobs.get(uid)
        return self.workloads.get((job.namespace, uid)) if job else None

    def _put_job(self, uid: str, job: Job | None) -> None:
        before = self.jobs.get(uid)
        if before and (siblings := self._of_jobset.get(before.jobset)):
            siblings.discard(uid)
            if not siblings:
                del self._of_jobset[before.jobset]
        if job:
            self._of_jobset.setdefault(job.jobset, set()).add(uid)
        _put(self.jobs, uid, job)


def _each(change: Change) -> Iterator[tuple[Item, bool]]:
    if isinstance(change, Listed):
        items: Iterable[tuple[Item, bool]] = ((item, False) for item in change.items)
    else:
        items = ((change.item, change.deleted),)
    yield from items


def _put(known: dict[K, T], key: K, value: T | None) -> None:
    if value is None:
        known.pop(key, None)
    else:
        known[key] = value

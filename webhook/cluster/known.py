"""What is known of Jobs, JobSets and Workloads, by uid: what was seen goes in.

Pure. Who judges it (`pauses`, `happenings`) is told which uids to look at again.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from sys import intern

from webhook.cluster import views
from webhook.cluster.changes import Begun, Change, Changed, Ended
from webhook.cluster.views import Job, JobSet, Workload


@dataclass(slots=True)
class Listing:
    """Of what was known when a list began, the uids that it has not told again yet."""

    _rest: set[str] = field(default_factory=set)

    def gone(self, change: Change, known: Iterable[str]) -> set[str]:
        """What is gone, now that this was seen."""
        if isinstance(change, Changed):
            uid = change.item.metadata.uid
            self._rest.discard(uid)
            return {uid} if change.deleted else set()
        gone = self._rest if isinstance(change, Ended) else set[str]()
        self._rest = set(known) if isinstance(change, Begun) else set()
        return gone


@dataclass(slots=True)
class Known:
    """Everything that is known. Each `see` tells the uids of Jobs and JobSets to look at again.

    Those that are gone are among them. An owner's uid may be written by whoever makes Jobs or
    Workloads: so it counts in its own namespace only.
    """

    jobs: dict[str, Job] = field(default_factory=dict)
    jobsets: dict[str, JobSet] = field(default_factory=dict)
    workloads: dict[str, tuple[Workload, ...]] = field(default_factory=dict)
    """By the uid of the Job that they say is theirs, the one that counts first."""

    _of_jobset: dict[str, set[str]] = field(default_factory=dict)
    _listing_jobs: Listing = field(default_factory=Listing)
    _listing_jobsets: Listing = field(default_factory=Listing)
    _listing_workloads: Listing = field(default_factory=Listing)

    def see_jobs(self, change: Change) -> set[str]:
        """Jobs with our label are listed, or one changed."""
        gone = self._listing_jobs.gone(change, self.jobs)
        for uid in gone:
            self._put_job(uid, None)
        if gone or not isinstance(change, Changed):
            return gone
        uid = change.item.metadata.uid
        self._put_job(uid, views.job(change.item))
        return {uid}

    def see_jobsets(self, change: Change) -> set[str]:
        """JobSets with our label are listed, or one changed."""
        gone = self._listing_jobsets.gone(change, self.jobsets)
        for uid in gone:
            self.jobsets.pop(uid, None)
        seen = gone
        if isinstance(change, Changed) and not change.deleted:
            uid = intern(change.item.metadata.uid)
            self.jobsets[uid] = views.jobset(change.item)
            seen = {uid}
        return seen.union(*(self._of_jobset.get(uid, ()) for uid in seen))

    def see_workloads(self, change: Change) -> set[str]:
        """Workloads of Jobs are listed, or one changed."""
        all_of_them = (one.uid for group in self.workloads.values() for one in group)
        gone = self._listing_workloads.gone(change, all_of_them)
        if isinstance(change, Changed):
            return self._see_workload(change)
        return self._drop_workloads(gone) if gone else gone

    def jobset_of(self, job: Job) -> JobSet | None:
        """The JobSet that controls a Job, if it is known and in the Job's namespace."""
        jobset = self.jobsets.get(job.jobset)
        return jobset if jobset and jobset.namespace == job.namespace else None

    def workload_of(self, uid: str) -> Workload | None:
        """The Workload of a Job in its namespace, if both are known."""
        if (job := self.jobs.get(uid)) is None:
            return None
        group = self.workloads.get(uid, ())
        return next((one for one in group if one.namespace == job.namespace), None)

    def _put_job(self, uid: str, job: Job | None) -> None:
        before = self.jobs.pop(uid, None)
        if before and (siblings := self._of_jobset.get(before.jobset)):
            siblings.discard(uid)
            if not siblings:
                del self._of_jobset[before.jobset]
        if job:
            self._of_jobset.setdefault(job.jobset, set()).add(uid)
            self.jobs[uid] = job

    def _see_workload(self, change: Changed) -> set[str]:
        """Most Workloads of a cluster are of other Jobs; those are not kept.

        A step's may be seen before its Job. Its pods carry JobSet's labels, as Kueue copies them.
        """
        item, uid = change.item, views.job_uid(change.item)
        place = item.metadata.namespace, item.metadata.uid
        before, others = None, []
        for one in self.workloads.get(uid, ()):
            if (one.namespace, one.uid) == place:
                before = one
            else:
                others.append(one)
        may_be_ours = uid in self.jobs or item.has_pods_of_a_jobset
        if not uid or (before is None and (change.deleted or not may_be_ours)):
            return set()
        new = () if change.deleted else (views.workload(item, before),)
        self._put_workloads(uid, (*new, *others))
        return {uid}

    def _drop_workloads(self, gone: set[str]) -> set[str]:
        bereft = {
            uid
            for uid, group in self.workloads.items()
            if not gone.isdisjoint(one.uid for one in group)
        }
        for uid in bereft:
            self._put_workloads(uid, (one for one in self.workloads[uid] if one.uid not in gone))
        return bereft

    def _put_workloads(self, uid: str, group: Iterable[Workload]) -> None:
        if left := sorted(group, key=attrgetter("rank"), reverse=True):
            self.workloads[uid] = tuple(left)
        else:
            self.workloads.pop(uid, None)

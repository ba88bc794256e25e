"""Reads what the tree is made of, with the rights of whoever asks: lists only, nothing is written.

A kind that the cluster does not have is no error. One that may not be read is, but for Kueue's
visibility API: then no positions are told, and once it is said why.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeVar

import msgspec

from webhook.cluster.listing import Listing, Unread
from webhook.rules import names
from webhook.steps.decoding import decoded
from webhook.steps.objects import Job, ParentObject, Seen, Workload
from webhook.steps.places import RIGHTS, Pending, places, queues_of

T = TypeVar("T")

NO_KUEUE: Final = "this cluster has no Kueue"
UIDS_AT_ONCE: Final = 100
"""More of them make too long a URL: then all Workloads of the namespace are read."""

List = Callable[[Listing], Awaitable[list[msgspec.Raw] | None]]


class Unknown(Exception):
    """What was asked for is not there, or can't be seen; the message says why."""


class Refused(Exception):
    """A right is missing; the message names it and says where the rights are written down."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What to read: a namespace, or all where it is empty; and of it one name, or all.

    `is_cached` is whether it may lag behind a little.
    """

    namespace: str
    name: str = ""
    is_cached: bool = False

    @property
    def trainjobs(self) -> Listing:
        """The TrainJobs."""
        return self._named(names.TRAINER_GROUP, names.TRAINER_VERSION, "trainjobs")

    @property
    def jobsets(self) -> Listing:
        """The JobSets."""
        return self._named(names.JOBSET_GROUP, names.JOBSET_VERSION, "jobsets")

    def _named(self, group: str, version: str, plural: str) -> Listing:
        fields = f"metadata.name={self.name}" if self.name else ""
        return self._listing(group, version, plural, fields=fields)

    @property
    def jobs(self) -> Listing:
        """The Jobs of JobSets; the JobSet of a TrainJob has its name."""
        labels = f"{names.JOBSET_NAME}={self.name}" if self.name else names.JOBSET_NAME
        return self._listing(names.BATCH_GROUP, "v1", "jobs", labels=labels)

    def workloads(self, seen: Seen) -> Listing:
        """The Workloads of what was seen."""
        group, version = names.KUEUE_GROUP, names.KUEUE_VERSION
        labels = _of(seen) if self.name else names.JOB_UID
        return self._listing(group, version, "workloads", labels=labels)

    def _listing(self, group: str, version: str, plural: str, **selectors: str) -> Listing:
        place, is_cached = self.namespace, self.is_cached
        return Listing(group, version, plural, place, is_cached=is_cached, **selectors)


@dataclass(frozen=True, slots=True)
class Cluster:
    """The two kinds of read: a list, and what waits in a LocalQueue.

    Both raise Unread, the second NoQueue too.
    """

    listed: List
    pending: Pending

    async def look(self, scope: Scope) -> tuple[Seen, tuple[str, ...]]:
        """What there is, and notes on what could not be seen. Raises Unread, Refused."""
        trainjobs = await self._read(scope.trainjobs)
        jobsets = await self._read(scope.jobsets)
        jobs = await self._read(scope.jobs)
        seen = Seen(
            trainjobs=_decoded(trainjobs, ParentObject),
            jobsets=_decoded(jobsets, ParentObject) or [],
            jobs=_decoded(jobs, Job) or [],
        )
        # Last, so that no Job is newer than what Kueue says of it.
        workloads = _decoded(await self._read(scope.workloads(seen)), Workload)
        if workloads is None:
            return seen, (NO_KUEUE,)
        found, notes = await places(self.pending, queues_of(workloads))
        return msgspec.structs.replace(seen, workloads=workloads, pending=found), notes

    async def _read(self, listing: Listing) -> list[msgspec.Raw] | None:
        try:
            return await self.listed(listing)
        except Unread as error:
            if error.is_refused:
                raise Refused(_refusal(listing)) from error
            raise


def _decoded(items: list[msgspec.Raw] | None, view: type[T]) -> list[T] | None:
    return None if items is None else decoded(items, view)


def _of(seen: Seen) -> str:
    kinds = (seen.trainjobs or (), seen.jobsets, seen.jobs)
    owners = [item.metadata.uid for kind in kinds for item in kind]
    if not 0 < len(owners) <= UIDS_AT_ONCE:
        return names.JOB_UID
    return f"{names.JOB_UID} in ({','.join(owners)})"


def _refusal(listing: Listing) -> str:
    place = f"in namespace {listing.namespace}" if listing.namespace else "in all namespaces"
    return (
        f"You may not list {listing.plural}.{listing.group} {place}. "
        f"Ask your administrator for the ClusterRole in {RIGHTS}, "
        "or name another namespace with -n."
    )

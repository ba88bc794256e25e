"""Reads what the tree is made of, with the rights of whoever asks: lists only, nothing is written.

A kind that the cluster does not have is no error. One that may not be read is, but for Kueue's
visibility API: then no positions are told, and once it is said why.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import msgspec

from webhook.cluster.listing import Listing, Unread
from webhook.rules import names
from webhook.steps.objects import (
    JOBSET_NAME,
    Job,
    ParentObject,
    PendingWorkload,
    Seen,
    Workload,
)
from webhook.steps.workloads import waits_in_queue

T = TypeVar("T")

RIGHTS: Final = "docs/how-to/steps.md"
NO_KUEUE: Final = "this cluster has no Kueue"
NO_POSITIONS: Final = "no positions in the queues are told"
NO_VISIBILITY: Final = f"{NO_POSITIONS}: Kueue's visibility API is not served"
NO_RIGHT: Final = (
    "you may not get localqueues/pendingworkloads.visibility.kueue.x-k8s.io "
    f"(the ClusterRole in {RIGHTS} lets you)"
)
UIDS_AT_ONCE: Final = 100
"""More of them make too long a URL: then all Workloads of the namespace are read."""

List = Callable[[Listing], Awaitable[list[msgspec.Raw] | None]]
Pending = Callable[[str, str], Awaitable[list[msgspec.Raw] | None]]


class Unknown(Exception):
    """What was asked for is not there, or can't be seen; the message says why."""


class Refused(Exception):
    """A right is missing; the message names it and says where the rights are written down."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What to read: a namespace, or all where it is empty; and of it one name, or all."""

    namespace: str
    name: str = ""

    def parents(self, group: str, version: str, plural: str) -> Listing:
        """TrainJobs or JobSets."""
        fields = f"metadata.name={self.name}" if self.name else ""
        return Listing(group, version, plural, self.namespace, fields=fields)

    @property
    def jobs(self) -> Listing:
        """The Jobs of JobSets; the JobSet of a TrainJob has its name."""
        labels = f"{JOBSET_NAME}={self.name}" if self.name else JOBSET_NAME
        return Listing(names.BATCH_GROUP, "v1", "jobs", self.namespace, labels=labels)

    def workloads(self, seen: Seen) -> Listing:
        """The Workloads of what was seen."""
        group, version = names.KUEUE_GROUP, names.KUEUE_VERSION
        labels = _of(seen) if self.name else names.JOB_UID
        return Listing(group, version, "workloads", self.namespace, labels=labels)


@dataclass(frozen=True, slots=True)
class Cluster:
    """The two kinds of read: a list, and what waits in a LocalQueue. Both raise Unread."""

    listed: List
    pending: Pending

    async def look(self, scope: Scope) -> tuple[Seen, tuple[str, ...]]:
        """What there is, and notes on what could not be seen. Raises Unread, Refused."""
        trainjobs = await self._read(scope.parents(names.TRAINER_GROUP, "v1alpha1", "trainjobs"))
        jobsets = await self._read(scope.parents(names.JOBSET_GROUP, "v1alpha2", "jobsets"))
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
        places, notes = await self._places(workloads)
        return msgspec.structs.replace(seen, workloads=workloads, pending=places), notes

    async def _read(self, listing: Listing) -> list[msgspec.Raw] | None:
        try:
            return await self.listed(listing)
        except Unread as error:
            if error.is_refused:
                raise Refused(_refusal(listing)) from error
            raise

    async def _places(
        self, workloads: Sequence[Workload]
    ) -> tuple[list[PendingWorkload] | None, tuple[str, ...]]:
        queues = {
            (one.metadata.namespace, one.spec.queue_name)
            for one in workloads
            if waits_in_queue(one) and one.spec.queue_name
        }
        found, is_served = list[PendingWorkload](), not queues
        for namespace, queue in sorted(queues):
            try:
                items = await self.pending(namespace, queue)
            except Unread as error:
                why = NO_RIGHT if error.is_refused else str(error)
                return None, (f"{NO_POSITIONS}: {why}",)
            is_served = is_served or items is not None
            found += _decoded(items, PendingWorkload) or []
        return (found, ()) if is_served else (None, (NO_VISIBILITY,))


def _decoded(items: list[msgspec.Raw] | None, view: type[T]) -> list[T] | None:
    if items is None:
        return None
    try:
        return [msgspec.json.decode(item, type=view) for item in items]
    except msgspec.MsgspecError as error:
        raise Unread(f"an object is of another shape than this version knows: {error}") from error


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

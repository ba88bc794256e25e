"""What is kept of Jobs, JobSets and Workloads once they were seen: made from the slim view.

Pure. An object is kept for as long as it exists, so it is kept small: of the conditions only those
stay that somebody asks for, messages only where they are read and cut, and what many objects have
in common is kept once. Nothing here refers to what refers to it, so the collector may skip it all.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from sys import intern
from typing import Final

import msgspec

from webhook.cluster.items import Item
from webhook.rules import names
from webhook.rules.family import is_of_trainjob

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
LONGEST_TEXT: Final = 600
"""Characters of a message that are kept; a note holds little more."""

READ: Final = frozenset({("QuotaReserved", False), ("Evicted", True), ("Failed", True)})
"""Whose message is read."""

SHARED: Final = 4096
"""Times, grants and lists of steps that are looked up before another of the same is made."""


class Kept(msgspec.Struct, frozen=True, gc=False):
    """What is kept of an object, or a part of it."""


class Turn(Kept, frozen=True):
    """When a condition became what it is, and why."""

    is_true: bool
    at: datetime
    reason: str = ""
    message: str = ""


class Parent(Kept, frozen=True):
    """The object that the user submitted."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str


class Grant(Kept, frozen=True):
    """Where a Workload was admitted; of each resource: quantity, name, flavor."""

    cluster_queue: str
    resources: tuple[tuple[str, str, str], ...] = ()


class Job(Kept, frozen=True):
    """A step's Job: whether it carries our mark, the uid of its JobSet, and how it ended."""

    namespace: str
    name: str
    marked: bool
    jobset: str
    step: str
    created: datetime = EPOCH
    started: datetime | None = None
    complete: Turn | None = None
    failed: Turn | None = None


class JobSet(Kept, frozen=True):
    """A stepped JobSet; `steps` are names and replicas. No parent if somebody else owns it."""

    namespace: str
    name: str
    suspended: bool
    steps: Mapping[str, int]
    parent: Parent | None = None
    created: datetime = EPOCH
    turned: Turn | None = None


class Workload(Kept, frozen=True):
    """A Job's Workload.

    `since` is when it began to wait for the quota that it waits for or has, None if that is not
    known or it may not wait: it is inactive, or Kueue has not put it back into its queue yet.
    """

    namespace: str
    name: str
    marked: bool
    uid: str = ""
    active: bool = True
    queue: str = ""
    created: datetime = EPOCH
    reserved: Turn | None = None
    admitted: Turn | None = None
    evicted: Turn | None = None
    grant: Grant | None = None
    since: datetime | None = None
    finished: bool = False

    @property
    def rank(self) -> tuple[bool, datetime, str]:
        """Of several Workloads of one Job, as elastic ones have, the highest counts."""
        return not self.finished, self.created, self.uid


def job(item: Item) -> Job:
    """A Job; one that no JobSet controls belongs to none."""
    metadata = item.metadata
    return Job(
        intern(metadata.namespace),
        metadata.name,
        metadata.annotation(names.PAUSED) is not None,
        intern(_controller(item, names.JOBSET_GROUP, "JobSet")),
        intern(metadata.label(names.REPLICATED_JOB) or ""),
        moment(metadata.creation_timestamp) or EPOCH,
        moment(item.status.start_time) if item.status else None,
        _turn(item, "Complete"),
        _turn(item, "Failed"),
    )


def jobset(item: Item) -> JobSet:
    """A JobSet."""
    spec, metadata = item.spec, item.metadata
    steps = ((one.name, one.replicas or 1) for one in (spec and spec.replicated_jobs) or ())
    return JobSet(
        intern(metadata.namespace),
        metadata.name,
        bool(spec and spec.suspend),
        _steps(*steps),
        _parent(item),
        moment(metadata.creation_timestamp) or EPOCH,
        _turn(item, "Suspended"),
    )


def workload(item: Item, before: Workload | None) -> Workload:
    """A Workload; `before` is what was known of it."""
    spec, metadata = item.spec, item.metadata
    created, reserved = moment(metadata.creation_timestamp) or EPOCH, _turn(item, "QuotaReserved")
    evicted, requeued, finished = (_turn(item, it) for it in ("Evicted", "Requeued", "Finished"))
    active = not (spec and spec.active is False)
    is_first = evicted is None and requeued is None
    since: datetime | None
    if reserved and reserved.is_true:
        since = before.since if before else created if is_first else None
    elif not active or (requeued and not requeued.is_true):
        since = None
    else:
        since = created if is_first else _latest(reserved, requeued)
    return Workload(
        intern(metadata.namespace),
        metadata.name,
        metadata.annotation(names.PAUSED) is not None,
        metadata.uid,
        active,
        intern((spec and spec.queue_name) or ""),
        created,
        reserved,
        _turn(item, "Admitted"),
        evicted,
        _grant(item),
        since,
        bool(finished and finished.is_true),
    )


def job_uid(item: Item) -> str:
    """The uid of the Job whose Workload this is, empty if no Job controls it.

    The label alone may be written by whoever makes Workloads, for any Job.
    """
    uid = item.metadata.label(names.JOB_UID) or ""
    return uid if uid == _controller(item, names.BATCH_GROUP, "Job") else ""


@lru_cache(SHARED)
def moment(text: str | None) -> datetime | None:
    """A time as the API server writes it, in UTC; None for anything else."""
    try:
        read = datetime.fromisoformat(text or "")
        return read.astimezone(UTC) if read.tzinfo else None
    except (ValueError, OverflowError):
        return None


def _controller(item: Item, group: str, kind: str) -> str:
    """The uid of the controller, if it is of this kind."""
    owner = item.metadata.controller
    return owner.uid if owner and owner.is_a(kind, group) else ""


def _parent(item: Item) -> Parent | None:
    """The TrainJob, or the JobSet itself if nobody owns it."""
    metadata, owner = item.metadata, item.metadata.controller
    if owner is None:
        version, kind, uid = f"{names.JOBSET_GROUP}/{names.JOBSET_VERSION}", "JobSet", metadata.uid
    elif is_of_trainjob(metadata):
        version, kind, uid = owner.api_version, owner.kind, owner.uid
    else:
        return None
    namespace = intern(metadata.namespace)
    return Parent(intern(version), intern(kind), namespace, metadata.name, uid)


def _turn(item: Item, kind: str) -> Turn | None:
    condition = item.condition(kind)
    at = moment(condition.last_transition_time) if condition else None
    if condition is None or at is None:
        return None
    is_true = condition.status == "True"
    message = (condition.message or "")[:LONGEST_TEXT] if (kind, is_true) in READ else ""
    return Turn(is_true, at, intern(condition.reason or ""), intern(message))


def _latest(*turns: Turn | None) -> datetime | None:
    return max((turn.at for turn in turns if turn), default=None)


def _grant(item: Item) -> Grant | None:
    admission = item.status and item.status.admission
    if not admission:
        return None
    resources = (
        (str(quantity), resource, (podset.flavors or {}).get(resource, ""))
        for podset in admission.pod_set_assignments or ()
        for resource, quantity in sorted((podset.resource_usage or {}).items())
    )
    return _shared_grant(admission.cluster_queue, *resources)


@lru_cache(SHARED)
def _shared_grant(cluster_queue: str, *resources: tuple[str, str, str]) -> Grant:
    return Grant(cluster_queue, resources)


@lru_cache(SHARED)
def _steps(*steps: tuple[str, int]) -> Mapping[str, int]:
    return dict(steps)

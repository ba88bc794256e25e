"""The TrainJobs that are stepped, as a watch tells: JobSets whose owner is known wait for no read.

A TrainJob is stepped for as long as it exists (rules/parents.py), so that one which was seen under
its uid need not be looked at again for that. The priority and the like that its steps inherit are
as old as the watch. What was not seen, or not yet, and what is too long to keep, the reader reads.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, Final, Protocol

import msgspec
from kubernetes.aio import client

from webhook.cluster.changes import Change, Changed, Changes, Kind
from webhook.cluster.items import ItemMetadata
from webhook.cluster.known import Listing
from webhook.rules import names, scope
from webhook.rules.facts import Found, Key
from webhook.rules.objects import Labels

TRAINJOBS: Final = Kind(
    names.TRAINER_GROUP,
    names.TRAINER_VERSION,
    "trainjobs",
    names.STEP_QUEUE,
    is_metadata=True,
    look_again=30.0,
)

LABELS: Final = (names.STEP_QUEUE, names.QUEUE, names.PRIORITY_CLASS, names.MAX_EXEC_TIME)
ANNOTATIONS: Final = (names.MODE, names.STEP_QUEUES)
"""Nothing else of an owner concerns its steps."""

LONGEST: Final = 2048
"""Bytes that are kept of one TrainJob: there may be thousands, and users choose what they hold."""

RETRY_SECONDS: Final = 1.0


class Witness(Protocol):
    """Told of what was met."""

    def companion_lost(self, what: str, why: str) -> None:
        """A watch was lost; it goes on by itself."""
        ...


class Owners:
    """What is known of stepped TrainJobs, by uid, as JSON."""

    def __init__(self) -> None:
        self._known: dict[str, bytes] = {}
        self._listing = Listing()

    async def follow(self, api: client.ApiClient, witness: Witness) -> None:
        """Learns until it is cancelled, and begins anew after a bug: reviews go on meanwhile."""

        def lost(why: str) -> None:
            witness.companion_lost(f"watch of {TRAINJOBS.plural}", why)

        while True:
            try:
                async for change in Changes(api, TRAINJOBS, lost).follow():
                    self.see(change)
            except Exception as error:  # noqa: BLE001 - no replica must end with a watch
                lost(repr(error))
                await asyncio.sleep(RETRY_SECONDS)

    def see(self, change: Change) -> None:
        """TrainJobs with our label are listed, or one changed."""
        for uid in self._listing.gone(change, self._known):
            self._known.pop(uid, None)
        if isinstance(change, Changed) and not change.deleted:
            metadata = change.item.metadata
            self._known.pop(metadata.uid, None)
            content = msgspec.json.encode({"metadata": _kept(metadata)})
            # That one is stepped stands; that it is not, as with an empty label, may change.
            if scope.is_stepped_parent(metadata) and len(content) <= LONGEST:
                self._known[metadata.uid] = content

    def find(self, key: Key) -> Found | None:
        """The metadata of a TrainJob with this uid, if it is known under this name."""
        if (content := self._known.get(key.uid)) is None:
            return None
        found: dict[str, Any] = msgspec.json.decode(content)
        place = found["metadata"]["namespace"], found["metadata"]["name"]
        return Found(found) if place == (key.namespace, key.name) else None


def _kept(metadata: ItemMetadata) -> Mapping[str, Any]:
    return {
        "namespace": metadata.namespace,
        "name": metadata.name,
        "uid": metadata.uid,
        "labels": _chosen(metadata.labels, LABELS),
        "annotations": _chosen(metadata.annotations, ANNOTATIONS),
    }


def _chosen(values: Labels, keys: tuple[str, ...]) -> dict[str, str]:
    return {key: values[key] for key in keys if key in values} if values else {}

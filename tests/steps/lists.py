"""A cluster of lists, which the command looks at."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tests.steps.made import Object, job, jobset, trainjob, workload
from webhook.cluster.listing import Listing, NoQueue, Unread
from webhook.steps.command import Wanted, looked
from webhook.steps.reading import Cluster, Scope
from webhook.steps.tree import Tree

SCOPE = Scope("team-a")
REFUSED = Unread("forbidden", is_refused=True)
GONE = Unread("the API server can't be reached: gone")


@dataclass
class Lists:
    """A cluster of lists; `kinds` are by plural, `queues` what waits in each LocalQueue."""

    kinds: Mapping[str, Any] = field(default_factory=dict)
    queues: Mapping[str, Any] = field(default_factory=dict)
    asked: list[Listing] = field(default_factory=list)

    async def listed(self, listing: Listing) -> list[msgspec.Raw] | None:
        self.asked.append(listing)
        return self._answer(self.kinds.get(listing.plural, []))

    async def pending(self, _namespace: str, queue: str) -> list[msgspec.Raw] | None:
        return self._answer(self.queues.get(queue))

    def _answer(self, said: Any) -> list[msgspec.Raw] | None:
        if isinstance(said, Unread | NoQueue):
            raise said
        return None if said is None else [msgspec.Raw(json.dumps(item).encode()) for item in said]

    def look(self, scope: Scope = SCOPE) -> tuple[Any, tuple[str, ...]]:
        return asyncio.run(Cluster(self.listed, self.pending).look(scope))

    def tree(self, wish: Wanted, **options: bool) -> Tree:
        return asyncio.run(looked(Cluster(self.listed, self.pending), wish, **options))


def queued() -> dict[str, list[Object]]:
    """A TrainJob whose step waits in queue `gpus`."""
    head = trainjob()
    its = jobset(owner=head)
    made = job(its, "data")
    return {"trainjobs": [head], "jobsets": [its], "jobs": [made], "workloads": [workload(made)]}


def data() -> Object:
    """The Job that waits."""
    return job(jobset(owner=trainjob()), "data")

"""Gives the quota of a paused step back, asks for it again when the pause ends, and tells of it.

A suspended JobSet stops its Jobs, and the webhook holds Kueue's starts of them; but Kueue would
keep their admission. So the companion makes the Workload of a paused Job inactive, and active
again. Every replica runs it: the patches are idempotent and carry the version that they were
decided on, so no leader is needed, and with no companion at all nothing unadmitted runs. What
happens to steps it records as Events on their parents.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Final, Protocol

from aiohttp import ClientError
from kubernetes.aio import client
from kubernetes.aio.client.exceptions import ApiException

from webhook.cluster import events
from webhook.cluster.changes import Change, Changes, Kind
from webhook.cluster.happenings import Happenings
from webhook.cluster.known import Known
from webhook.cluster.pace import Pace
from webhook.cluster.pauses import Action, due, still_applies
from webhook.cluster.teller import Teller
from webhook.cluster.views import Workload
from webhook.rules import names

JOBS: Final = Kind(names.BATCH_GROUP, "v1", "jobs", names.STEP_QUEUE)
JOBSETS: Final = Kind(names.JOBSET_GROUP, names.JOBSET_VERSION, "jobsets", names.STEP_QUEUE)
WORKLOADS: Final = Kind(names.KUEUE_GROUP, names.KUEUE_VERSION, "workloads", names.JOB_UID)

WRITE: Final = "write of a Workload"
RETRY_SECONDS: Final = 1.0
NOT_FOUND: Final = 404
CONFLICT: Final = 409


class Witness(events.Witness, Protocol):
    """Told of what the companion did and met."""

    def workload_switched(self, namespace: str, name: str, action: str) -> None:
        """A Workload was made inactive or active."""
        ...


class Companion:
    """Three watches, what is known from them, and the writers of Workloads and of Events."""

    def __init__(self, api: client.ApiClient, witness: Witness, instance: str) -> None:
        self._api = api
        self._objects = client.CustomObjectsApi(api)
        self._witness = witness
        self._known = Known()
        self._events = events.Events(api, instance, witness)
        later = asyncio.get_running_loop().call_later
        self._teller = Teller(Happenings(self._known), self._events, witness, later)
        self._waiting: asyncio.Queue[str] = asyncio.Queue()
        self._queued: set[str] = set()
        self._at_work: str | None = None
        self._stirred = False

    async def run(self) -> None:
        """Works until it is cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._follow(JOBSETS, self._known.see_jobsets))
            tasks.create_task(self._follow(JOBS, self._known.see_jobs))
            tasks.create_task(self._follow(WORKLOADS, self._known.see_workloads))
            tasks.create_task(self._write())
            tasks.create_task(self._teller.run())
            tasks.create_task(self._events.run())

    async def _follow(self, kind: Kind, see: Callable[[Change], set[str]]) -> None:
        def lost(why: str) -> None:
            self._witness.companion_lost(f"watch of {kind.plural}", why)

        pace = Pace()
        async for change in Changes(self._api, kind, lost).follow():
            try:
                seen = see(change)
            except Exception as error:  # noqa: BLE001 - one odd object must not cost all others
                lost(repr(error))
                continue
            for uid in seen:
                self._ask(uid)
                self._teller.tell(uid)
                await pace.step()

    def _ask(self, uid: str) -> None:
        if uid == self._at_work:
            self._stirred = True
        elif uid not in self._queued and due(self._known, uid):
            self._queued.add(uid)
            self._waiting.put_nowait(uid)

    async def _write(self) -> None:
        pace = Pace()
        while True:
            self._at_work, self._stirred = await self._waiting.get(), False
            uid = self._at_work
            self._queued.discard(uid)
            await self._settle(uid)
            self._at_work = None
            if self._stirred:
                self._ask(uid)
            await pace.step()

    async def _settle(self, uid: str) -> None:
        try:
            if switch := due(self._known, uid):
                await self._switch(*switch)
        except ApiException as error:
            # The object is gone, or changed meanwhile: its event asks again.
            if error.status not in {NOT_FOUND, CONFLICT}:
                self._try_later(uid, f"{error.status} {error.reason}")
        except (ClientError, OSError, TimeoutError) as error:
            self._try_later(uid, str(error))
        except Exception as error:  # noqa: BLE001 - one odd Workload must not cost all others
            self._witness.companion_lost(WRITE, f"{uid}: {error!r}")

    def _try_later(self, uid: str, why: str) -> None:
        """Queues the Job again after a while; until then its events don't."""
        self._witness.companion_lost(WRITE, why)
        self._queued.add(uid)
        asyncio.get_running_loop().call_later(RETRY_SECONDS, self._waiting.put_nowait, uid)

    async def _switch(self, action: Action, workload: Workload) -> None:
        stored = await self._get(workload)
        if not still_applies(action, stored):
            return
        await self._objects.patch_namespaced_custom_object(
            WORKLOADS.group,
            WORKLOADS.version,
            workload.namespace,
            WORKLOADS.plural,
            workload.name,
            _patch(action, stored["metadata"]["resourceVersion"]),
            _content_type="application/merge-patch+json",
        )
        self._witness.workload_switched(workload.namespace, workload.name, action.value)

    async def _get(self, workload: Workload) -> Any:
        return await self._objects.get_namespaced_custom_object(
            WORKLOADS.group,
            WORKLOADS.version,
            workload.namespace,
            WORKLOADS.plural,
            workload.name,
        )


async def accompany(api: client.ApiClient, witness: Witness, instance: str) -> None:
    """Runs a companion until cancelled, and a new one after a bug: reviews go on meanwhile.

    `instance` is the name of this replica in its Events.
    """
    while True:
        try:
            await Companion(api, witness, instance).run()
        except Exception as error:  # noqa: BLE001 - reviews must not end with the companion
            witness.companion_lost("companion", repr(error))
            await asyncio.sleep(RETRY_SECONDS)


def _patch(action: Action, version: str) -> dict[str, Any]:
    paused = action is Action.DEACTIVATE
    mark = {names.PAUSED: "true" if paused else None}
    return {
        "metadata": {"resourceVersion": version, "annotations": mark},
        "spec": {"active": not paused},
    }

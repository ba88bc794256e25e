"""Submit many TrainJobs, and wait until all are over."""

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import msgspec
import uvloop

from bench.connections import POST, session
from bench.errors import Unmeasured
from bench.growth.objects import Mode, trainjob
from localcluster.connection import arguments
from localcluster.demo.trace import KUEUE, TRAINER
from localcluster.manifests import Object

CLIENTS: Final = 20
LOOK_SECONDS: Final = 0.3
"""And longer with many TrainJobs, since the API server has to write down every one."""

SIZE_PER_LOOK_SECOND: Final = 500
PATIENCE_SECONDS: Final = 120.0
PATIENCE_PER_TRAINJOB: Final = 3.0


def submit(kubeconfig: Path, namespace: str, mode: Mode, size: int) -> float:
    """Create them all; the seconds that it took. Raises Unmeasured if one is refused."""
    begun = time.monotonic()
    uvloop.run(_submit(kubeconfig, namespace, [trainjob(namespace, mode, n) for n in range(size)]))
    return time.monotonic() - begun


@dataclass(frozen=True)
class Eye:
    """Looks at the objects of a namespace, as the API server's own cache has them."""

    kubeconfig: Path
    namespace: str

    def finished(self) -> int:
        """How many TrainJobs are complete. Raises Unmeasured if one failed."""
        states = [_true(item) for item in self._list(TRAINER, "trainjobs")]
        if any("Failed" in state for state in states):
            raise Unmeasured(f"a TrainJob in {self.namespace} failed: its pods should succeed")
        return sum("Complete" in state for state in states)

    def await_finished(self, size: int, say: Callable[[str], None]) -> int:
        """How many are complete, once all are, or once patience is at its end."""
        deadline = time.monotonic() + PATIENCE_SECONDS + PATIENCE_PER_TRAINJOB * size
        while (finished := self.finished()) < size and time.monotonic() < deadline:
            time.sleep(max(LOOK_SECONDS, size / SIZE_PER_LOOK_SECOND))
        if finished < size:
            say(f"{size - finished:,} of {size:,} are not finished: given up")
        return finished

    def workloads(self) -> list[Object]:
        """What Kueue admitted, or has yet to admit."""
        return self._list(KUEUE, "workloads")

    def _list(self, version: str, plural: str) -> list[Object]:
        path = f"/apis/{version}/namespaces/{self.namespace}/{plural}"
        said = arguments(self.kubeconfig) | {"timeout": 60.0}
        # resourceVersion=0 spares etcd.
        answer = httpx.get(
            said.pop("base_url") + path, params={"resourceVersion": "0"}, **said
        ).raise_for_status()
        items: list[Object] = msgspec.json.decode(answer.content)["items"]
        return items


async def _submit(kubeconfig: Path, namespace: str, items: Sequence[Object]) -> None:
    path = f"/apis/{TRAINER}/namespaces/{namespace}/trainjobs"
    slots = asyncio.Semaphore(CLIENTS)
    async with session(kubeconfig) as http, asyncio.TaskGroup() as group:
        for item in items:
            await slots.acquire()
            task = group.create_task(_create(http, path, item))
            task.add_done_callback(lambda _: slots.release())


async def _create(http: Any, path: str, item: Object) -> None:
    async with http.post(path, data=json.dumps(item).encode(), headers=POST) as answer:
        if not answer.ok:
            raise Unmeasured(f"a TrainJob is refused: {answer.status} {await answer.text()}")


def _true(item: Object) -> set[str]:
    conditions = item.get("status", {}).get("conditions") or []
    return {item["type"] for item in conditions if item["status"] == "True"}

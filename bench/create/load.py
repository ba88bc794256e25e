"""Clients that create and change objects, each as fast as it is answered, and delete none.

A client makes one request at a time over a connection of its own. Deleting is a request of its own,
once for all, when nothing is measured.
"""

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import count
from pathlib import Path
from typing import Any, Final

import aiohttp
import uvloop

from bench.connections import POST, session
from bench.create import objects
from bench.create.objects import RESOURCES, SAMPLE
from bench.create.plan import Arm, Cell, arm
from bench.errors import Unmeasured
from localcluster.manifests import Object

PATCH: Final = {"Content-Type": "application/merge-patch+json"}
GONE_WITHIN: Final = 60


class Operation(StrEnum):
    """What a request does, as admission calls it."""

    CREATE = "CREATE"
    UPDATE = "UPDATE"


@dataclass(frozen=True)
class Answer:
    """A request: begun when, in seconds since the load began; milliseconds; what went wrong."""

    operation: Operation
    arm: Arm
    begun: float
    milliseconds: float
    problem: str | None

    @property
    def ended(self) -> float:
        """When it was answered, in seconds since the load began."""
        return self.begun + self.milliseconds / 1000


@dataclass(frozen=True)
class Place:
    """A namespace, and the uid of the JobSet there that owns the Jobs of steps."""

    namespace: str
    parent: str


@dataclass(frozen=True)
class Clients:
    """Send as the user of a kubeconfig; one place for each arm."""

    kubeconfig: Path
    places: Mapping[Arm, Place]

    def send(self, cell: Cell, prefix: str) -> list[Answer]:
        """Every answer; names begin with the prefix. Raises Unmeasured where all failed."""
        answers: list[Answer] = uvloop.run(self._send(cell, prefix))
        problems = [answer.problem for answer in answers if answer.problem]
        if len(problems) == len(answers):
            raise Unmeasured(f"{cell.title}: every request failed, the first with {problems[:1]}")
        return answers

    def delete(self, cell: Cell) -> None:
        """Delete what was sent, in both places. Raises Unmeasured if something stays."""
        uvloop.run(self._delete(cell))

    async def _send(self, cell: Cell, prefix: str) -> list[Answer]:
        answers: list[Answer] = []
        async with session(self.kubeconfig) as http:
            # All at once, so that there is a connection for each before the load begins.
            await asyncio.gather(*(_problem(http.get("/version")) for _ in range(cell.clients)))
            start = time.monotonic()
            async with asyncio.TaskGroup() as group:
                for number in range(cell.clients):
                    client = _Client(http, cell, self.places, number, start, answers)
                    group.create_task(client.run(prefix))
        return answers

    async def _delete(self, cell: Cell) -> None:
        which = {"labelSelector": SAMPLE, "limit": "1"}
        gone = which | {"propagationPolicy": "Background", "gracePeriodSeconds": "0"}
        del gone["limit"]
        async with session(self.kubeconfig) as http:
            for place in self.places.values():
                path = RESOURCES[cell.kind].path(place.namespace)
                for _ in range(GONE_WITHIN):
                    async with http.delete(path, params=gone) as answer:
                        await answer.read()
                    async with http.get(path, params=which) as answer:
                        if not (await answer.json())["items"]:
                            break
                else:
                    raise Unmeasured(f"{path}: what was created for {cell.title} stays")


@dataclass(frozen=True)
class _Client:
    http: aiohttp.ClientSession
    cell: Cell
    places: Mapping[Arm, Place]
    number: int
    start: float
    answers: list[Answer]

    async def run(self, prefix: str) -> None:
        for turn in count():
            await self._wait_for(2 * turn)
            if turn and time.monotonic() > self.start + self.cell.seconds:
                return
            await self._turn(arm(self.number, turn), f"{prefix}-{self.number}-{turn}", turn)

    async def _wait_for(self, request: int) -> None:
        due = self.start + self.cell.due(self.number, request)
        await asyncio.sleep(max(0.0, due - time.monotonic()))

    async def _turn(self, side: Arm, name: str, turn: int) -> None:
        kind, place = self.cell.kind, self.places[side]
        path = RESOURCES[kind].path(place.namespace)
        made = objects.sample(kind, place.namespace, name, place.parent)
        problem = await self._ask(Operation.CREATE, side, "POST", path, POST, made)
        if not problem:
            await self._wait_for(2 * turn + 1)
            changed = objects.change(kind, turn)
            await self._ask(Operation.UPDATE, side, "PATCH", f"{path}/{name}", PATCH, changed)

    async def _ask(
        self,
        operation: Operation,
        side: Arm,
        method: str,
        path: str,
        headers: Mapping[str, str],
        content: Object,
    ) -> str | None:
        body = json.dumps(content).encode()
        begun = time.monotonic()
        problem = await _problem(self.http.request(method, path, data=body, headers=headers))
        taken = round((time.monotonic() - begun) * 1000, 3)
        self.answers.append(Answer(operation, side, begun - self.start, taken, problem))
        return problem


async def _problem(request: Any) -> str | None:
    try:
        async with request as answer:
            text = await answer.text()
            return None if answer.ok else f"{answer.status}: {text[:300]}"
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        return f"{type(error).__name__}: {error}"

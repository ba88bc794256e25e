"""Users that go on creating: many dry-run creates a second, each of which passes all admission.

Times of arrival are fixed, so that a server that is slow for a while is not asked less; at most
`CLIENTS` creates wait at a time, which bounds what the machine is asked to do.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import aiohttp

from localcluster.connection import arguments
from tests.stack.objects import Object

CLIENTS: Final = 50
RATE: Final = 200


@dataclass(frozen=True)
class Create:
    """When a create was begun, how long it took, and what was wrong with it, if anything."""

    begun: float
    seconds: float
    problem: str | None


@dataclass
class Traffic:
    """Creates one object again and again, as the user of a kubeconfig."""

    kubeconfig: Path
    path: str
    content: Object
    made: list[Create] = field(default_factory=list)

    async def run(self) -> None:
        """Goes on until it is cancelled; what is under way then is waited for."""
        async with self._session() as session, asyncio.TaskGroup() as creates:
            slots = asyncio.Semaphore(CLIENTS)
            due = time.monotonic()
            try:
                while True:
                    due = max(due + 1 / RATE, time.monotonic() - 1)
                    await asyncio.sleep(max(0.0, due - time.monotonic()))
                    await slots.acquire()
                    task = creates.create_task(self._create(session))
                    task.add_done_callback(lambda _: slots.release())
            except asyncio.CancelledError:
                return

    async def burst(self, size: int) -> None:
        """So many creates at once."""
        async with self._session() as session:
            await asyncio.gather(*(self._create(session) for _ in range(size)))

    @property
    def problems(self) -> list[str]:
        """What was wrong with those that failed."""
        return [create.problem for create in self.made if create.problem]

    def since(self, moment: float) -> list[Create]:
        """The creates that were begun after this moment."""
        return [create for create in self.made if create.begun >= moment]

    def __str__(self) -> str:
        """The rate that was reached, and the slowest create."""
        span = max(item.begun for item in self.made) - min(item.begun for item in self.made)
        slowest = max(item.seconds for item in self.made)
        return (
            f"{len(self.made)} creates, {len(self.made) / span:.0f}/s of {RATE}/s wanted, "
            f"the slowest took {slowest:.2f} s, {len(self.problems)} failed"
        )

    async def _create(self, session: aiohttp.ClientSession) -> None:
        begun = time.monotonic()
        problem = await self._problem(session)
        self.made.append(Create(begun, time.monotonic() - begun, problem))

    async def _problem(self, session: aiohttp.ClientSession) -> str | None:
        try:
            async with session.post(self.path, params={"dryRun": "All"}, json=self.content) as got:
                text = await got.text()
                return None if got.status == 201 else f"{got.status}: {_message(text)}"
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            return f"{type(error).__name__}: {error}"

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[aiohttp.ClientSession]:
        said: dict[str, Any] = arguments(self.kubeconfig)
        async with aiohttp.ClientSession(
            said["base_url"],
            headers=said["headers"],
            connector=aiohttp.TCPConnector(ssl=said["verify"], limit=0),
            timeout=aiohttp.ClientTimeout(total=30),
        ) as session:
            yield session


def _message(text: str) -> str:
    try:
        return str(json.loads(text)["message"])
    except (ValueError, KeyError):
        return text

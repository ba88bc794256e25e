"""Reads the objects that the rules ask for: bounded in time, most of them cached, never raising."""

import asyncio
from functools import partial
from time import monotonic
from typing import Final

import msgspec
from aiohttp import ClientError
from kubernetes.aio import client

from webhook.cluster.calls import JSON, METADATA, call
from webhook.cluster.owners import Owners
from webhook.rules.facts import Absent, Answer, Found, Key, Reader, Unreadable
from webhook.rules.labels import is_object_name

BY_UID: Final = frozenset({"trainjobs"})
"""Known by uid or read, never from the cache: a JobSet's owner is checked by it. Of one that is
read nothing but its metadata is asked for."""

OK: Final = 200
NOT_FOUND: Final = 404
CACHE_SIZE: Final = 1024
CACHE_BYTES: Final = 8 * 1024 * 1024
"""Of JSON as it came; decoded it is several times as much."""


_NOTHING: Final = (0.0, None, 0)
"""What is remembered: until when, the object, and the bytes that it came in."""


class ClusterReader(Reader):
    """A `rules.facts.Reader` on the API server.

    `timeout` and `time_to_live` are seconds. Only what was found is cached: a runtime that has just
    been made is seen at once, and a failure is not remembered. Owners that are known are not read.
    """

    def __init__(
        self,
        api: client.ApiClient,
        *,
        timeout: float,
        time_to_live: float,
        owners: Owners | None = None,
    ) -> None:
        self._api = api
        self._owners = owners or Owners()
        self._timeout = timeout
        self._time_to_live = time_to_live
        self._cache: dict[Key, tuple[float, Found | None, int]] = {}
        self._bytes = 0
        self._under_way: dict[Key, asyncio.Task[Answer]] = {}

    def at_hand(self, key: Key) -> Answer | None:
        """What was read a moment ago, or is known of an owner."""
        return self._owners.find(key) if key.plural in BY_UID else self._cached(key)

    async def read(self, key: Key) -> Answer:
        """The answer for one key, within the time-out."""
        if not (is_object_name(key.name) and (not key.namespace or is_object_name(key.namespace))):
            return Absent()  # Nor may it lead to another path.
        if (known := self.at_hand(key)) is not None:
            return known
        try:
            async with asyncio.timeout(self._timeout):
                if key.plural in BY_UID or not self._time_to_live:
                    return await self._fetch(key)
                return await self._shared(key)
        except TimeoutError:
            return Unreadable(f"the API server did not answer within {self._timeout:g} s")

    async def _shared(self, key: Key) -> Answer:
        """What one read finds for all reviews that ask meanwhile.

        What a read that began before the question did not find may be there since, so then the next
        one is asked.
        """
        if key in self._under_way:
            answer = await self._joined(key)
            if isinstance(answer, Found):
                return answer
        return await self._joined(key)

    async def _joined(self, key: Key) -> Answer:
        """The read that is under way, or a new one; it goes on, whoever is given up."""
        if (task := self._under_way.get(key)) is None:
            task = self._under_way[key] = asyncio.create_task(self._fetch(key))
            task.add_done_callback(partial(self._ended, key))
        return await asyncio.shield(task)

    def _ended(self, key: Key, task: asyncio.Task[Answer]) -> None:
        """Forgets it. At the end of the server nobody may be left whom an error would concern."""
        del self._under_way[key]
        if not task.cancelled():
            task.exception()

    async def _fetch(self, key: Key) -> Answer:
        try:
            async with asyncio.timeout(self._timeout):
                accept = METADATA if key.plural in BY_UID else JSON
                response = await call(self._api, "GET", _path(key), accept=accept)
                content = await response.read()
        except TimeoutError:
            return Unreadable(f"the API server did not answer within {self._timeout:g} s")
        except (ClientError, OSError) as error:
            return Unreadable(f"the API server could not be reached: {error}")
        if response.status == NOT_FOUND:
            return Absent()
        if response.status != OK:
            return Unreadable(f"the API server answered {response.status} {response.reason}")
        try:
            found = Found(msgspec.json.decode(content))
        except msgspec.DecodeError as error:
            return Unreadable(f"the API server's answer is no JSON: {error}")
        if key.plural not in BY_UID:
            self._remember(key, found, len(content))
        return found

    def _cached(self, key: Key) -> Found | None:
        expires, found, _ = self._cache.get(key, _NOTHING)
        return found if monotonic() < expires else None

    def _remember(self, key: Key, found: Found, size: int) -> None:
        self._bytes += size - self._cache.pop(key, _NOTHING)[2]
        if len(self._cache) >= CACHE_SIZE or self._bytes > CACHE_BYTES:
            self._cache.clear()
            self._bytes = size
        self._cache[key] = (monotonic() + self._time_to_live, found, size)


def _path(key: Key) -> str:
    root = f"/apis/{key.group}" if key.group else "/api"
    place = f"/namespaces/{key.namespace}" if key.namespace else ""
    return f"{root}/{key.version}{place}/{key.plural}/{key.name}"
